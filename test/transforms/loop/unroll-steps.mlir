// RUN: opt-tool %s -p loop-unroll-steps | filecheck %s
// RUN: opt-tool %s -p 'loop-unroll-steps{factor=2 all-of=3}' | filecheck %s --check-prefix=SHORT

// Each step of a tile of 3 x 16 sums loads other elements than those before; few steps are one.

// CHECK-LABEL: loop.kernel @product
// CHECK:         loop.for %k = 0 to 64 "k" attributes {loop.unroll_factor = 4 : i64} {
// CHECK:         loop.for %l = 0 to 5 "l" attributes {loop.unroll_factor = 5 : i64} {
// CHECK:         loop.for %m = 0 to %N "m" attributes {loop.unroll_factor = 4 : i64} {
// SHORT-LABEL: loop.kernel @product
// SHORT:         loop.for %k = 0 to 64 "k" attributes {loop.unroll_factor = 2 : i64} {
// SHORT:         loop.for %l = 0 to 5 "l" attributes {loop.unroll_factor = 2 : i64} {
loop.kernel @product ins(%a: memref<300xf32>, %b: memref<4096xf32>) outs(%c: memref<48xf32>) symbols(%N) {
  %acc = memref.alloca() : memref<48xf32, "register">
  loop.for %k = 0 to 64 "k" {
    loop.for %i = 0 to 3 "i" unrolled {
      %x = loop.load %a[100 * %i + %k] : memref<300xf32>
      %xs = vector.broadcast %x : f32 to vector<16xf32>
      %y = loop.load %b[16 * %k] : memref<4096xf32>, vector<16xf32>
      %p = arith.mulf %xs, %y : vector<16xf32>
      loop.store %p, %acc[16 * %i] : memref<48xf32, "register">, vector<16xf32>
    }
  }
  loop.for %l = 0 to 5 "l" {
    loop.for %i = 0 to 3 "i" unrolled {
      %y = loop.load %b[16 * %l] : memref<4096xf32>, vector<16xf32>
      loop.store %y, %acc[16 * %i] : memref<48xf32, "register">, vector<16xf32>
    }
  }
  loop.for %m = 0 to %N "m" {
    %y = loop.load %b[16 * %m] : memref<4096xf32>, vector<16xf32>
    loop.store %y, %acc[0] : memref<48xf32, "register">, vector<16xf32>
  }
  %r = loop.load %acc[0] : memref<48xf32, "register">, vector<16xf32>
  loop.store %r, %c[0] : memref<48xf32>, vector<16xf32>
}

// Windows that move by two: the next tap but one of a place is the first of its neighbour. Of places further apart than
// three steps reach, none is.

// CHECK-LABEL: loop.kernel @windows
// CHECK:         loop.for %r = 0 to 7 "r" attributes {loop.unroll_factor = 1 : i64} {
// CHECK:         loop.for %s = 0 to 3 "s" attributes {loop.unroll_factor = 3 : i64} {
loop.kernel @windows ins(%a: memref<64xf32>) outs(%c: memref<4xf32>) {
  %acc = memref.alloca() : memref<4xf32, "register">
  loop.for %r = 0 to 7 "r" {
    loop.for %x = 0 to 4 "x" unrolled {
      %v = loop.load %a[2 * %x + %r] : memref<64xf32>
      loop.store %v, %acc[%x] : memref<4xf32, "register">
    }
  }
  loop.for %s = 0 to 3 "s" {
    loop.for %x = 0 to 4 "x" unrolled {
      %v = loop.load %a[3 * %x + %s] : memref<64xf32>
      loop.store %v, %acc[%x] : memref<4xf32, "register">
    }
  }
  %r = loop.load %acc[0] : memref<4xf32, "register">
  loop.store %r, %c[0] : memref<4xf32>
}

// Left alone: loops around others, what stores to memory, conditions, two steps at most that may be one, and loops from
// tile to tile.

// CHECK-LABEL: loop.kernel @others
// CHECK-NOT:     unroll_factor
loop.kernel @others ins(%a: memref<64xf32>) outs(%c: memref<64xf32>) symbols(%N) {
  %acc = memref.alloca() : memref<4xf32, "register">
  loop.for %i = 0 to 8 "i" {
    loop.for %k = 0 to 8 "k" {
      %v = loop.load %a[8 * %i + %k] : memref<64xf32>
      loop.store %v, %c[8 * %i + %k] : memref<64xf32>
    }
    loop.for %k = 0 to 8 "k" {
      loop.if [%k - %i >= 0] {
        %v = loop.load %a[%k] : memref<64xf32>
        loop.store %v, %acc[0] : memref<4xf32, "register">
      }
    }
    loop.for %k = 0 to min(-2 * %i + 15, 2) "k" {
      %v = loop.load %a[2 * %i + %k] : memref<64xf32>
      loop.store %v, %acc[0] : memref<4xf32, "register">
    }
    loop.for %k = 0 to 8 "k" {
      %tile = memref.alloca() : memref<1xf32, "register">
      %v = loop.load %a[%k] : memref<64xf32>
      loop.store %v, %tile[0] : memref<1xf32, "register">
      loop.store %v, %acc[0] : memref<4xf32, "register">
    }
    %r = loop.load %acc[0] : memref<4xf32, "register">
    loop.store %r, %c[%i] : memref<64xf32>
  }
}

// The pattern alone; a loop that allocates its registers is no step.
// RUN: opt-tool %s --apply-pattern loop-unroll-steps.repeat-step | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: loop.kernel @product
// ALONE:         loop.unroll_factor = 4 : i64
// ALONE-LABEL: loop.kernel @others
// ALONE-NOT:     loop.unroll_factor
