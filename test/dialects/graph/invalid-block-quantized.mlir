// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%q: tensor<8x32xi8>, %s: tensor<8x1xf32>) {
  // expected-error@+1 {{numbers have 2, 4 or 8 bits, and blocks have some, not 3 bits by 32}}
  %w = graph.dequantize %q, %s {bits = 3 : i64, block = 32 : i64} : (tensor<8x32xi8>, tensor<8x1xf32>) -> tensor<8x32xf32>
  func.return
}

// -----

func.func @f(%q: tensor<8x32xi8>, %s: tensor<8x1xf32>) {
  // expected-error@+1 {{numbers have 2, 4 or 8 bits, and blocks have some, not 4 bits by 0}}
  %w = graph.dequantize %q, %s {bits = 4 : i64, block = 0 : i64} : (tensor<8x32xi8>, tensor<8x1xf32>) -> tensor<8x32xf32>
  func.return
}

// -----

func.func @f(%q: tensor<8x32xf32>, %s: tensor<8x1xf32>) {
  // expected-error@+1 {{the numbers of a quantized weight are a matrix of i8, not tensor<8x32xf32>}}
  %w = graph.dequantize %q, %s {bits = 4 : i64, block = 32 : i64} : (tensor<8x32xf32>, tensor<8x1xf32>) -> tensor<8x32xf32>
  func.return
}

// -----

func.func @f(%q: tensor<8x33xi8>, %s: tensor<8x1xf32>) {
  // expected-error@+1 {{blocks of 32 have numbers of tensor<8x2xf32>, not of tensor<8x1xf32>}}
  %w = graph.dequantize %q, %s {bits = 4 : i64, block = 32 : i64} : (tensor<8x33xi8>, tensor<8x1xf32>) -> tensor<8x33xf32>
  func.return
}

// -----

func.func @f(%q: tensor<8x32xi8>, %s: tensor<8x1xf32>, %z: tensor<8x1xi8>) {
  // expected-error@+1 {{blocks of 32 have numbers of tensor<8x1xf32>, not of tensor<8x1xi8>}}
  %w = graph.dequantize %q, %s, %z {bits = 4 : i64, block = 32 : i64} : (tensor<8x32xi8>, tensor<8x1xf32>, tensor<8x1xi8>) -> tensor<8x32xf32>
  func.return
}

// -----

func.func @f(%q: tensor<8x32xi8>, %s: tensor<8x8xf32>) {
  // expected-error@+1 {{a block of 4 numbers of 4 bits fills no words}}
  %u = graph.block_quantized_weight %q, %s {bits = 4 : i64, block = 4 : i64} : (tensor<8x32xi8>, tensor<8x8xf32>) -> tensor<1x8x2x64xi32>
  func.return
}

// -----

func.func @f(%x: tensor<1x32xf32>, %u: tensor<1x1x5x64xf32>) {
  // expected-error@+1 {{graph.block_quantized_dense multiplies f32 by words of i32, not f32 by f32}}
  %y = graph.block_quantized_dense %x, %u {bits = 4 : i64, block = 32 : i64, outputs = 8 : i64} : (tensor<1x32xf32>, tensor<1x1x5x64xf32>) -> tensor<1x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x32xf32>, %u: tensor<1x1x5x64xi32>) {
  // expected-error@+1 {{rows and the panels of a weight for 65 outputs are needed, not tensor<1x32xf32> and tensor<1x1x5x64xi32>}}
  %y = graph.block_quantized_dense %x, %u {bits = 4 : i64, block = 32 : i64, outputs = 65 : i64} : (tensor<1x32xf32>, tensor<1x1x5x64xi32>) -> tensor<1x65xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x32xf32>, %u: tensor<1x1x5x64xi32>) {
  // expected-error@+1 {{rows and the panels of a weight for 8 outputs are needed, not tensor<1x32xf32> and tensor<1x1x5x64xi32>}}
  %y = graph.block_quantized_dense %x, %u {bits = 4 : i64, block = 32 : i64, outputs = 8 : i64, zeros} : (tensor<1x32xf32>, tensor<1x1x5x64xi32>) -> tensor<1x8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x32xf32>, %u: tensor<1x1x5x64xi32>) {
  // expected-error@+1 {{a block of 5 numbers of 4 bits fills no words}}
  %y = graph.block_quantized_dense %x, %u {bits = 4 : i64, block = 5 : i64, outputs = 8 : i64} : (tensor<1x32xf32>, tensor<1x1x5x64xi32>) -> tensor<1x8xf32>
  func.return
}
