// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Weights of 4 bits, in blocks of 32 that have a scale each.

// CHECK-LABEL: func.func @scales
func.func @scales(%x: tensor<2x96xf32>, %q: tensor<100x96xi8>, %s: tensor<100x3xf32>) -> (tensor<100x96xf32>, tensor<2x100xf32>) {
  // CHECK: graph.dequantize %q, %s {bits = 4 : i64, block = 32 : i64} : (tensor<100x96xi8>, tensor<100x3xf32>) -> tensor<100x96xf32>
  %w = graph.dequantize %q, %s {bits = 4 : i64, block = 32 : i64} : (tensor<100x96xi8>, tensor<100x3xf32>) -> tensor<100x96xf32>
  // CHECK: graph.block_quantized_weight %q, %s {bits = 4 : i64, block = 32 : i64} : (tensor<100x96xi8>, tensor<100x3xf32>) -> tensor<2x3x5x64xi32>
  %u = graph.block_quantized_weight %q, %s {bits = 4 : i64, block = 32 : i64} : (tensor<100x96xi8>, tensor<100x3xf32>) -> tensor<2x3x5x64xi32>
  // CHECK: graph.block_quantized_dense %x, %u {bits = 4 : i64, block = 32 : i64, outputs = 100 : i64} : (tensor<2x96xf32>, tensor<2x3x5x64xi32>) -> tensor<2x100xf32>
  %y = graph.block_quantized_dense %x, %u {bits = 4 : i64, block = 32 : i64, outputs = 100 : i64} : (tensor<2x96xf32>, tensor<2x3x5x64xi32>) -> tensor<2x100xf32>
  func.return %w, %y : tensor<100x96xf32>, tensor<2x100xf32>
}

// Of 8 bits, with zero points; the last block is shorter than the others.
// CHECK-LABEL: func.func @zeros
func.func @zeros(%q: tensor<64x90xi8>, %s: tensor<64x6xf32>, %z: tensor<64x6xf32>) -> tensor<64x90xf32> {
  // CHECK: graph.dequantize %q, %s, %z {bits = 8 : i64, block = 16 : i64}
  %w = graph.dequantize %q, %s, %z {bits = 8 : i64, block = 16 : i64} : (tensor<64x90xi8>, tensor<64x6xf32>, tensor<64x6xf32>) -> tensor<64x90xf32>
  // CHECK: graph.block_quantized_weight %q, %s, %z {bits = 8 : i64, block = 16 : i64} : {{.*}} -> tensor<1x6x6x64xi32>
  %u = graph.block_quantized_weight %q, %s, %z {bits = 8 : i64, block = 16 : i64} : (tensor<64x90xi8>, tensor<64x6xf32>, tensor<64x6xf32>) -> tensor<1x6x6x64xi32>
  func.return %w : tensor<64x90xf32>
}
