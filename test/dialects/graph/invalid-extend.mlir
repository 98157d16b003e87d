// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{the mode is edge or reflect, it is not wrap}}
  %y = graph.extend %x {pads = array<i64: 1, 1>, mode = "wrap"} : (tensor<4xf32>) -> tensor<6xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{2 axes need 4 pads, not 2}}
  %y = graph.extend %x {pads = array<i64: 1, 1>, mode = "edge"} : (tensor<4x5xf32>) -> tensor<6x5xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{pads are not negative, -1 is; graph.slice removes elements}}
  %y = graph.extend %x {pads = array<i64: 1, -1>, mode = "edge"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 0 of the input of extend, of size 4, is too short: reflect takes 5 elements}}
  %y = graph.extend %x {pads = array<i64: 4, 0>, mode = "reflect"} : (tensor<4xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<0xf32>) {
  // expected-error@+1 {{axis 0 of the input of extend, of size 0, is too short: edge takes 1 elements}}
  %y = graph.extend %x {pads = array<i64: 1, 0>, mode = "edge"} : (tensor<0xf32>) -> tensor<1xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32, #graph.dims<[N]>>) {
  // expected-error@+1 {{the input does not tell what M is}}
  %y = graph.extend %x {pads = #graph.widths<[M, 0]>, mode = "edge"} : (tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N + M]>>
  func.return
}
