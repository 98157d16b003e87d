// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Products of floats in numbers of bfloat16.

// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<2x13x40xf32>, %w: tensor<60x40xf32>) -> tensor<2x13x60xf32> {
  // CHECK: graph.bf16x_weight %w {numbers = 3 : i64, tile = array<i64: 16, 16, 2>} : (tensor<60x40xf32>) -> tensor<4x2x3x16x16x2xbf16>
  %u = graph.bf16x_weight %w {numbers = 3 : i64, tile = array<i64: 16, 16, 2>} : (tensor<60x40xf32>) -> tensor<4x2x3x16x16x2xbf16>
  // CHECK: graph.bf16x_dense %x, %u {outputs = 60 : i64, rows = 16 : i64} : (tensor<2x13x40xf32>, tensor<4x2x3x16x16x2xbf16>) -> tensor<2x13x60xf32>
  %y = graph.bf16x_dense %x, %u {outputs = 60 : i64, rows = 16 : i64} : (tensor<2x13x40xf32>, tensor<4x2x3x16x16x2xbf16>) -> tensor<2x13x60xf32>
  func.return %y : tensor<2x13x60xf32>
}

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x32x9x8xf32>, %w: tensor<64x32x3x1xf32>) -> tensor<1x64x5x8xf32> {
  // CHECK: graph.bf16x_weight %w {numbers = 2 : i64, tile = array<i64: 16, 16, 2>} : (tensor<64x32x3x1xf32>) -> tensor<4x1x3x1x2x16x16x2xbf16>
  %u = graph.bf16x_weight %w {numbers = 2 : i64, tile = array<i64: 16, 16, 2>} : (tensor<64x32x3x1xf32>) -> tensor<4x1x3x1x2x16x16x2xbf16>
  // CHECK: graph.bf16x_conv %x, %u {strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 0>, dilations = array<i64: 1, 1>, outputs = 64 : i64, rows = 16 : i64}
  %y = graph.bf16x_conv %x, %u {strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 0>, dilations = array<i64: 1, 1>, outputs = 64 : i64, rows = 16 : i64} : (tensor<1x32x9x8xf32>, tensor<4x1x3x1x2x16x16x2xbf16>) -> tensor<1x64x5x8xf32>
  func.return %y : tensor<1x64x5x8xf32>
}
