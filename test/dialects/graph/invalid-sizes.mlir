// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<9x4xf32>) {
  // expected-error@+1 {{the input does not tell what N is}}
  %y = graph.range %x {first = #graph.dims<[0]>, count = #graph.dims<[N]>, step = 1 : i64} : (tensor<9x4xf32>) -> tensor<?xi64, #graph.dims<[N]>>
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{graph.range has one count, not 2}}
  %y = graph.range {first = #graph.dims<[0]>, count = #graph.dims<[3, 4]>, step = 1 : i64} : () -> tensor<3x4xi64>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>) {
  // expected-error@+1 {{a tensor of rank 2 has no axis 2}}
  %y = graph.section %x {axis = 2 : i64, start = #graph.dims<[0]>, size = #graph.dims<[1]>} : (tensor<9x4xf32>) -> tensor<9x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>) {
  // expected-error@+1 {{the axis is counted from the front, it is not -1}}
  %y = graph.section %x {axis = -1 : i64, start = #graph.dims<[0]>, size = #graph.dims<[1]>} : (tensor<9x4xf32>) -> tensor<9x1xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>) {
  // expected-error@+1 {{3 elements from 7 on do not lie in dimension 0 of the input of section, which is 9}}
  %y = graph.section %x {axis = 0 : i64, start = #graph.dims<[7]>, size = #graph.dims<[3]>} : (tensor<9x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>) {
  // expected-error@+1 {{the input does not tell what M is}}
  %y = graph.section %x {axis = 0 : i64, start = #graph.dims<[M]>, size = #graph.dims<[3]>} : (tensor<9x4xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>) {
  // expected-error@+1 {{3 elements from 5 on in steps of -3 do not lie in dimension 0 of the input of section, which is 9}}
  %y = graph.section %x {axis = 0 : i64, start = #graph.dims<[5]>, size = #graph.dims<[3]>, step = -3 : i64} : (tensor<9x4xf32>) -> tensor<3x4xf32>
  func.return
}
