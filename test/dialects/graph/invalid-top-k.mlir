// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @axis(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{the axis is counted from the front, it is not -1}}
  %v, %i = graph.top_k %x {axis = -1 : i64, count = 1 : i64, largest = true} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  func.return
}

// -----

func.func @too_many(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{from 1 to 3 elements along axis 1 can be chosen, not 4}}
  %v, %i = graph.top_k %x {axis = 1 : i64, count = 4 : i64, largest = true} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  func.return
}

// -----

func.func @none(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{from 1 to 3 elements along axis 1 can be chosen, not 0}}
  %v, %i = graph.top_k %x {axis = 1 : i64, count = 0 : i64, largest = true} : (tensor<2x3xf32>) -> (tensor<2x0xf32>, tensor<2x0xi64>)
  func.return
}

// -----

func.func @open(%x: tensor<2x?xf32, #graph.dims<[2, N]>>) {
  // expected-error@+1 {{from 1 to N elements along axis 1 can be chosen, not 0}}
  %v, %i = graph.top_k %x {axis = 1 : i64, count = 0 : i64, largest = true} : (tensor<2x?xf32, #graph.dims<[2, N]>>) -> (tensor<2x0xf32>, tensor<2x0xi64>)
  func.return
}

// -----

func.func @truth(%x: tensor<2x3xi1>) {
  // expected-error@+1 {{graph.top_k computes on numbers, not on truth values, i1}}
  %v, %i = graph.top_k %x {axis = 1 : i64, count = 1 : i64, largest = true} : (tensor<2x3xi1>) -> (tensor<2x1xi1>, tensor<2x1xi64>)
  func.return
}

// -----

func.func @types(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{graph.top_k makes tensor<2x1xf32>, tensor<2x1xi64>, not tensor<2x1xf32>, tensor<2x1xi32>}}
  %v, %i = graph.top_k %x {axis = 1 : i64, count = 1 : i64, largest = true} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xi32>)
  func.return
}

// -----

func.func @untold(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{the input does not tell what K is}}
  %v, %i = graph.top_k %x {axis = 1 : i64, count = #graph.dims<[K]>, largest = true} : (tensor<2x3xf32>) -> (tensor<2x?xf32, #graph.dims<[2, K]>>, tensor<2x?xi64, #graph.dims<[2, K]>>)
  func.return
}
