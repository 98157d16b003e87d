// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<9x4xf32>, %i: tensor<5xi64>) {
  // expected-error@+1 {{a tensor of rank 2 has no axis 2}}
  %y = graph.gather %x, %i {axis = 2 : i64} : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>, %i: tensor<5xi64>) {
  // expected-error@+1 {{the axis is counted from the front, it is not -1}}
  %y = graph.gather %x, %i {axis = -1 : i64} : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<9x5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>, %i: tensor<5xf32>) {
  // expected-error@+1 {{indices are of type i32 or i64, not f32}}
  %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<9x4xf32>, tensor<5xf32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<0x4xf32>, %i: tensor<5xi64>) {
  // expected-error@+1 {{axis 0 of tensor<0x4xf32> has no element to take}}
  %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<0x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  func.return
}
