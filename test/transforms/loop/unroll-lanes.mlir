// RUN: opt-tool %s -p loop-unroll-lanes | filecheck %s
// RUN: opt-tool %s -p loop-unroll-lanes --check-semantics -o /dev/null
// RUN: opt-tool %s --apply-pattern loop-unroll-lanes.lanes-one-by-one | filecheck %s

// The lanes of a thread are computed one after the other; other loops stay what they are.
// CHECK-LABEL: loop.kernel @lanes
// CHECK:         loop.for %{{.*}} = 0 to 8 "t" threadIdx.x {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "i" unrolled {
// CHECK:         loop.for %{{.*}} = 0 to 1 "one" unrolled {
// CHECK:         loop.for %{{.*}} = 0 to 4 "j" {
loop.kernel @lanes ins(%x: memref<32xf32>) outs(%y: memref<32xf32>, %z: memref<4xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    loop.for %t = 0 to 8 "t" threadIdx.x {
      loop.for %i = 0 to 4 "i" vectorized {
        %v = loop.load %x[4 * %t + %i] : memref<32xf32>
        loop.store %v, %y[4 * %t + %i] : memref<32xf32>
      }
    }
  }
  loop.for %c = 0 to 4 "c" blockIdx.x {
    loop.for %i = 0 to 1 "one" vectorized {
      loop.for %j = 0 to 4 "j" {
        %v = loop.load %x[%i + %j] : memref<32xf32>
        loop.store %v, %z[%c] : memref<4xf32>
      }
    }
  }
}
