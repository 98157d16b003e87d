// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Reductions.

// CHECK-LABEL: func.func @keep
func.func @keep(%x: tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) {
  // CHECK: graph.reduce_max %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  %0 = graph.reduce_max %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  // CHECK: graph.reduce_mean %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  %1 = graph.reduce_mean %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  // CHECK: graph.reduce_min %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  %2 = graph.reduce_min %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  // CHECK: graph.reduce_prod %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  %3 = graph.reduce_prod %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  // CHECK: graph.reduce_sum %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  %4 = graph.reduce_sum %x {axes = array<i64: 0, 2>, keep_dims = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<1x3x1xf32>
  func.return
}

// CHECK-LABEL: func.func @drop
func.func @drop(%x: tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) {
  // CHECK: graph.reduce_sum %x {axes = array<i64: 1>, keep_dims = false} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
  %0 = graph.reduce_sum %x {axes = array<i64: 1>, keep_dims = false} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
  // CHECK: graph.reduce_max %x {axes = array<i64: 0, 1, 2>, keep_dims = false} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<f32>
  %1 = graph.reduce_max %x {axes = array<i64: 0, 1, 2>, keep_dims = false} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<f32>
  func.return
}

// CHECK-LABEL: func.func @arguments
func.func @arguments(%x: tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) {
  // CHECK: graph.arg_max %x {axis = 1 : i64, keep_dims = true, last = false} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x1x4xi64, #graph.dims<[N, 1, 4]>>
  %0 = graph.arg_max %x {axis = 1 : i64, keep_dims = true, last = false} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x1x4xi64, #graph.dims<[N, 1, 4]>>
  // CHECK: graph.arg_min %x {axis = 0 : i64, keep_dims = false, last = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<3x4xi64>
  %1 = graph.arg_min %x {axis = 0 : i64, keep_dims = false, last = true} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<3x4xi64>
  func.return
}
