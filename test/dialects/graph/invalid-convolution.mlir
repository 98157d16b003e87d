// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What a convolution refuses.

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x4x7x7xf32>) {
  // expected-error@+1 {{the input has 3 channels; 1 group(s) of a weight for 4 channels need 4}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x4x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x1x7x7xf32>) {
  // expected-error@+1 {{64 filters do not divide into 3 groups}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 3 : i64} : (tensor<1x3x224x224xf32>, tensor<64x1x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7x7xf32>) {
  // expected-error@+1 {{the input has 3 channels; 0 group(s) of a weight for 3 channels need 0}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 0 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7xf32>) {
  // expected-error@+1 {{input and weight are of one rank, at least 2, not 4 and 3}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7x7xf32>) {
  // expected-error@+1 {{2 spatial axes need 2 strides, not 1}}
  %y = graph.conv %x, %w {strides = array<i64: 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7x7xf32>) {
  // expected-error@+1 {{2 spatial axes need 2 dilations, not 3}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7x7xf32>) {
  // expected-error@+1 {{2 spatial axes need 4 pads, not 2}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7x7xf32>) {
  // expected-error@+1 {{pads are not negative, -3 is}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, -3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7x7xf32>) {
  // expected-error@+1 {{window sizes, strides and dilations are positive}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 0>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x5x5xf32>, %w: tensor<64x3x7x7xf32>) {
  // expected-error@+1 {{a window of 7 does not fit into 5 with padding 0 and 0}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x5x5xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xi1>, %w: tensor<64x3x7x7xi1>) {
  // expected-error@+1 {{graph.conv computes on numbers, not on truth values, i1}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xi1>, tensor<64x3x7x7xi1>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7x7xf16>) {
  // expected-error@+1 {{graph.conv takes operands of one element type, not f32 and f16}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf16>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x?x7xf32, #graph.dims<[64, 3, R, 7]>>) {
  // expected-error@+1 {{the window of a convolution is of constant size}}
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x?x7xf32, #graph.dims<[64, 3, R, 7]>>) -> tensor<1x64x112x112xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x9xf32>, %w: tensor<8x4x3xf32>) {
  // expected-error@+1 {{words are i32, not f32 and f32}}
  %y = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 2>, dilations = array<i64: 1>, groups = 1 : i64, words} : (tensor<1x4x9xf32>, tensor<8x4x3xf32>) -> tensor<1x8x9xi32>
  func.return
}
