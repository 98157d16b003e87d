// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p choose-algorithms | filecheck %s

// Nor is a window of two by two too small: a phase of a transposed convolution has one.
// CHECK-LABEL: func.func @two
// CHECK:         graph.winograd_conv %{{.*}} {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 0, 0>}
func.func @two(%x: tensor<1x512x8x8xf32>) -> tensor<1x256x8x8xf32> {
  %w = graph.parameter @two_w : tensor<256x512x2x2xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x512x8x8xf32>, tensor<256x512x2x2xf32>) -> (tensor<1x256x8x8xf32>) {
  ^bb0(%a: tensor<1x512x8x8xf32>, %b: tensor<256x512x2x2xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x512x8x8xf32>, tensor<256x512x2x2xf32>) -> tensor<1x256x8x8xf32>
    graph.yield %c : tensor<1x256x8x8xf32>
  }
  func.return %y : tensor<1x256x8x8xf32>
}

// Slices are images: what moves along the first of three axes may be dilated.
// CHECK-LABEL: func.func @slices
// CHECK:         graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64} : (tensor<64x32x3x3x3xf32>) -> tensor<64x6x6x96xf32>
// CHECK:           graph.winograd_conv %{{.*}} pads = array<i64: 1, 1, 1, 1>, slices = array<i64: 1, 2, 2, 2>}
func.func @slices(%x: tensor<1x32x8x56x56xf32>) -> tensor<1x64x8x56x56xf32> {
  %w = graph.parameter @slices_w : tensor<64x32x3x3x3xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x32x8x56x56xf32>, tensor<64x32x3x3x3xf32>) -> (tensor<1x64x8x56x56xf32>) {
  ^bb0(%a: tensor<1x32x8x56x56xf32>, %b: tensor<64x32x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1, 1>, pads = array<i64: 2, 1, 1, 2, 1, 1>, dilations = array<i64: 2, 1, 1>, groups = 1 : i64} : (tensor<1x32x8x56x56xf32>, tensor<64x32x3x3x3xf32>) -> tensor<1x64x8x56x56xf32>
    graph.yield %c : tensor<1x64x8x56x56xf32>
  }
  func.return %y : tensor<1x64x8x56x56xf32>
}

// Phases of an image are channels also where its slices are all kept.
// CHECK-LABEL: func.func @phases_of_slices
// CHECK:           graph.winograd_conv %{{.*}} phases_as_channels, pads = array<i64: 3, 3, 4, 4>, slices = array<i64: 1, 1, 1, 1>}
func.func @phases_of_slices(%x: tensor<1x3x8x112x112xf32>) -> tensor<1x64x8x56x56xf32> {
  %w = graph.parameter @phases_of_slices_w : tensor<64x3x3x7x7xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x3x8x112x112xf32>, tensor<64x3x3x7x7xf32>) -> (tensor<1x64x8x56x56xf32>) {
  ^bb0(%a: tensor<1x3x8x112x112xf32>, %b: tensor<64x3x3x7x7xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 2, 2>, pads = array<i64: 1, 3, 3, 1, 3, 3>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} : (tensor<1x3x8x112x112xf32>, tensor<64x3x3x7x7xf32>) -> tensor<1x64x8x56x56xf32>
    graph.yield %c : tensor<1x64x8x56x56xf32>
  }
  func.return %y : tensor<1x64x8x56x56xf32>
}

// Filters of zeros fill the last vector, and what they make is not stored.
// CHECK-LABEL: func.func @fill
// CHECK:         [[FILLED:%[a-z0-9_]+]] = graph.pad %w {pads = array<i64: 0, 0, 0, 0, 2, 0, 0, 0>
// CHECK-NEXT:    graph.winograd_weight [[FILLED]] {{.*}} -> tensor<128x6x6x64xf32>
// CHECK:           [[ALL:%[a-z0-9_]+]] = graph.winograd_conv
// CHECK-NEXT:      graph.slice [[ALL]] {axes = array<i64: 1>, starts = array<i64: 0>, stops = array<i64: 126>, steps = array<i64: 1>}
// CHECK-NEXT:      graph.relu
func.func @fill(%x: tensor<1x64x32x32xf32>) -> tensor<1x126x32x32xf32> {
  %w = graph.parameter @fill_w : tensor<126x64x3x3xf32>
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x64x32x32xf32>, tensor<126x64x3x3xf32>) -> (tensor<1x126x32x32xf32>) {
  ^bb0(%a: tensor<1x64x32x32xf32>, %b: tensor<126x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x32x32xf32>, tensor<126x64x3x3xf32>) -> tensor<1x126x32x32xf32>
    %r = graph.relu %c : (tensor<1x126x32x32xf32>) -> tensor<1x126x32x32xf32>
    graph.yield %r : tensor<1x126x32x32xf32>
  }
  func.return %y : tensor<1x126x32x32xf32>
}

// Few channels are not; weights that a caller passes would be transformed in every run.
// CHECK-LABEL: func.func @few
// CHECK-NOT:     winograd
func.func @few(%x: tensor<1x3x24x24xf32>) -> tensor<1x16x24x24xf32> {
  %w = graph.parameter @few_w : tensor<16x3x3x3xf32>
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x3x24x24xf32>, tensor<16x3x3x3xf32>) -> (tensor<1x16x24x24xf32>) {
  ^bb0(%a: tensor<1x3x24x24xf32>, %b: tensor<16x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x24x24xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x24x24xf32>
    %r = graph.relu %c : (tensor<1x16x24x24xf32>) -> tensor<1x16x24x24xf32>
    graph.yield %r : tensor<1x16x24x24xf32>
  }
  func.return %y : tensor<1x16x24x24xf32>
}

func.func @passed(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> (tensor<1x64x56x56xf32>) {
  ^bb0(%a: tensor<1x64x56x56xf32>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    %r = graph.relu %c : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
    graph.yield %r : tensor<1x64x56x56xf32>
  }
  func.return %y : tensor<1x64x56x56xf32>
}

// Windows that move by two are sums of two filters each way, of two taps and of one.
// CHECK-LABEL: func.func @stride
// CHECK:         graph.winograd_weight %w {tile = 2 : i64, stride = 2 : i64} : (tensor<256x128x3x3xf32>) -> tensor<256x5x5x128xf32>
// CHECK:           graph.winograd_conv %{{.*}} {tile = 2 : i64, stride = 2 : i64, pads = array<i64: 1, 1, 1, 1>}
func.func @stride(%x: tensor<1x128x28x28xf32>) -> tensor<1x256x14x14xf32> {
  %w = graph.parameter @stride_w : tensor<256x128x3x3xf32>
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x128x28x28xf32>, tensor<256x128x3x3xf32>) -> (tensor<1x256x14x14xf32>) {
  ^bb0(%a: tensor<1x128x28x28xf32>, %b: tensor<256x128x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x128x28x28xf32>, tensor<256x128x3x3xf32>) -> tensor<1x256x14x14xf32>
    %r = graph.relu %c : (tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32>
    graph.yield %r : tensor<1x256x14x14xf32>
  }
  func.return %y : tensor<1x256x14x14xf32>
}

// Of few channels, the phases of the image fill vectors. Windows of 8, since a missing tap is padded at the end.
// CHECK-LABEL: func.func @few_channels
// CHECK:         graph.winograd_weight %w {tile = 4 : i64, stride = 2 : i64, phases_as_channels} : (tensor<64x3x7x7xf32>) -> tensor<64x7x7x12xf32>
// CHECK:           graph.winograd_conv %{{.*}} {tile = 4 : i64, stride = 2 : i64, phases_as_channels, pads = array<i64: 3, 3, 4, 4>}
func.func @few_channels(%x: tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf32> {
  %w = graph.parameter @few_w : tensor<64x3x7x7xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> (tensor<1x64x112x112xf32>) {
  ^bb0(%a: tensor<1x3x224x224xf32>, %b: tensor<64x3x7x7xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
    graph.yield %c : tensor<1x64x112x112xf32>
  }
  func.return %y : tensor<1x64x112x112xf32>
}
