// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What operators that move elements refuse.

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{cannot reshape [2, 3, 4] into [5, 5]: 24 elements are not 25}}
  %y = graph.reshape %x {shape = #graph.dims<[5, 5]>} : (tensor<2x3x4xf32>) -> tensor<5x5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) {
  // expected-error@+1 {{cannot reshape [N, 3, 4] into [N, 11]: 12 * N elements are not 11 * N}}
  %y = graph.reshape %x {shape = #graph.dims<[N, 11]>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x11xf32, #graph.dims<[N, 11]>>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{[0, 2, 2] does not permute the 3 axes}}
  %y = graph.transpose %x {permutation = array<i64: 0, 2, 2>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>, %a: tensor<2x3x5xf32>) {
  // expected-error@+1 {{operands differ along axis 1 only, not as tensor<2x3x4xf32> and tensor<2x3x5xf32>}}
  %y = graph.concat %x, %a {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x5xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{a tensor of rank 3 has no axis 3}}
  %y = graph.concat %x {axis = 3 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{there is nothing to concatenate}}
  %y = graph.concat {axis = 3 : i64} : () -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{elements 0 to 3 do not lie in axis 1 of size 3}}
  %y = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 0>, stops = array<i64: 4>, steps = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{a tensor of rank 3 has no axis 3}}
  %y = graph.slice %x {axes = array<i64: 3>, starts = array<i64: 0>, stops = array<i64: 4>, steps = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{a step is not 0}}
  %y = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 0>, stops = array<i64: 2>, steps = array<i64: 0>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axes differ; each has one start, one stop and one step}}
  %y = graph.slice %x {axes = array<i64: 1, 1>, starts = array<i64: 0, 0>, stops = array<i64: 2, 2>, steps = array<i64: 1, 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) {
  // expected-error@+1 {{only an axis of constant size is sliced; axis 0 has size N}}
  %y = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 0>, stops = array<i64: 1>, steps = array<i64: 1>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{3 axes need 6 pads, not 2}}
  %y = graph.pad %x {pads = array<i64: 1, 1>, value = 0.0 : f32} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{pads are not negative, -1 is; graph.slice removes elements}}
  %y = graph.pad %x {pads = array<i64: 0, 0, 0, 0, 0, -1>, value = 0.0 : f32} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{tensor<2x3x4xf32> does not broadcast to [2, 6, 4]}}
  %y = graph.broadcast %x {shape = #graph.dims<[2, 6, 4]>} : (tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{tensor<2x3x4xf32> does not broadcast to [3, 4]}}
  %y = graph.broadcast %x {shape = #graph.dims<[3, 4]>} : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{the input does not tell what N is}}
  %y = graph.broadcast %x {shape = #graph.dims<[N, 2, 3, 4]>} : (tensor<2x3x4xf32>) -> tensor<?x2x3x4xf32, #graph.dims<[N, 2, 3, 4]>>
  func.return
}

// -----

func.func @f(%x: tensor<4xf64>) {
  // expected-error@+1 {{the value is of the elements' type, f64, not f32}}
  %y = graph.pad %x {pads = array<i64: 1, 1>, value = 0.0 : f32} : (tensor<4xf64>) -> tensor<6xf64>
  func.return
}

// -----

func.func @f(%x: tensor<2x2xf32>) {
  // expected-error@+1 {{-1 is no size, in [-1, -4]}}
  %y = graph.reshape %x {shape = #graph.dims<[-1, -4]>} : (tensor<2x2xf32>) -> tensor<4xf32>
  func.return
}

// -----

// Numbers of elements that are equal for some sizes, which nothing requires.

func.func @f(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) {
  // expected-error@+1 {{cannot reshape [N, 4] into [N floordiv 2, 8]: 4 * N elements are not 8 * (N floordiv 2)}}
  %y = graph.reshape %x {shape = #graph.dims<[N floordiv 2, 8]>} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x8xf32, #graph.dims<[N floordiv 2, 8]>>
  func.return
}

// -----

// Numbers of elements that are equal for no size.

func.func @f(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) {
  // expected-error@+1 {{cannot reshape [N, 4] into [7]: 4 * N elements are not 7}}
  %y = graph.reshape %x {shape = #graph.dims<[7]>, checked} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<7xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) {
  // expected-error@+1 {{the input does not tell what M is}}
  %y = graph.reshape %x {shape = #graph.dims<[M, 2]>, checked} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x2xf32, #graph.dims<[M, 2]>>
  func.return
}

// -----

func.func @f(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) {
  // expected-error@+1 {{2 axes need 4 pads, not 2}}
  %y = graph.pad %x {pads = #graph.widths<[N, 0]>, value = 0.0 : f32} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[2 * N, 4]>>
  func.return
}
