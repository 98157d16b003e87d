// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What products refuse.

func.func @f(%x: tensor<1x64xf32>, %w: tensor<32x65xf32>) {
  // expected-error@+1 {{the input's rows have 64 elements, the weight's 65}}
  %y = graph.dense %x, %w : (tensor<1x64xf32>, tensor<32x65xf32>) -> tensor<1x32xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x64xf32>, %w: tensor<64xf32>) {
  // expected-error@+1 {{a row or more and a matrix are multiplied, not ranks 2 and 1}}
  %y = graph.dense %x, %w : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x32xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x64xf32>, %w: tensor<32x64xf64>) {
  // expected-error@+1 {{graph.dense takes operands of one element type, not f32 and f64}}
  %y = graph.dense %x, %w : (tensor<1x64xf32>, tensor<32x64xf64>) -> tensor<1x32xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x64xf16>, %w: tensor<32x64xf32>) {
  // expected-error@+1 {{graph.dense takes operands of one element type, not f16 and f32}}
  %y = graph.dense %x, %w : (tensor<1x64xf16>, tensor<32x64xf32>) -> tensor<1x32xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x64xf32>, %w: tensor<63x32xf32>) {
  // expected-error@+1 {{the left operand has 64 columns, the right one 63 rows}}
  %y = graph.matmul %x, %w : (tensor<1x64xf32>, tensor<63x32xf32>) -> tensor<1x32xf32>
  func.return
}

// -----

func.func @f(%x: tensor<64xf32>, %w: tensor<64x32xf32>) {
  // expected-error@+1 {{matrices are multiplied, not operands of rank 1 and 2}}
  %y = graph.matmul %x, %w : (tensor<64xf32>, tensor<64x32xf32>) -> tensor<32xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x1x64xf32>, %w: tensor<3x64x32xf32>) {
  // expected-error@+1 {{shapes [2] and [3] do not broadcast: 2 is not 3}}
  %y = graph.matmul %x, %w : (tensor<2x1x64xf32>, tensor<3x64x32xf32>) -> tensor<1x32xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x64xi8>, %w: tensor<32x64xui8>) {
  // expected-error@+1 {{graph.dense takes operands of one element type, not i8 and ui8}}
  %y = graph.dense %x, %w : (tensor<2x64xi8>, tensor<32x64xui8>) -> tensor<2x32xi32>
  func.return
}

// -----

func.func @f(%x: tensor<2x64xui8>, %w: tensor<32x64xi8>) {
  // expected-error@+1 {{words are i32, not ui8 and i8}}
  %y = graph.dense %x, %w {words} : (tensor<2x64xui8>, tensor<32x64xi8>) -> tensor<2x32xi32>
  func.return
}
