// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%w: tensor<8x4xf16>) {
  // expected-error@+1 {{the weight of a layer of f32 is needed, not tensor<8x4xf16>}}
  %u = graph.packed_float_weight %w {bits = 24 : i64} : (tensor<8x4xf16>) -> tensor<1x5x3x16xi32>
  func.return
}

// -----

func.func @f(%w: tensor<8x4x3xf32>) {
  // expected-error@+1 {{the weight of a layer of f32 is needed, not tensor<8x4x3xf32>}}
  %u = graph.packed_float_weight %w {bits = 24 : i64} : (tensor<8x4x3xf32>) -> tensor<1x5x3x16xi32>
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %u: tensor<1x5x3x16xf32>) {
  // expected-error@+1 {{graph.packed_float_dense multiplies f32 by words of i32, not f32 by f32}}
  %y = graph.packed_float_dense %x, %u {outputs = 8 : i64} : (tensor<3x4xf32>, tensor<1x5x3x16xf32>) -> tensor<3x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>, %u: tensor<1x5x3x16xi32>) {
  // expected-error@+1 {{rows and the words of a weight for 8 outputs are needed, not tensor<4xf32> and tensor<1x5x3x16xi32>}}
  %y = graph.packed_float_dense %x, %u {outputs = 8 : i64} : (tensor<4xf32>, tensor<1x5x3x16xi32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %u: tensor<1x5x3x16xi32>) {
  // expected-error@+1 {{rows and the words of a weight for 65 outputs are needed, not tensor<3x4xf32> and tensor<1x5x3x16xi32>}}
  %y = graph.packed_float_dense %x, %u {outputs = 65 : i64} : (tensor<3x4xf32>, tensor<1x5x3x16xi32>) -> tensor<3x65xf32>
  func.return
}

// -----

func.func @f(%w: tensor<8x4xf32>) {
  // expected-error@+1 {{weights have 24 or 28 bits, not 26}}
  %u = graph.packed_float_weight %w {bits = 26 : i64} : (tensor<8x4xf32>) -> tensor<1x5x5x16xi32>
  func.return
}

// -----

func.func @f(%x: tensor<3x4xf32>, %u: tensor<1x5x5x16xi32>) {
  // expected-error@+1 {{rows and the words of a weight for 8 outputs are needed, not tensor<3x4xf32> and tensor<1x5x5x16xi32>}}
  %y = graph.packed_float_dense %x, %u {outputs = 8 : i64} : (tensor<3x4xf32>, tensor<1x5x5x16xi32>) -> tensor<3x8xf32>
  func.return
}
