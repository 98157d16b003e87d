// RUN: opt-tool %s --verify-roundtrip | filecheck %s

// Comparisons, logic, and the choice between two tensors.

// CHECK-LABEL: func.func @logic
func.func @logic(%a: tensor<2x8xf32>, %b: tensor<8xf32>, %p: tensor<2x8xi1>, %q: tensor<i1>, %n: tensor<?x8xf32, #graph.dims<[N, 8]>>) {
  // CHECK: graph.equal %a, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xi1>
  %0 = graph.equal %a, %b : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xi1>
  // CHECK: graph.less %b, %a : (tensor<8xf32>, tensor<2x8xf32>) -> tensor<2x8xi1>
  %1 = graph.less %b, %a : (tensor<8xf32>, tensor<2x8xf32>) -> tensor<2x8xi1>
  // CHECK: graph.less_equal %n, %b : (tensor<?x8xf32, #graph.dims<[N, 8]>>, tensor<8xf32>) -> tensor<?x8xi1, #graph.dims<[N, 8]>>
  %2 = graph.less_equal %n, %b : (tensor<?x8xf32, #graph.dims<[N, 8]>>, tensor<8xf32>) -> tensor<?x8xi1, #graph.dims<[N, 8]>>
  // CHECK: graph.and %p, %q : (tensor<2x8xi1>, tensor<i1>) -> tensor<2x8xi1>
  %3 = graph.and %p, %q : (tensor<2x8xi1>, tensor<i1>) -> tensor<2x8xi1>
  // CHECK: graph.or %p, %q : (tensor<2x8xi1>, tensor<i1>) -> tensor<2x8xi1>
  %4 = graph.or %p, %q : (tensor<2x8xi1>, tensor<i1>) -> tensor<2x8xi1>
  // CHECK: graph.xor %p, %q : (tensor<2x8xi1>, tensor<i1>) -> tensor<2x8xi1>
  %5 = graph.xor %p, %q : (tensor<2x8xi1>, tensor<i1>) -> tensor<2x8xi1>
  // CHECK: graph.not %p : (tensor<2x8xi1>) -> tensor<2x8xi1>
  %6 = graph.not %p : (tensor<2x8xi1>) -> tensor<2x8xi1>
  // CHECK: graph.where %q, %a, %b : (tensor<i1>, tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %7 = graph.where %q, %a, %b : (tensor<i1>, tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  func.return
}

// CHECK-LABEL: func.func @bits
func.func @bits(%a: tensor<2x8xi32>, %b: tensor<8xi32>, %u: tensor<8xui8>) {
  // CHECK: graph.and %a, %b : (tensor<2x8xi32>, tensor<8xi32>) -> tensor<2x8xi32>
  %0 = graph.and %a, %b : (tensor<2x8xi32>, tensor<8xi32>) -> tensor<2x8xi32>
  // CHECK: graph.not %u : (tensor<8xui8>) -> tensor<8xui8>
  %1 = graph.not %u : (tensor<8xui8>) -> tensor<8xui8>
  // CHECK: graph.shift_left %a, %b : (tensor<2x8xi32>, tensor<8xi32>) -> tensor<2x8xi32>
  %2 = graph.shift_left %a, %b : (tensor<2x8xi32>, tensor<8xi32>) -> tensor<2x8xi32>
  // CHECK: graph.shift_right %u, %u : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  %3 = graph.shift_right %u, %u : (tensor<8xui8>, tensor<8xui8>) -> tensor<8xui8>
  func.return
}
