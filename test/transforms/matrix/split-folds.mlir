// RUN: opt-tool %s --split-input-file --matrix-split-folds --verify-diagnostics | filecheck %s

// Two folds are one pass over the columns of both; each asks for its own columns' states.
// CHECK-LABEL: func.func @rows(%table: !bag.bag<N x [a: f64?, b: f64, c: f64]>, %shift: tensor<2xf64>)
// CHECK-NEXT:    bag.to_matrix %table {columns = ["a", "c"]}
// CHECK-NEXT:    matrix.summary
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @fit(%shift: tensor<2xf64>, %rows: tensor<2xf64>, %known: tensor<2xf64>
// CHECK-NOT:     bag.
// CHECK-NOT:     matrix.
// CHECK:         func.return
func.func @fit(%t: !bag.bag<N x [a: f64?, b: f64, c: f64]>) -> (tensor<2xf64>, tensor<1xf64>) {
  %x = bag.to_matrix %t {columns = ["c", "a"]} : (!bag.bag<N x [a: f64?, b: f64, c: f64]>) -> !matrix.matrix<N x 2 x f64, [c, a]>
  %m, %v, %k = matrix.moments %x : (!matrix.matrix<N x 2 x f64, [c, a]>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  %y = bag.to_matrix %t {columns = ["a"]} : (!bag.bag<N x [a: f64?, b: f64, c: f64]>) -> !matrix.matrix<N x 1 x f64, [a]>
  %low, %high = matrix.extremes %y : (!matrix.matrix<N x 1 x f64, [a]>) -> (tensor<1xf64>, tensor<1xf64>)
  func.return %v, %low : tensor<2xf64>, tensor<1xf64>
}

// -----

func.func @each(%t: !bag.bag<N x [a: f64]>) -> tensor<?x1xf64, #graph.dims<[N, 1]>> {
  %x = bag.to_matrix %t {columns = ["a"]} : (!bag.bag<N x [a: f64]>) -> !matrix.matrix<N x 1 x f64, [a]>
  // expected-error@+1 {{matrix.to_tensor is no fold of a column of the table}}
  %y = matrix.to_tensor %x : (!matrix.matrix<N x 1 x f64, [a]>) -> tensor<?x1xf64, #graph.dims<[N, 1]>>
  func.return %y : tensor<?x1xf64, #graph.dims<[N, 1]>>
}

// -----

func.func @codes(%t: !bag.bag<N x [a: !bag.dict<2>]>) {
  // expected-error@+1 {{bag.one_hot is no fold of a column}}
  %x = bag.one_hot %t {column = "a", dtype = f64} : (!bag.bag<N x [a: !bag.dict<2>]>) -> !matrix.matrix<N x 2 x f64, [a * 2]>
  func.return
}

// -----

// Without a fold there is no pass over the rows.
// CHECK-NOT:   func.func @rows
// CHECK-LABEL: func.func @none() -> tensor<2xf64>
func.func @none(%t: !bag.bag<N x [a: f64]>) -> tensor<2xf64> {
  %c = arith.constant dense<1.0> : tensor<2xf64>
  func.return %c : tensor<2xf64>
}
