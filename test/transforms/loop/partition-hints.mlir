// RUN: opt-tool %s -p loop-partition | filecheck %s

// What a schedule asks of this pass.

// A loop that is to stay whole is not cut, not even for vectorized ones inside it, and gets no branch if it is parallel;
// loops inside it are cut.
// CHECK-LABEL: loop.kernel @whole
// CHECK:         loop.for %[[X:.*]] = 0 to 10 "x" attributes {loop.whole} {
// CHECK-NEXT:      loop.if [%[[X]] - 1 >= 0] -> f32 {
// CHECK:         loop.for %[[O:.*]] = 0 to 3 "o" attributes {loop.whole} {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to min(-4 * %[[O]] + 10, 4) "i" vectorized {
// CHECK:         loop.for %[[P:.*]] = 0 to 5 "p" parallel attributes {loop.whole} {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to max(-%[[P]] + 1, 0) "x" {
// CHECK-NOT:     loop.if
loop.kernel @whole ins(%x: memref<9xf32>) outs(%y: memref<10xf32>, %z: memref<10xf32>, %a: memref<5x10xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 10 "x" attributes {loop.whole} {
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %w = loop.load %x[%i - 1] : memref<9xf32>
      loop.yield %w : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %v, %y[%i] : memref<10xf32>
  }
  loop.for %o = 0 to 3 "o" attributes {loop.whole} {
    loop.for %i = 0 to min(4, 10 - 4 * %o) "i" vectorized {
      loop.store %zero, %z[4 * %o + %i] : memref<10xf32>
    }
  }
  loop.for %p = 0 to 5 "p" parallel attributes {loop.whole} {
    loop.for %i = 0 to 10 "x" {
      %v = loop.if [%i + %p - 1 >= 0, 9 - %i - %p >= 0] -> f32 {
        %w = loop.load %x[%i + %p - 1] : memref<9xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %a[%p, %i] : memref<5x10xf32>
    }
  }
}

// Points that are counted through, of an image of unknown width: no part of the loop is without those at a border. With
// the hint, the others take a body that asks nothing more; there is one such branch. Without it loops inside are cut.
// CHECK-LABEL: loop.kernel @counted
// CHECK:         loop.for %[[T:.*]] = 0 to %[[N:.*]] * %[[N]] "t" partition {
// CHECK-NEXT:      loop.if [%[[T]] floordiv %[[N]] - 1 >= 0, %[[N]] - %[[T]] floordiv %[[N]] - 2 >= 0] {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 3 "i" {
// CHECK-NEXT:          loop.load
// CHECK-NEXT:          loop.store
// CHECK:           } else {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to max(-(%[[T]] floordiv %[[N]]) + 1, 0) "i" {
// CHECK-NOT:     loop.if
// CHECK:         loop.for %[[U:.*]] = 0 to %[[N]] * %[[N]] "u" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to max(-(%[[U]] mod %[[N]]) + 1, 0) "i" {
// CHECK-NOT:     loop.if
loop.kernel @counted ins(%x: memref<?x?xf32> [N, N]) outs(%y: memref<?x3xf32> [N * N, 3], %z: memref<?x3xf32> [N * N, 3]) symbols(%N) {
  %zero = arith.constant 0.0 : f32
  loop.for %t = 0 to %N * %N "t" partition {
    loop.for %i = 0 to 3 "i" {
      %v = loop.if [%t floordiv %N + %i - 1 >= 0, %N - %t floordiv %N - %i >= 0] -> f32 {
        %w = loop.load %x[%t floordiv %N + %i - 1, %t mod %N] : memref<?x?xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %y[%t, %i] : memref<?x3xf32>
    }
  }
  loop.for %u = 0 to %N * %N "u" {
    loop.for %i = 0 to 3 "i" {
      %v = loop.if [%u mod %N + %i - 1 >= 0, %N - %u mod %N - %i >= 0] -> f32 {
        %w = loop.load %x[%u floordiv %N, %u mod %N + %i - 1] : memref<?x?xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %z[%u, %i] : memref<?x3xf32>
    }
  }
}

// Where there is something to cut, the hint cuts.
// CHECK-LABEL: loop.kernel @cut
// CHECK:         loop.store %{{.*}}, %{{.*}}[0] : memref<10xf32>
// CHECK-NEXT:    loop.for %{{.*}} = 1 to 10 "x" partition {
// CHECK-NEXT:      loop.load
// CHECK-NOT:     loop.if
loop.kernel @cut ins(%x: memref<9xf32>) outs(%y: memref<10xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 10 "x" partition {
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %w = loop.load %x[%i - 1] : memref<9xf32>
      loop.yield %w : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %v, %y[%i] : memref<10xf32>
  }
}
