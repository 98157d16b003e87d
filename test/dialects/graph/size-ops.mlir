// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Sizes that data tell, and what counts.

// CHECK-LABEL: func.func @sizes
func.func @sizes(%n: tensor<i64>, %x: tensor<?x2xf32, #graph.dims<[N, 2]>>) {
  // CHECK-NEXT: graph.size "K" = %n at most [2 * N] : tensor<i64>
  %k = graph.size "K" = %n at most [2 * N] : tensor<i64>
  // CHECK-NEXT: graph.size "L" = %n {tilework.note = "kept"} : tensor<i64>
  %l = graph.size "L" = %n {tilework.note = "kept"} : tensor<i64>
  // CHECK-NEXT: graph.reshape %{{.*}} {shape = #graph.dims<[K, 1]>} : (tensor<?xi1, #graph.dims<[K]>>)
  %r = graph.reshape %k {shape = #graph.dims<[K, 1]>} : (tensor<?xi1, #graph.dims<[K]>>) -> tensor<?x1xi1, #graph.dims<[K, 1]>>
  func.return
}

// CHECK-LABEL: func.func @suppress
func.func @suppress(%boxes: tensor<1x?x4xf32, #graph.dims<[1, N, 4]>>, %scores: tensor<1x3x?xf32, #graph.dims<[1, 3, N]>>, %limit: tensor<f32>, %most: tensor<i64>) -> tensor<1x3xi64> {
  // CHECK-NEXT: graph.suppress %boxes, %scores, %limit, %limit, %most {centers = false, room = #graph.dims<[N]>}
  %kept, %counts = graph.suppress %boxes, %scores, %limit, %limit, %most {centers = false, room = #graph.dims<[N]>} : (tensor<1x?x4xf32, #graph.dims<[1, N, 4]>>, tensor<1x3x?xf32, #graph.dims<[1, 3, N]>>, tensor<f32>, tensor<f32>, tensor<i64>) -> (tensor<1x3x?xi64, #graph.dims<[1, 3, N]>>, tensor<1x3xi64>)
  func.return %counts : tensor<1x3xi64>
}
