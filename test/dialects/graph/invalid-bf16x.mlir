// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%w: tensor<8x4xf16>) {
  // expected-error@+1 {{the weight of a product of f32 is needed, not tensor<8x4xf16>}}
  %u = graph.bf16x_weight %w {numbers = 2 : i64, tile = array<i64: 16, 16, 2>} : (tensor<8x4xf16>) -> tensor<1x1x2x16x16x2xbf16>
  func.return
}

// -----

func.func @f(%w: tensor<8xf32>) {
  // expected-error@+1 {{the weight of a product of f32 is needed, not tensor<8xf32>}}
  %u = graph.bf16x_weight %w {numbers = 2 : i64, tile = array<i64: 16, 16, 2>} : (tensor<8xf32>) -> tensor<1x2x16x16x2xbf16>
  func.return
}

// -----

func.func @f(%w: tensor<8x4xf32>) {
  // expected-error@+1 {{a float is the sum of 2 or 3 numbers, not of 4}}
  %u = graph.bf16x_weight %w {numbers = 4 : i64, tile = array<i64: 16, 16, 2>} : (tensor<8x4xf32>) -> tensor<1x1x4x16x16x2xbf16>
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %u: tensor<1x1x2x16x16x2xf32>) {
  // expected-error@+1 {{graph.bf16x_dense multiplies f32 by numbers of bf16, not f32 by f32}}
  %y = graph.bf16x_dense %x, %u {outputs = 8 : i64, rows = 16 : i64} : (tensor<3x4xf32>, tensor<1x1x2x16x16x2xf32>) -> tensor<3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %u: tensor<1x1x2x16x16x2xbf16>) {
  // expected-error@+1 {{rows are multiplied by a matrix, not ranks 1 and 2}}
  %y = graph.bf16x_dense %x, %u {outputs = 8 : i64, rows = 16 : i64} : (tensor<4xf32>, tensor<1x1x2x16x16x2xbf16>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %u: tensor<1x1x4x16x16x2xbf16>) {
  // expected-error@+1 {{a weight as graph.bf16x_weight makes it is needed, not tensor<1x1x4x16x16x2xbf16>}}
  %y = graph.bf16x_dense %x, %u {outputs = 8 : i64, rows = 16 : i64} : (tensor<3x4xf32>, tensor<1x1x4x16x16x2xbf16>) -> tensor<3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x40xf32>, %u: tensor<1x1x2x16x16x2xbf16>) {
  // expected-error@+1 {{the input has 40 channels, the weight is for 32}}
  %y = graph.bf16x_dense %x, %u {outputs = 8 : i64, rows = 16 : i64} : (tensor<3x40xf32>, tensor<1x1x2x16x16x2xbf16>) -> tensor<3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %u: tensor<1x1x2x16x16x2xbf16>) {
  // expected-error@+1 {{the weight has 16 outputs with those that fill tiles, not 17}}
  %y = graph.bf16x_dense %x, %u {outputs = 17 : i64, rows = 16 : i64} : (tensor<3x4xf32>, tensor<1x1x2x16x16x2xbf16>) -> tensor<3x17xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %u: tensor<1x1x2x16x16x2xbf16>) {
  // expected-error@+1 {{an image of 2 axes and windows of as many are needed, not of 0}}
  %y = graph.bf16x_conv %x, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, outputs = 8 : i64, rows = 16 : i64} : (tensor<1x4x8x8xf32>, tensor<1x1x2x16x16x2xbf16>) -> tensor<1x8x8x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x8x8xf32>, %u: tensor<1x1x3x3x2x16x16x2xbf16>) {
  // expected-error@+1 {{along an axis, windows move by more than one or their taps are apart, not both}}
  %y = graph.bf16x_conv %x, %u {strides = array<i64: 2, 1>, pads = array<i64: 2, 1, 2, 1>, dilations = array<i64: 2, 1>, outputs = 8 : i64, rows = 16 : i64} : (tensor<1x4x8x8xf32>, tensor<1x1x3x3x2x16x16x2xbf16>) -> tensor<1x8x4x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x?x8xf32, #graph.dims<[1, 4, H, 8]>>, %u: tensor<1x1x1x1x2x16x16x2xbf16>) {
  // expected-error@+1 {{graph.bf16x_conv is for channels and images of known size, not tensor<1x4x?x8xf32, #graph.dims<[1, 4, H, 8]>>}}
  %y = graph.bf16x_conv %x, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, outputs = 8 : i64, rows = 16 : i64} : (tensor<1x4x?x8xf32, #graph.dims<[1, 4, H, 8]>>, tensor<1x1x1x1x2x16x16x2xbf16>) -> tensor<1x8x?x8xf32, #graph.dims<[1, 8, H, 8]>>
  func.return
}
