// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%w: tensor<8x4x3x3xf16>) {
  // expected-error@+1 {{graph.winograd_weight computes on f32, not on f16}}
  %u = graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64} : (tensor<8x4x3x3xf16>) -> tensor<8x6x6x4xf16>
  func.return
}

// -----

func.func @f(%w: tensor<8x4x3x5xf32>) {
  // expected-error@+1 {{a weight of windows that are square in an image is needed, not tensor<8x4x3x5xf32>}}
  %u = graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64} : (tensor<8x4x3x5xf32>) -> tensor<8x6x6x4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8x4x3x3xf32>) {
  // expected-error@+1 {{tiles of 1 with windows of 3: both are at least 2, and tiles and taps of a phase together at most 9}}
  %u = graph.winograd_weight %w {tile = 1 : i64, stride = 1 : i64} : (tensor<8x4x3x3xf32>) -> tensor<8x3x3x4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8x4x7x7xf32>) {
  // expected-error@+1 {{tiles of 4 with windows of 7: both are at least 2, and tiles and taps of a phase together at most 9}}
  %u = graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64} : (tensor<8x4x7x7xf32>) -> tensor<8x10x10x4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8x4x3x3xf32>) {
  // expected-error@+1 {{windows of 3 that move by 4: by at least 1, and by no more than they are}}
  %u = graph.winograd_weight %w {tile = 2 : i64, stride = 4 : i64} : (tensor<8x4x3x3xf32>) -> tensor<8x7x7x4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8x4x3x3xf32>) {
  // expected-error@+1 {{windows of 3 that move by 0: by at least 1, and by no more than they are}}
  %u = graph.winograd_weight %w {tile = 2 : i64, stride = 0 : i64} : (tensor<8x4x3x3xf32>) -> tensor<8x4x4x4xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8x4x3x3xf32>) {
  // expected-error@+1 {{tiles of 8 with windows of 3 that move by 2: both are at least 2, and tiles and taps of a phase together at most 9}}
  %u = graph.winograd_weight %w {tile = 8 : i64, stride = 2 : i64} : (tensor<8x4x3x3xf32>) -> tensor<8x17x17x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x9x9xf32>, %u: tensor<8x6x6x4xf32>) {
  // expected-error@+1 {{an image and a transformed weight are needed, not tensor<4x9x9xf32> and tensor<8x6x6x4xf32>}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<4x9x9xf32>, tensor<8x6x6x4xf32>) -> tensor<8x7x7xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x9x9xf32>, %u: tensor<8x6x6x4xf32>) {
  // expected-error@+1 {{the input has 3 channels, the weight is for 4}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x3x9x9xf32>, tensor<8x6x6x4xf32>) -> tensor<1x8x7x7xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x9x9xf32>, %u: tensor<8x6x6x3xf32>) {
  // expected-error@+1 {{the input has 3 channels of 4 phases, the weight is for 3}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 2 : i64, pads = array<i64: 0, 0, 0, 0>, phases_as_channels} : (tensor<1x3x9x9xf32>, tensor<8x6x6x3xf32>) -> tensor<1x8x2x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %u: tensor<8x6x6x4xf32>) {
  // expected-error@+1 {{two axes need 4 pads, from 0 on, not [1, 1]}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1>} : (tensor<1x4x9x9xf32>, tensor<8x6x6x4xf32>) -> tensor<1x8x9x9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x9x2xf32>, %u: tensor<8x6x6x4xf32>) {
  // expected-error@+1 {{a window of 3 does not fit into 9 x 2 with its padding}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x9x2xf32>, tensor<8x6x6x4xf32>) -> tensor<1x8x7x0xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %u: tensor<8x6x6x4xf32>) {
  // expected-error@+1 {{graph.winograd_conv makes tensor<1x8x7x7xf32>, not tensor<1x8x9x9xf32>}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x9x9xf32>, tensor<8x6x6x4xf32>) -> tensor<1x8x9x9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x5x9x9xf32>, %u: tensor<8x6x6x12xf32>) {
  // expected-error@+1 {{slices have a stride, a dilation and 2 pads, not [1, 1, 1]}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>, slices = array<i64: 1, 1, 1>} : (tensor<1x4x5x9x9xf32>, tensor<8x6x6x12xf32>) -> tensor<1x8x5x9x9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x5x9x9xf32>, %u: tensor<8x6x6x14xf32>) {
  // expected-error@+1 {{the input has 4 channels in each slice, the weight is for 14}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>, slices = array<i64: 1, 1, 1, 1>} : (tensor<1x4x5x9x9xf32>, tensor<8x6x6x14xf32>) -> tensor<1x8x5x9x9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x2x9x9xf32>, %u: tensor<8x6x6x12xf32>) {
  // expected-error@+1 {{a window of 5 does not fit into 2 with padding 1 and 1}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>, slices = array<i64: 1, 2, 1, 1>} : (tensor<1x4x2x9x9xf32>, tensor<8x6x6x12xf32>) -> tensor<1x8x5x9x9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %u: tensor<8x6x6x12xf32>) {
  // expected-error@+1 {{an image and a transformed weight are needed, not tensor<1x4x9x9xf32> and tensor<8x6x6x12xf32>}}
  %y = graph.winograd_conv %x, %u {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>, slices = array<i64: 1, 1, 1, 1>} : (tensor<1x4x9x9xf32>, tensor<8x6x6x12xf32>) -> tensor<1x8x9x9xf32>
  func.return
}
