// RUN: opt-tool %s -p graph-transpose-weights | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-transpose-weights.transpose-weight | filecheck %s

// What depends on parameters alone has a transpose at compile time.
// CHECK-LABEL: func.func @layers
// CHECK:         %w = graph.parameter @w
// CHECK-NEXT:    [[V:%[a-z0-9_]+]] = graph.transpose %w {permutation = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<5x4xf32>
// CHECK-NEXT:    graph.dense %x, [[V]] : (tensor<2x3x4xf32>, tensor<5x4xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT:    [[N:%[a-z0-9_]+]] = graph.neg %w
// CHECK-NEXT:    [[T:%[a-z0-9_]+]] = graph.transpose [[N]]
// CHECK-NEXT:    graph.dense %x, [[T]]
func.func @layers(%x: tensor<2x3x4xf32>) -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
  %w = graph.parameter @w : tensor<4x5xf32>
  %0 = graph.matmul %x, %w : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %1 = graph.neg %w : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = graph.matmul %x, %1 : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  func.return %0, %2 : tensor<2x3x5xf32>, tensor<2x3x5xf32>
}

// A matrix that a caller passes would be transposed in every run; a batch of them is no layer; on the left is no weight;
// parameters alone are computed once anyway.
// CHECK-LABEL: func.func @products
// CHECK-COUNT-4: graph.matmul
func.func @products(%x: tensor<4x4xf32>, %b: tensor<3x4x4xf32>) -> (tensor<4x4xf32>, tensor<3x4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %w = graph.parameter @square : tensor<4x4xf32>
  %v = graph.parameter @batch : tensor<3x4x4xf32>
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %b, %v : (tensor<3x4x4xf32>, tensor<3x4x4xf32>) -> tensor<3x4x4xf32>
  %2 = graph.matmul %w, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.matmul %w, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<3x4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
