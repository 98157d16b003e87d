// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Products of matrices.

// CHECK-LABEL: func.func @products
func.func @products(%x: tensor<1x64xf32>, %w: tensor<32x64xf32>, %a: tensor<8x1x4x64xf32>, %b: tensor<5x64x3xf32>) {
  // CHECK: graph.dense %x, %w : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32>
  %0 = graph.dense %x, %w : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32>
  // CHECK: graph.dense %a, %w : (tensor<8x1x4x64xf32>, tensor<32x64xf32>) -> tensor<8x1x4x32xf32>
  %1 = graph.dense %a, %w : (tensor<8x1x4x64xf32>, tensor<32x64xf32>) -> tensor<8x1x4x32xf32>
  // CHECK: graph.matmul %a, %b : (tensor<8x1x4x64xf32>, tensor<5x64x3xf32>) -> tensor<8x5x4x3xf32>
  %2 = graph.matmul %a, %b : (tensor<8x1x4x64xf32>, tensor<5x64x3xf32>) -> tensor<8x5x4x3xf32>
  func.return
}

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>, %w: tensor<32x64xf32>) {
  // CHECK: graph.dense %x, %w : (tensor<?x64xf32, #graph.dims<[N, 64]>>, tensor<32x64xf32>) -> tensor<?x32xf32, #graph.dims<[N, 32]>>
  %0 = graph.dense %x, %w : (tensor<?x64xf32, #graph.dims<[N, 64]>>, tensor<32x64xf32>) -> tensor<?x32xf32, #graph.dims<[N, 32]>>
  func.return
}

// A weight of 16 bits for rows of f32.
// CHECK-LABEL: func.func @narrow_weights
func.func @narrow_weights(%x: tensor<1x64xf32>, %w: tensor<32x64xf16>, %b: tensor<64x3xbf16>) {
  // CHECK: graph.dense %x, %w : (tensor<1x64xf32>, tensor<32x64xf16>) -> tensor<1x32xf32>
  %0 = graph.dense %x, %w : (tensor<1x64xf32>, tensor<32x64xf16>) -> tensor<1x32xf32>
  // CHECK: graph.matmul %x, %b : (tensor<1x64xf32>, tensor<64x3xbf16>) -> tensor<1x3xf32>
  %1 = graph.matmul %x, %b : (tensor<1x64xf32>, tensor<64x3xbf16>) -> tensor<1x3xf32>
  func.return
}

// Bytes, and words of four bytes.
// CHECK-LABEL: func.func @bytes
func.func @bytes(%x: tensor<2x64xui8>, %w: tensor<32x64xi8>, %xs: tensor<2x16xi32>, %ws: tensor<32x16xi32>) {
  // CHECK: graph.dense %x, %w : (tensor<2x64xui8>, tensor<32x64xi8>) -> tensor<2x32xi32>
  %0 = graph.dense %x, %w : (tensor<2x64xui8>, tensor<32x64xi8>) -> tensor<2x32xi32>
  // CHECK: graph.dense %xs, %ws {words} : (tensor<2x16xi32>, tensor<32x16xi32>) -> tensor<2x32xi32>
  %1 = graph.dense %xs, %ws {words} : (tensor<2x16xi32>, tensor<32x16xi32>) -> tensor<2x32xi32>
  func.return
}
