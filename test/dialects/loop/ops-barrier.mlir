// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: loop.kernel @waits
// CHECK:         loop.for %{{.*}} = 0 to 4 "t" threadIdx.x {
// CHECK-NEXT:      loop.barrier
// GENERIC:         "loop.barrier"() : () -> ()
loop.kernel @waits outs(%y: memref<4xf32>) {
  loop.for %t = 0 to 4 "t" threadIdx.x {
    loop.barrier
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %y[%t] : memref<4xf32>
  }
}
