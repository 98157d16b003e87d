// RUN: opt-tool %s -p 'loop-unswitch{max-growth=8}' --check-semantics | filecheck %s
// RUN: opt-tool %s -p 'loop-unswitch{max-growth=1}' | filecheck %s --check-prefix=SMALL

// A tile of three rows at the end of N of them: a loop for two of them and one for one. It is known that there is at least
// one, and that there are no three.

// CHECK-LABEL: loop.kernel @rest
// CHECK:         loop.if [%N - 3 * %o - 2 >= 0] {
// CHECK-NEXT:      loop.for %k = 0 to 8 "k" {
// CHECK-NEXT:        loop.for %i = 0 to 2 "i" unrolled {
// CHECK-NEXT:          loop.load %x
// CHECK:         } else {
// CHECK-NEXT:      loop.for %k_1 = 0 to 8 "k" {
// CHECK-NEXT:        loop.for %i_1 = 0 to 1 "i" unrolled {
// CHECK-NEXT:          loop.load %x
// CHECK-NOT:     loop.for %k_2
// SMALL-LABEL: loop.kernel @rest
// SMALL:         loop.for %k = 0 to 8 "k" {
// SMALL-NEXT:      loop.for %i = 0 to 3 "i" unrolled {
// SMALL-NEXT:        loop.if [%N - %i - 3 * %o - 1 >= 0] {
loop.kernel @rest ins(%x: memref<?x8xf32> [N, 8]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %o = %N floordiv 3 to (%N + 2) floordiv 3 "o" {
    %acc = memref.alloca() : memref<3xf32, "register">
    loop.for %j = 0 to 3 "j" unrolled {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[%j] : memref<3xf32, "register">
    }
    loop.for %k = 0 to 8 "k" {
      loop.for %i = 0 to 3 "i" unrolled {
        loop.if [%N - %i - 3 * %o - 1 >= 0] {
          %a = loop.load %x[3 * %o + %i, %k] : memref<?x8xf32>
          %s = loop.load %acc[%i] : memref<3xf32, "register">
          %t = arith.addf %s, %a : f32
          loop.store %t, %acc[%i] : memref<3xf32, "register">
        }
      }
    }
    loop.for %l = 0 to 3 "l" unrolled {
      loop.if [%N - %l - 3 * %o - 1 >= 0] {
        %t = loop.load %acc[%l] : memref<3xf32, "register">
        loop.store %t, %y[3 * %o + %l] : memref<?xf32>
      }
    }
  }
}

// Rows and columns: a branch for each number of both. Where neither is known there may be none at all.

// CHECK-LABEL: loop.kernel @both
// CHECK:         loop.if [%N - 2 >= 0] {
// CHECK-NEXT:      loop.if [%M - 2 >= 0] {
// CHECK-NEXT:        loop.for %k = 0 to 8 "k" {
// CHECK-NEXT:          loop.for %i = 0 to 2 "i" unrolled {
// CHECK-NEXT:            loop.for %j = 0 to 2 "j" unrolled {
// CHECK-NEXT:              loop.load
// CHECK:           } else {
// CHECK-NEXT:        loop.if [%M - 1 >= 0] {
// CHECK-NEXT:          loop.for
// CHECK-NEXT:            loop.for {{.*}} = 0 to 2 "i" unrolled {
// CHECK-NEXT:              loop.for {{.*}} = 0 to 1 "j" unrolled {
loop.kernel @both ins(%x: memref<8xf32>) outs(%y: memref<4xf32>, %n: memref<?xf32> [N], %m: memref<?xf32> [M]) symbols(%N, %M) {
  loop.for %k = 0 to 8 "k" {
    loop.for %i = 0 to 2 "i" unrolled {
      loop.if [%N - %i - 1 >= 0] {
        loop.for %j = 0 to 2 "j" unrolled {
          loop.if [%M - %j - 1 >= 0] {
            %a = loop.load %x[%k] : memref<8xf32>
            loop.store %a, %y[2 * %i + %j] : memref<4xf32>
          }
        }
      }
    }
  }
}

// What asks about the step itself, becomes true again, does more than ask, or allocates, stays as it is.

// CHECK-LABEL: loop.kernel @stays
// CHECK-NEXT:    loop.for %k = 0 to 8 "k" {
// CHECK-NEXT:      loop.for %i = 0 to 2 "i" unrolled {
// CHECK-NEXT:        loop.if [%N - %i - %k - 1 >= 0] {
// CHECK:           loop.for %j = 0 to 2 "j" unrolled {
// CHECK-NEXT:        loop.if [%N + %j - 1 >= 0] {
// CHECK:           loop.for %l = 0 to 2 "l" unrolled {
// CHECK-NEXT:        loop.load
// CHECK:         loop.for %m = 0 to 8 "m" {
// CHECK-NEXT:      memref.alloca
loop.kernel @stays ins(%x: memref<8xf32>) outs(%y: memref<2xf32>, %n: memref<?xf32> [N]) symbols(%N) {
  loop.for %k = 0 to 8 "k" {
    loop.for %i = 0 to 2 "i" unrolled {
      loop.if [%N - %i - %k - 1 >= 0] {
        %a = loop.load %x[%k] : memref<8xf32>
        loop.store %a, %y[%i] : memref<2xf32>
      }
    }
    loop.for %j = 0 to 2 "j" unrolled {
      loop.if [%N + %j - 1 >= 0] {
        %a = loop.load %x[%k] : memref<8xf32>
        loop.store %a, %y[%j] : memref<2xf32>
      }
    }
    loop.for %l = 0 to 2 "l" unrolled {
      %a = loop.load %x[%k] : memref<8xf32>
      loop.if [%N - %l - 1 >= 0] {
        loop.store %a, %y[%l] : memref<2xf32>
      }
    }
  }
  loop.for %m = 0 to 8 "m" {
    %b = memref.alloca() : memref<2xf32, "local">
    loop.for %p = 0 to 2 "p" unrolled {
      loop.if [%N - %p - 1 >= 0] {
        %a = loop.load %x[%m] : memref<8xf32>
        loop.store %a, %b[%p] : memref<2xf32, "local">
      }
    }
  }
}

// The pattern alone, in its default limits.
// RUN: opt-tool %s --apply-pattern loop-unswitch.branch-on-count | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: loop.kernel @rest
// ALONE:         loop.if [%N - 3 * %o - 2 >= 0] {
// ALONE-NEXT:      loop.for %k = 0 to 8 "k" {
// ALONE-NEXT:        loop.for %i = 0 to 2 "i" unrolled {
// ALONE-LABEL: loop.kernel @stays
// ALONE-NOT:     } else {
