// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// Two results of different ranks; the length is not known.
// CHECK-LABEL: te.kernel @sums
// CHECK:         %{{.*}}, %[[T:.*]] = te.extern "sums" ins(%a = %x : tensor<?xf32, #graph.dims<[N]>>) outs(%b : tensor<?xf32, #graph.dims<[N]>>, %c : tensor<f32>) symbols(%n = N) {
// CHECK:           loop.for %i = 0 to %n "i" {
// CHECK-NEXT:        loop.load %a[%i] : memref<?xf32>
// CHECK:             loop.store %{{.*}}, %c[] : memref<f32>
// CHECK:         te.return %[[T]]
// GENERIC:       "te.extern"(%x) <{stage = "sums", symbols = ["N"]}> ({
// GENERIC-NEXT:  ^bb0(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<f32>, %n: index):
te.kernel @sums(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<f32> {
  %s, %t = te.extern "sums" ins(%a = %x : tensor<?xf32, #graph.dims<[N]>>) outs(%b : tensor<?xf32, #graph.dims<[N]>>, %c : tensor<f32>) symbols(%n = N) {
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %c[] : memref<f32>
    loop.for %i = 0 to %n "i" {
      %v = loop.load %a[%i] : memref<?xf32>
      %w = loop.load %c[] : memref<f32>
      %u = arith.addf %v, %w : f32
      loop.store %u, %b[%i] : memref<?xf32>
      loop.store %u, %c[] : memref<f32>
    }
  }
  te.return %t : tensor<f32>
}

// One after another; the first has no input, the second memory of its own.
// CHECK-LABEL: te.kernel @chain
// CHECK:         %first = te.extern "first" outs(%{{.*}} : tensor<4xui8>) {
// CHECK:         te.extern "second" ins(%{{.*}} = %first : tensor<4xui8>, %{{.*}} = %first : tensor<4xui8>) outs(%{{.*}} : tensor<4xui8>) {
// CHECK:           memref.alloca() : memref<1xui8, "local">
te.kernel @chain() -> tensor<4xui8> {
  %first = te.extern "first" outs(%b : tensor<4xui8>) {
    loop.for %i = 0 to 4 "i" vectorized {
      %one = arith.constant 1 : i8
      loop.store %one, %b[%i] : memref<4xui8>
    }
  }
  %second = te.extern "second" ins(%p = %first : tensor<4xui8>, %q = %first : tensor<4xui8>) outs(%c : tensor<4xui8>) {
    %m = memref.alloca() : memref<1xui8, "local">
    loop.for %j = 0 to 4 "j" {
      %v = loop.load %p[%j] : memref<4xui8>
      %w = loop.load %q[3 - %j] : memref<4xui8>
      %s = arith.addi %v, %w : i8
      loop.store %s, %m[0] : memref<1xui8, "local">
      %t = loop.load %m[0] : memref<1xui8, "local">
      loop.store %t, %c[%j] : memref<4xui8>
    }
  }
  te.return %second : tensor<4xui8>
}
