// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Steps over sequences.

// A state, a sequence, and what is the same for all steps; `reverse` begins at the end.
// CHECK-LABEL: func.func @all
func.func @all(%h: tensor<2x8xf32>, %xs: tensor<35x2x8xf32>, %k: tensor<8xf32>) -> (tensor<2x8xf32>, tensor<35x2x8xf32>) {
  // CHECK:      %{{.*}}, %{{.*}} = graph.scan reverse from (%h) over (%xs) with (%k) : from (tensor<2x8xf32>) over (tensor<35x2x8xf32>) with (tensor<8xf32>) -> (tensor<2x8xf32>, tensor<35x2x8xf32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x8xf32>, %{{.*}}: tensor<2x8xf32>, %{{.*}}: tensor<8xf32>):
  %end, %ys = graph.scan reverse from (%h) over (%xs) with (%k) : from (tensor<2x8xf32>) over (tensor<35x2x8xf32>) with (tensor<8xf32>) -> (tensor<2x8xf32>, tensor<35x2x8xf32>) {
  ^bb0(%state: tensor<2x8xf32>, %x: tensor<2x8xf32>, %same: tensor<8xf32>):
    %sum = graph.add %state, %x : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %next = graph.mul %sum, %same : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    // CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<2x8xf32>, tensor<2x8xf32>
    graph.yield %next, %sum : tensor<2x8xf32>, tensor<2x8xf32>
  }
  func.return %end, %ys : tensor<2x8xf32>, tensor<35x2x8xf32>
}

// No states, two sequences of unknown length; attributes stand before the body.
// CHECK-LABEL: func.func @no_states
func.func @no_states(%xs: tensor<?x4xf32, #graph.dims<[T, 4]>>, %ts: tensor<?xi64, #graph.dims<[T]>>) -> tensor<?x4xf32, #graph.dims<[T, 4]>> {
  // CHECK:      graph.scan over (%xs, %ts) : over (tensor<?x4xf32, #graph.dims<[T, 4]>>, tensor<?xi64, #graph.dims<[T]>>) -> (tensor<?x4xf32, #graph.dims<[T, 4]>>) attributes {tilework.note = "kept"} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<i64>):
  %ys = graph.scan over (%xs, %ts) : over (tensor<?x4xf32, #graph.dims<[T, 4]>>, tensor<?xi64, #graph.dims<[T]>>) -> (tensor<?x4xf32, #graph.dims<[T, 4]>>) attributes {tilework.note = "kept"} {
  ^bb0(%x: tensor<4xf32>, %t: tensor<i64>):
    %y = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  func.return %ys : tensor<?x4xf32, #graph.dims<[T, 4]>>
}

// A scan in a scan; the inner one goes over the rows of the outer one's element, and makes no sequence.
// CHECK-LABEL: func.func @nested
func.func @nested(%h: tensor<4xf32>, %xs: tensor<5x3x4xf32>) -> tensor<4xf32> {
  // CHECK: graph.scan from (%h) over (%xs) : from (tensor<4xf32>) over (tensor<5x3x4xf32>) -> (tensor<4xf32>) {
  %end = graph.scan from (%h) over (%xs) : from (tensor<4xf32>) over (tensor<5x3x4xf32>) -> (tensor<4xf32>) {
  ^bb0(%s: tensor<4xf32>, %x: tensor<3x4xf32>):
    // CHECK: graph.scan from (%{{.*}}) over (%{{.*}}) : from (tensor<4xf32>) over (tensor<3x4xf32>) -> (tensor<4xf32>) {
    %inner = graph.scan from (%s) over (%x) : from (tensor<4xf32>) over (tensor<3x4xf32>) -> (tensor<4xf32>) {
    ^bb1(%t: tensor<4xf32>, %row: tensor<4xf32>):
      %sum = graph.add %t, %row : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %sum : tensor<4xf32>
    }
    graph.yield %inner : tensor<4xf32>
  }
  func.return %end : tensor<4xf32>
}
