// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%w: tensor<8x4xf16>) {
  // expected-error@+1 {{graph.strassen_weight computes on f32, not on f16}}
  %u = graph.strassen_weight %w {levels = 1 : i64} : (tensor<8x4xf16>) -> tensor<4x7x2xf16>
  func.return
}

// -----

func.func @f(%w: tensor<8x5xf32>) {
  // expected-error@+1 {{numbers of outputs and inputs that 2 divides are needed, not tensor<8x5xf32>}}
  %u = graph.strassen_weight %w {levels = 1 : i64} : (tensor<8x5xf32>) -> tensor<4x7x2xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8x6xf32>) {
  // expected-error@+1 {{numbers of outputs and inputs that 4 divides are needed, not tensor<8x6xf32>}}
  %u = graph.strassen_weight %w {levels = 2 : i64} : (tensor<8x6xf32>) -> tensor<2x7x7x1xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8x6xf32>) {
  // expected-error@+1 {{there are levels from 1 on, not 0}}
  %u = graph.strassen_weight %w {levels = 0 : i64} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8x4x3x3xf32>) {
  // expected-error@+1 {{the weight of a layer or of single elements is needed, not tensor<8x4x3x3xf32>}}
  %u = graph.strassen_weight %w {levels = 1 : i64} : (tensor<8x4x3x3xf32>) -> tensor<4x7x2xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8xf32>) {
  // expected-error@+1 {{the weight of a layer or of single elements is needed, not tensor<8xf32>}}
  %u = graph.strassen_weight %w {levels = 1 : i64} : (tensor<8xf32>) -> tensor<4x7x2xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %u: tensor<4x7x2xf32>) {
  // expected-error@+1 {{rows are multiplied, not a tensor of rank 1}}
  %y = graph.strassen_dense %x, %u : (tensor<4xf32>, tensor<4x7x2xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %u: tensor<4x8x2xf32>) {
  // expected-error@+1 {{a weight with 7 sums of quarters is needed, not tensor<4x8x2xf32>}}
  %y = graph.strassen_dense %x, %u : (tensor<3x4xf32>, tensor<4x8x2xf32>) -> tensor<3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %u: tensor<4x2xf32>) {
  // expected-error@+1 {{a weight with 7 sums of quarters is needed, not tensor<4x2xf32>}}
  %y = graph.strassen_dense %x, %u : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x8xf32>, %u: tensor<4x7x8x2xf32>) {
  // expected-error@+1 {{a weight with 7 sums of quarters is needed, not tensor<4x7x8x2xf32>}}
  %y = graph.strassen_dense %x, %u : (tensor<3x8xf32>, tensor<4x7x8x2xf32>) -> tensor<3x16xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x6xf32>, %u: tensor<4x7x2xf32>) {
  // expected-error@+1 {{the input has 6 channels, the weight is for 4}}
  %y = graph.strassen_dense %x, %u : (tensor<3x6xf32>, tensor<4x7x2xf32>) -> tensor<3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %u: tensor<4x7x2xf32>) {
  // expected-error@+1 {{graph.strassen_dense makes tensor<3x8xf32>, not tensor<3x4xf32>}}
  %y = graph.strassen_dense %x, %u : (tensor<3x4xf32>, tensor<4x7x2xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x9xf32>, %u: tensor<4x7x2xf32>) {
  // expected-error@+1 {{an image of two axes is needed, not tensor<1x4x9xf32>}}
  %y = graph.strassen_conv %x, %u {strides = array<i64: 1, 1>} : (tensor<1x4x9xf32>, tensor<4x7x2xf32>) -> tensor<1x8x9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x4x9x9xf32>, %u: tensor<4x7x2xf32>) {
  // expected-error@+1 {{two axes need 2 strides, from 1 on, not [0, 1]}}
  %y = graph.strassen_conv %x, %u {strides = array<i64: 0, 1>} : (tensor<1x4x9x9xf32>, tensor<4x7x2xf32>) -> tensor<1x8x9x9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x6x9x9xf32>, %u: tensor<4x7x2xf32>) {
  // expected-error@+1 {{the input has 6 channels, the weight is for 4}}
  %y = graph.strassen_conv %x, %u {strides = array<i64: 1, 1>} : (tensor<1x6x9x9xf32>, tensor<4x7x2xf32>) -> tensor<1x8x9x9xf32>
  func.return
}
