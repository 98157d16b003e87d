// RUN: opt-tool %s -p graph-collapse-axes --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-collapse-axes.collapse-around-reductions | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-collapse-axes.collapse-around-convolution | filecheck %s --check-prefix=CONVOLUTION
// CONVOLUTION-NOT: graph.reshape
// RUN: opt-tool %s -p graph-collapse-axes,lower-to-te | filecheck %s --check-prefix=TE

// Images of unknown size that are reduced to points, and what goes over all their points besides. The mean divides by
// the number of points as a product of sizes.
// CHECK-LABEL: func.func @open_reductions
// CHECK:         [[X:%[a-z0-9_]+]] = graph.reshape %x {shape = #graph.dims<[N, 8, 1, H * W]>, graph.view}
// CHECK-NEXT:    [[Y:%[a-z0-9_]+]], [[Z:%[a-z0-9_]+]] = graph.fused "add_reduce_mean_sub" ([[X]], %b)
// CHECK:           graph.reduce_mean {{.*}} (tensor<?x8x1x?xf32, #graph.dims<[N, 8, 1, H * W]>>) -> tensor<?x8x1x1xf32
// CHECK:         [[W:%[a-z0-9_]+]] = graph.reshape [[Z]] {shape = #graph.dims<[N, 8, H, W]>, graph.view}
// CHECK:         func.return [[Y]], [[W]]
// TE-LABEL:   te.kernel @add_reduce_mean_sub
// TE:           te.compute "sum" {{.*}} reduce [r2: 1, r3: H * W]
// TE-NOT:       te.reduce add {{.*}} : i
// TE:           te.compute "reduce_mean"
// TE-NEXT:        te.index H * W
// TE-NEXT:        arith.index_cast
// TE-NEXT:        [[COUNT:%[a-z0-9_]+]] = arith.sitofp
// TE:             arith.divf %{{.*}}, [[COUNT]] : f32
func.func @open_reductions(%x: tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>, %b: tensor<8x1x1xf32>) -> (tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>, tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>) {
  %y:2 = graph.fused "add_reduce_mean_sub" (%x, %b) : (tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>, tensor<8x1x1xf32>) -> (tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>, tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>) {
  ^bb0(%a: tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>, %c: tensor<8x1x1xf32>):
    %0 = graph.add %a, %c : (tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>, tensor<8x1x1xf32>) -> tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>
    %1 = graph.reduce_mean %0 {axes = array<i64: 2, 3>, keep_dims = true} : (tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>) -> tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>
    %2 = graph.sub %0, %1 : (tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>, tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>) -> tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>
    graph.yield %1, %2 : tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>, tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>
  }
  func.return %y#0, %y#1 : tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>, tensor<?x8x?x?xf32, #graph.dims<[N, 8, H, W]>>
}

// Images of constant size keep both axes, and so where these vanish, or are not what a reduction is over.
// CHECK-LABEL: func.func @other_reductions
// CHECK-NOT:     graph.reshape
// CHECK:         func.return
func.func @other_reductions(%x: tensor<?x8x5x7xf32, #graph.dims<[N, 8, 5, 7]>>, %o: tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>) -> (tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>, tensor<4x8xf32>, tensor<4x8x?x1xf32, #graph.dims<[4, 8, H, 1]>>, tensor<4x1x1x1xf32>) {
  %k = graph.fused "constant" (%x) : (tensor<?x8x5x7xf32, #graph.dims<[N, 8, 5, 7]>>) -> (tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>) {
  ^bb0(%a: tensor<?x8x5x7xf32, #graph.dims<[N, 8, 5, 7]>>):
    %0 = graph.reduce_mean %a {axes = array<i64: 2, 3>, keep_dims = true} : (tensor<?x8x5x7xf32, #graph.dims<[N, 8, 5, 7]>>) -> tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>
    graph.yield %0 : tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>
  }
  %l = graph.fused "without_axes" (%o) : (tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>) -> (tensor<4x8xf32>) {
  ^bb0(%a: tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>):
    %0 = graph.reduce_sum %a {axes = array<i64: 2, 3>, keep_dims = false} : (tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>) -> tensor<4x8xf32>
    graph.yield %0 : tensor<4x8xf32>
  }
  %m = graph.fused "one_axis" (%o) : (tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>) -> (tensor<4x8x?x1xf32, #graph.dims<[4, 8, H, 1]>>) {
  ^bb0(%a: tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>):
    %0 = graph.reduce_max %a {axes = array<i64: 3>, keep_dims = true} : (tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>) -> tensor<4x8x?x1xf32, #graph.dims<[4, 8, H, 1]>>
    graph.yield %0 : tensor<4x8x?x1xf32, #graph.dims<[4, 8, H, 1]>>
  }
  %n = graph.fused "three_axes" (%o) : (tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>) -> (tensor<4x1x1x1xf32>) {
  ^bb0(%a: tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>):
    %0 = graph.reduce_max %a {axes = array<i64: 1, 2, 3>, keep_dims = true} : (tensor<4x8x?x?xf32, #graph.dims<[4, 8, H, W]>>) -> tensor<4x1x1x1xf32>
    graph.yield %0 : tensor<4x1x1x1xf32>
  }
  func.return %k, %l, %m, %n : tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>, tensor<4x8xf32>, tensor<4x8x?x1xf32, #graph.dims<[4, 8, H, 1]>>, tensor<4x1x1x1xf32>
}
