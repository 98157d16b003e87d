// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What normalizations refuse.

func.func @f(%x: tensor<1x8x4x4xf32>, %c: tensor<8xf32>, %d: tensor<7xf32>) {
  // expected-error@+1 {{the mean is a vector over the 8 channels, not tensor<7xf32>}}
  %y = graph.batch_norm %x, %c, %c, %d, %c {epsilon = 1.000000e-05 : f32} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<7xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  func.return
}

// -----

func.func @f(%c: tensor<8xf32>) {
  // expected-error@+1 {{the input has a batch and a channel axis, not rank 1}}
  %y = graph.batch_norm %c, %c, %c, %c, %c {epsilon = 1.000000e-05 : f32} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x4x4xf32>) {
  // expected-error@+1 {{the size is positive, it is not 0}}
  %y = graph.lrn %x {size = 0 : i64, alpha = 1.000000e-04 : f32, beta = 7.500000e-01 : f32, bias = 1.000000e+00 : f32} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{the input has a batch and a channel axis, not rank 1}}
  %y = graph.lrn %x {size = 5 : i64, alpha = 1.000000e-04 : f32, beta = 7.500000e-01 : f32, bias = 1.000000e+00 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x4x4xf32>) {
  // expected-error@+1 {{a tensor of rank 4 has no axis 4}}
  %y = graph.softmax %x {axis = 4 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x4x4xf32>) {
  // expected-error@+1 {{the axis is counted from the front, it is not -1}}
  %y = graph.log_softmax %x {axis = -1 : i64} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi8>) {
  // expected-error@+1 {{graph.softmax computes on floating-point numbers, not on i8}}
  %y = graph.softmax %x {axis = 0 : i64} : (tensor<8xi8>) -> tensor<8xi8>
  func.return
}
