// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{each of the 2 axes has a size, a step, an offset and a divisor}}
  %y = graph.resize %x {shape = #graph.dims<[4, 5]>, steps = array<i64: 1>, offsets = array<i64: 0, 0>, divisors = array<i64: 1, 1>, mode = "nearest"} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{divisors are positive, and steps are not negative}}
  %y = graph.resize %x {shape = #graph.dims<[4]>, steps = array<i64: 1>, offsets = array<i64: 0>, divisors = array<i64: 0>, mode = "nearest"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{divisors are positive, and steps are not negative}}
  %y = graph.resize %x {shape = #graph.dims<[4]>, steps = array<i64: -1>, offsets = array<i64: 3>, divisors = array<i64: 1>, mode = "nearest"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{the input does not tell what N is}}
  %y = graph.resize %x {shape = #graph.dims<[N]>, steps = array<i64: 1>, offsets = array<i64: 0>, divisors = array<i64: 2>, mode = "nearest"} : (tensor<4xf32>) -> tensor<?xf32, #graph.dims<[N]>>
  func.return
}

// -----

func.func @f(%x: tensor<0xf32>) {
  // expected-error@+1 {{axis 0 of tensor<0xf32> has no elements to read}}
  %y = graph.resize %x {shape = #graph.dims<[4]>, steps = array<i64: 1>, offsets = array<i64: 0>, divisors = array<i64: 2>, mode = "nearest"} : (tensor<0xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{graph.resize computes on floating-point numbers, not on i32}}
  %y = graph.resize %x {shape = #graph.dims<[8]>, steps = array<i64: 1>, offsets = array<i64: 0>, divisors = array<i64: 2>, mode = "linear"} : (tensor<4xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{the mode is nearest, linear or cubic, it is not area}}
  %y = graph.resize %x {shape = #graph.dims<[8]>, steps = array<i64: 1>, offsets = array<i64: 0>, divisors = array<i64: 2>, mode = "area"} : (tensor<4xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{a cubic has a coefficient, and others have none}}
  %y = graph.resize %x {shape = #graph.dims<[8]>, steps = array<i64: 1>, offsets = array<i64: 0>, divisors = array<i64: 2>, mode = "cubic"} : (tensor<4xf32>) -> tensor<8xf32>
  func.return
}
