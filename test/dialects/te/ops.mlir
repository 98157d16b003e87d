// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// A reduction, and an element-wise compute that reads it, which says what part of an algorithm it is.
// CHECK-LABEL: te.kernel @dense_relu(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>, %w: tensor<32x64xf32>) -> tensor<?x32xf32, #graph.dims<[N, 32]>> {
// CHECK-NEXT:    %dense = te.compute "dense" [i: N, j: 32] reduce [k: 64] : tensor<?x32xf32, #graph.dims<[N, 32]>> {
// CHECK-NEXT:      %a = te.read %x[i, k] : tensor<?x64xf32, #graph.dims<[N, 64]>>
// CHECK-NEXT:      %b = te.read %w[j, k] : tensor<32x64xf32>
// CHECK-NEXT:      %p = arith.mulf %a, %b : f32
// CHECK-NEXT:      te.reduce add %p : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    %relu = te.compute "relu" role "example.activation" [i: N, j: 32] : tensor<?x32xf32, #graph.dims<[N, 32]>> {
// CHECK:           te.yield %{{.*}} : f32
// CHECK:         te.return %relu : tensor<?x32xf32, #graph.dims<[N, 32]>>
// GENERIC:       "te.kernel"() <{sym_name = "dense_relu"
// GENERIC:       "te.compute"() <{stage = "dense", axes = ["i", "j"], extents = #te.index<[N, 32]>, reduce_axes = ["k"], reduce_extents = #te.index<[64]>}>
// GENERIC:       "te.read"(%x) <{indices = #te.index<[i, k]>}>
// GENERIC:       "te.reduce"(%p) <{kind = "add"
// GENERIC:       "te.compute"() <{stage = "relu", role = "example.activation", axes
te.kernel @dense_relu(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>, %w: tensor<32x64xf32>) -> tensor<?x32xf32, #graph.dims<[N, 32]>> {
  %dense = te.compute "dense" [i: N, j: 32] reduce [k: 64] : tensor<?x32xf32, #graph.dims<[N, 32]>> {
    %a = te.read %x[i, k] : tensor<?x64xf32, #graph.dims<[N, 64]>>
    %b = te.read %w[j, k] : tensor<32x64xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  %relu = te.compute "relu" role "example.activation" [i: N, j: 32] : tensor<?x32xf32, #graph.dims<[N, 32]>> {
    %a = te.read %dense[i, j] : tensor<?x32xf32, #graph.dims<[N, 32]>>
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %z : f32
    te.yield %m : f32
  }
  te.return %relu : tensor<?x32xf32, #graph.dims<[N, 32]>>
}

// Padding as a lazy choice; other reducers; a scalar; several results; quotients, remainders and extrema in indices.
// CHECK-LABEL: te.kernel @others(
// CHECK-SAME:    -> (tensor<10xf32>, tensor<f32>) {
// CHECK-NEXT:    %[[PAD:.*]] = te.compute "pad.1" [i: 10] : tensor<10xf32> {
// CHECK-NEXT:      %v = te.if_then_else [i - 1 >= 0, -i + 8 >= 0] : f32 {
// CHECK-NEXT:        %e = te.read %x[i - 1] : tensor<8xf32>
// CHECK-NEXT:        te.yield %e : f32
// CHECK-NEXT:      } else {
// CHECK:           te.yield %v : f32
// CHECK:         te.compute "largest" [] reduce [r: 5, s: 2] : tensor<f32> {
// CHECK-NEXT:      %{{.*}} = te.read %[[PAD]]{{.2 \* r \+ s.}} : tensor<10xf32>
// CHECK-NEXT:      te.reduce max
// CHECK:         te.read %x[min(7, i floordiv 2 + i mod 3)] : tensor<8xf32>
// CHECK:         te.return %{{.*}}, %{{.*}} : tensor<10xf32>, tensor<f32>
// GENERIC:       "te.if_then_else"() <{when = #te.when<[i - 1 ge 0, -i + 8 ge 0]>}>
te.kernel @others(%x: tensor<8xf32>) -> (tensor<10xf32>, tensor<f32>) {
  %pad = te.compute "pad.1" [i: 10] : tensor<10xf32> {
    %v = te.if_then_else [i - 1 >= 0, 8 - i >= 0] : f32 {
      %e = te.read %x[i - 1] : tensor<8xf32>
      te.yield %e : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  %max = te.compute "largest" [] reduce [r: 5, s: 2] : tensor<f32> {
    %a = te.read %pad[2 * r + s] : tensor<10xf32>
    te.reduce max %a : f32
  }
  %gather = te.compute "spread" [i: 10] : tensor<10xf32> {
    %a = te.read %x[min(7, i floordiv 2 + i mod 3)] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %gather, %max : tensor<10xf32>, tensor<f32>
}
