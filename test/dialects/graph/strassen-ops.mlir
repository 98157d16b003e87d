// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Products of matrices by Strassen's algorithm.

// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<2x13x32xf32>, %w: tensor<64x32xf32>) -> tensor<2x13x64xf32> {
  // CHECK: graph.strassen_weight %w {levels = 1 : i64} : (tensor<64x32xf32>) -> tensor<32x7x16xf32>
  %u = graph.strassen_weight %w {levels = 1 : i64} : (tensor<64x32xf32>) -> tensor<32x7x16xf32>
  // CHECK: graph.strassen_dense %x, %u : (tensor<2x13x32xf32>, tensor<32x7x16xf32>) -> tensor<2x13x64xf32>
  %y = graph.strassen_dense %x, %u : (tensor<2x13x32xf32>, tensor<32x7x16xf32>) -> tensor<2x13x64xf32>
  func.return %y : tensor<2x13x64xf32>
}

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x32x9x8xf32>, %w: tensor<64x32x1x1xf32>) -> tensor<1x64x5x4xf32> {
  // CHECK: graph.strassen_weight %w {levels = 1 : i64} : (tensor<64x32x1x1xf32>) -> tensor<32x7x16xf32>
  %u = graph.strassen_weight %w {levels = 1 : i64} : (tensor<64x32x1x1xf32>) -> tensor<32x7x16xf32>
  // CHECK: graph.strassen_conv %x, %u {strides = array<i64: 2, 2>} : (tensor<1x32x9x8xf32>, tensor<32x7x16xf32>) -> tensor<1x64x5x4xf32>
  %y = graph.strassen_conv %x, %u {strides = array<i64: 2, 2>} : (tensor<1x32x9x8xf32>, tensor<32x7x16xf32>) -> tensor<1x64x5x4xf32>
  func.return %y : tensor<1x64x5x4xf32>
}

// On two levels.
// CHECK-LABEL: func.func @levels
func.func @levels(%x: tensor<13x32xf32>, %w: tensor<64x32xf32>) -> tensor<13x64xf32> {
  // CHECK: graph.strassen_weight %w {levels = 2 : i64} : (tensor<64x32xf32>) -> tensor<16x7x7x8xf32>
  %u = graph.strassen_weight %w {levels = 2 : i64} : (tensor<64x32xf32>) -> tensor<16x7x7x8xf32>
  // CHECK: graph.strassen_dense %x, %u : (tensor<13x32xf32>, tensor<16x7x7x8xf32>) -> tensor<13x64xf32>
  %y = graph.strassen_dense %x, %u : (tensor<13x32xf32>, tensor<16x7x7x8xf32>) -> tensor<13x64xf32>
  func.return %y : tensor<13x64xf32>
}
