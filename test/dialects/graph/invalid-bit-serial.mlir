// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What operators on planes of bits refuse.

func.func @f(%x: tensor<4x64xui8>) {
  // expected-error@+1 {{a tensor of rank 2 has axes 0 to 1, not 2}}
  %y = graph.bits %x {axis = 2 : i64, planes = 2 : i64} : (tensor<4x64xui8>) -> tensor<2x4x64xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4x64xf32>) {
  // expected-error@+1 {{bits are those of integers, not of f32}}
  %y = graph.bits %x {axis = 1 : i64, planes = 2 : i64} : (tensor<4x64xf32>) -> tensor<2x4x2xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4x64xi1>) {
  // expected-error@+1 {{bits are those of integers, not of i1}}
  %y = graph.bits %x {axis = 1 : i64, planes = 1 : i64} : (tensor<4x64xi1>) -> tensor<1x4x2xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4x64xi32>) {
  // expected-error@+1 {{there are 1 to 8 planes, not 9}}
  %y = graph.bits %x {axis = 1 : i64, planes = 9 : i64} : (tensor<4x64xi32>) -> tensor<9x4x2xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4x64xui8>) {
  // expected-error@+1 {{there are 1 to 8 planes, not 0}}
  %y = graph.bits %x {axis = 1 : i64, planes = 0 : i64} : (tensor<4x64xui8>) -> tensor<0x4x2xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4x2xui8>, %w: tensor<1x8x2xi32>) {
  // expected-error@+1 {{words of bits are i32, not ui8: make them of the input by graph.bits}}
  %y = graph.bit_serial_dense %x, %w : (tensor<2x4x2xui8>, tensor<1x8x2xi32>) -> tensor<4x8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4x2xi32>, %w: tensor<1x8x2xi8>) {
  // expected-error@+1 {{words of bits are i32, not i8: make them of the weight by graph.bits}}
  %y = graph.bit_serial_dense %x, %w : (tensor<2x4x2xi32>, tensor<1x8x2xi8>) -> tensor<4x8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4x2xi32>, %w: tensor<1x8x2xi32>) {
  // expected-error@+1 {{the input has 1 to 8 planes along its first axis: tensor<9x4x2xi32>}}
  %y = graph.bit_serial_dense %x, %w : (tensor<9x4x2xi32>, tensor<1x8x2xi32>) -> tensor<4x8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4x2xi32>, %w: tensor<?x8x2xi32, #graph.dims<[N, 8, 2]>>) {
  // expected-error@+1 {{the weight has 1 to 8 planes along its first axis}}
  %y = graph.bit_serial_dense %x, %w : (tensor<2x4x2xi32>, tensor<?x8x2xi32, #graph.dims<[N, 8, 2]>>) -> tensor<4x8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4x2xi32>, %w: tensor<1x8xi32>) {
  // expected-error@+1 {{planes of rows and of a matrix are multiplied, not ranks 3 and 2}}
  %y = graph.bit_serial_dense %x, %w : (tensor<2x4x2xi32>, tensor<1x8xi32>) -> tensor<4x8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x4x2xi32>, %w: tensor<1x8x3xi32>) {
  // expected-error@+1 {{the input's rows have 2 words, the weight's 3}}
  %y = graph.bit_serial_dense %x, %w : (tensor<2x4x2xi32>, tensor<1x8x3xi32>) -> tensor<4x8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x1x2x7xi32>, %w: tensor<1x5x2x3x3xi32>) {
  // expected-error@+1 {{input and weight are of one rank, at least 3, not 4 and 5}}
  %y = graph.bit_serial_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x1x2x7xi32>, tensor<1x5x2x3x3xi32>) -> tensor<1x5x5x5xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x1x2x7x7xi32>, %w: tensor<1x5x3x3x3xi32>) {
  // expected-error@+1 {{the input has 2 words of channels, the weight 3}}
  %y = graph.bit_serial_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x1x2x7x7xi32>, tensor<1x5x3x3x3xi32>) -> tensor<1x5x5x5xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x1x2x7x7xi32>, %w: tensor<1x5x2x?x3xi32, #graph.dims<[1, 5, 2, K, 3]>>) {
  // expected-error@+1 {{the window of a convolution is of constant size}}
  %y = graph.bit_serial_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x1x2x7x7xi32>, tensor<1x5x2x?x3xi32, #graph.dims<[1, 5, 2, K, 3]>>) -> tensor<1x5x5x5xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x1x2x2x2xi32>, %w: tensor<1x5x2x3x3xi32>) {
  // expected-error@+1 {{a window of 3 does not fit into 2 with padding 0 and 0}}
  %y = graph.bit_serial_conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x1x2x2x2xi32>, tensor<1x5x2x3x3xi32>) -> tensor<1x5x0x0xi32>
  func.return
}
