// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What reductions refuse.

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axes ascend and lie in a tensor of rank 3, [2, 1] do not}}
  %y = graph.reduce_max %x {axes = array<i64: 2, 1>, keep_dims = true} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axes ascend and lie in a tensor of rank 3, [2, 1] do not}}
  %y = graph.reduce_mean %x {axes = array<i64: 2, 1>, keep_dims = true} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axes ascend and lie in a tensor of rank 3, [2, 1] do not}}
  %y = graph.reduce_min %x {axes = array<i64: 2, 1>, keep_dims = true} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axes ascend and lie in a tensor of rank 3, [2, 1] do not}}
  %y = graph.reduce_prod %x {axes = array<i64: 2, 1>, keep_dims = true} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axes ascend and lie in a tensor of rank 3, [2, 1] do not}}
  %y = graph.reduce_sum %x {axes = array<i64: 2, 1>, keep_dims = true} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axes ascend and lie in a tensor of rank 3, [3] do not}}
  %y = graph.reduce_sum %x {axes = array<i64: 3>, keep_dims = true} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi1>) {
  // expected-error@+1 {{graph.reduce_max computes on numbers, not on truth values, i1}}
  %y = graph.reduce_max %x {axes = array<i64: 0>, keep_dims = false} : (tensor<8xi1>) -> tensor<i1>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.reduce_mean computes on floating-point numbers, not on i32}}
  %y = graph.reduce_mean %x {axes = array<i64: 0>, keep_dims = false} : (tensor<8xi32>) -> tensor<i32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi1>) {
  // expected-error@+1 {{graph.reduce_min computes on numbers, not on truth values, i1}}
  %y = graph.reduce_min %x {axes = array<i64: 0>, keep_dims = false} : (tensor<8xi1>) -> tensor<i1>
  func.return
}

// -----

func.func @f(%x: tensor<8xi1>) {
  // expected-error@+1 {{graph.arg_max computes on numbers, not on truth values, i1}}
  %y = graph.arg_max %x {axis = 0 : i64, keep_dims = false, last = false} : (tensor<8xi1>) -> tensor<i64>
  func.return
}

// -----

func.func @f(%x: tensor<8xi1>) {
  // expected-error@+1 {{graph.arg_min computes on numbers, not on truth values, i1}}
  %y = graph.arg_min %x {axis = 0 : i64, keep_dims = false, last = false} : (tensor<8xi1>) -> tensor<i64>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{the axis is counted from the front, it is not -1}}
  %y = graph.arg_max %x {axis = -1 : i64, keep_dims = false, last = false} : (tensor<8xf32>) -> tensor<i64>
  func.return
}

// -----

func.func @f(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{axis 1 of tensor<2x0xf32> has no element to find}}
  %y = graph.arg_max %x {axis = 1 : i64, keep_dims = false, last = false} : (tensor<2x0xf32>) -> tensor<2xi64>
  func.return
}
