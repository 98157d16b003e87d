// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Convolution by Winograd's minimal filtering.

// CHECK-LABEL: func.func @winograd
func.func @winograd(%x: tensor<1x32x55x56xf32>, %w: tensor<64x32x3x3xf32>) -> tensor<1x64x55x56xf32> {
  // CHECK: graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64} : (tensor<64x32x3x3xf32>) -> tensor<64x6x6x32xf32>
  %u = graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64} : (tensor<64x32x3x3xf32>) -> tensor<64x6x6x32xf32>
  // CHECK: graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x55x56xf32>, tensor<64x6x6x32xf32>) -> tensor<1x64x55x56xf32>
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x55x56xf32>, tensor<64x6x6x32xf32>) -> tensor<1x64x55x56xf32>
  func.return %y : tensor<1x64x55x56xf32>
}

// Windows that move by two: (4 - 1) * 2 + 3 products along each axis.
// CHECK-LABEL: func.func @strided
func.func @strided(%x: tensor<1x32x55x56xf32>, %w: tensor<64x32x3x3xf32>) -> tensor<1x64x28x28xf32> {
  // CHECK: tensor<64x9x9x32xf32>
  %u = graph.winograd_weight %w {tile = 4 : i64, stride = 2 : i64} : (tensor<64x32x3x3xf32>) -> tensor<64x9x9x32xf32>
  // CHECK: graph.winograd_conv %x, %u {tile = 4 : i64, stride = 2 : i64, pads = array<i64: 1, 1, 1, 1>}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x55x56xf32>, tensor<64x9x9x32xf32>) -> tensor<1x64x28x28xf32>
  func.return %y : tensor<1x64x28x28xf32>
}

// Phases as channels: windows of two, 4 + 2 - 1 products, 12 channels.
// CHECK-LABEL: func.func @phases
func.func @phases(%x: tensor<1x3x56x56xf32>, %w: tensor<64x3x3x3xf32>) -> tensor<1x64x28x28xf32> {
  // CHECK: graph.winograd_weight %w {tile = 4 : i64, stride = 2 : i64, phases_as_channels} : (tensor<64x3x3x3xf32>) -> tensor<64x5x5x12xf32>
  %u = graph.winograd_weight %w {tile = 4 : i64, stride = 2 : i64, phases_as_channels} : (tensor<64x3x3x3xf32>) -> tensor<64x5x5x12xf32>
  // CHECK: graph.winograd_conv %x, %u {tile = 4 : i64, stride = 2 : i64, pads = array<i64: 1, 1, 1, 1>, phases_as_channels}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 2 : i64, pads = array<i64: 1, 1, 1, 1>, phases_as_channels} : (tensor<1x3x56x56xf32>, tensor<64x5x5x12xf32>) -> tensor<1x64x28x28xf32>
  func.return %y : tensor<1x64x28x28xf32>
}

// Of three axes, the taps along the first are channels: 3 of 32. Along it, windows move by two, and see a slice of zeros
// in front and none behind.
// CHECK-LABEL: func.func @slices
func.func @slices(%x: tensor<1x32x8x14x14xf32>, %w: tensor<64x32x3x3x3xf32>) -> tensor<1x64x4x14x14xf32> {
  // CHECK: graph.winograd_weight %w {tile = 2 : i64, stride = 1 : i64} : (tensor<64x32x3x3x3xf32>) -> tensor<64x4x4x96xf32>
  %u = graph.winograd_weight %w {tile = 2 : i64, stride = 1 : i64} : (tensor<64x32x3x3x3xf32>) -> tensor<64x4x4x96xf32>
  // CHECK: graph.winograd_conv %x, %u {{.*}} slices = array<i64: 2, 1, 1, 0>}
  %y = graph.winograd_conv %x, %u {tile = 2 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>, slices = array<i64: 2, 1, 1, 0>} : (tensor<1x32x8x14x14xf32>, tensor<64x4x4x96xf32>) -> tensor<1x64x4x14x14xf32>
  func.return %y : tensor<1x64x4x14x14xf32>
}

// Tiles of an image of unknown size, counted through.
// CHECK-LABEL: func.func @counted
func.func @counted(%x: tensor<1x2x?x?xf32, #graph.dims<[1, 2, H, W]>>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x?x?xf32, #graph.dims<[1, 3, H, W]>> {
  %u = graph.winograd_weight %w {tile = 2 : i64, stride = 1 : i64} : (tensor<3x2x3x3xf32>) -> tensor<3x4x4x2xf32>
  // CHECK: graph.winograd_conv %x, %u {{.*}} pads = array<i64: 1, 1, 1, 1>, counted}
  %y = graph.winograd_conv %x, %u {tile = 2 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>, counted} : (tensor<1x2x?x?xf32, #graph.dims<[1, 2, H, W]>>, tensor<3x4x4x2xf32>) -> tensor<1x3x?x?xf32, #graph.dims<[1, 3, H, W]>>
  func.return %y : tensor<1x3x?x?xf32, #graph.dims<[1, 3, H, W]>>
}
