// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Element-wise operators of two operands.

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%a: tensor<2x8x4xf32>, %b: tensor<8x1xf32>) {
  // CHECK: graph.add %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %0 = graph.add %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.div %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %1 = graph.div %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.max %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %2 = graph.max %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.min %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %3 = graph.min %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.mul %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %4 = graph.mul %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.pow %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %5 = graph.pow %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.prelu %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %7 = graph.prelu %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.sub %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %6 = graph.sub %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.fmod %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %8 = graph.fmod %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  // CHECK: graph.mod %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  %9 = graph.mod %a, %b : (tensor<2x8x4xf32>, tensor<8x1xf32>) -> tensor<2x8x4xf32>
  func.return
}

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%a: tensor<?x1x4xf32, #graph.dims<[N, 1, 4]>>, %b: tensor<?x1xf32, #graph.dims<[M, 1]>>) {
  // CHECK: graph.add %a, %b : (tensor<?x1x4xf32, #graph.dims<[N, 1, 4]>>, tensor<?x1xf32, #graph.dims<[M, 1]>>) -> tensor<?x?x4xf32, #graph.dims<[N, M, 4]>>
  %0 = graph.add %a, %b : (tensor<?x1x4xf32, #graph.dims<[N, 1, 4]>>, tensor<?x1xf32, #graph.dims<[M, 1]>>) -> tensor<?x?x4xf32, #graph.dims<[N, M, 4]>>
  func.return
}

// CHECK-LABEL: func.func @integers
func.func @integers(%a: tensor<8xi32>, %b: tensor<1xui8>) {
  // CHECK: graph.add %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %0 = graph.add %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK: graph.max %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %1 = graph.max %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK: graph.min %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %2 = graph.min %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK: graph.mul %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %3 = graph.mul %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK: graph.sub %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %4 = graph.sub %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK: graph.div %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %5 = graph.div %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK: graph.integer_pow %a, %b : (tensor<8xi32>, tensor<1xui8>) -> tensor<8xi32>
  %6 = graph.integer_pow %a, %b : (tensor<8xi32>, tensor<1xui8>) -> tensor<8xi32>
  func.return
}

// Two symbols along one axis are equal or one of them is 1; what is joined already takes part as any size does.

// CHECK-LABEL: func.func @joined
func.func @joined(%a: tensor<?x4xf32, #graph.dims<[N, 4]>>, %b: tensor<?x4xf32, #graph.dims<[M, 4]>>, %c: tensor<?x4xf32, #graph.dims<[P, 4]>>) {
  // CHECK: graph.add %a, %b : ({{.*}}) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
  %0 = graph.add %a, %b : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?x4xf32, #graph.dims<[M, 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(N, M), 4]>>
  // CHECK: graph.mul %0, %a : ({{.*}}) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
  %1 = graph.mul %0, %a : (tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>, tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
  // CHECK: graph.max %c, %1 : ({{.*}}) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N, P), 4]>>
  %2 = graph.max %c, %1 : (tensor<?x4xf32, #graph.dims<[P, 4]>>, tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N, P), 4]>>
  func.return
}
