// RUN: opt-tool %s --split-input-file --verify-diagnostics --matrix-split-statistics | filecheck %s

// One function sums products of the numbers of rows; of them follow the mean, which is filled in, and the fit.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %shift: tensor<8x1xf64>) -> tensor<8x8xf64>
// CHECK:         bag.to_matrix %0 {columns = ["age", "pay"]}
// CHECK:         bag.one_hot %0 {column = "town", dtype = f64}
// CHECK:         matrix.concat {{.*}} -> !matrix.matrix<N x 8 x f64, [age * 2, pay, age, town * 3, y]>
// CHECK-NEXT:    matrix.gram
// CHECK-LABEL: func.func @fit(%shift: tensor<8x1xf64>, %sums: tensor<8x8xf64>, %p: tensor<2xf64>)
// CHECK-NOT:     bag
// CHECK:         matrix.ridge
func.func @fit(%t: !bag.bag<N x [age: f64?, pay: f64, town: !bag.dict<3>]>, %y: !matrix.matrix<N x 1 x f64, [y]>, %p: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2x5xf64>, tensor<2xf64>) {
  %x = bag.to_matrix %t {columns = ["age", "pay"]} : (!bag.bag<N x [age: f64?, pay: f64, town: !bag.dict<3>]>) -> !matrix.matrix<N x 2 x f64, [age, pay]>
  %m, %v, %n = matrix.moments %x : (!matrix.matrix<N x 2 x f64, [age, pay]>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  %i = matrix.map %x (%m) : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2xf64>) -> !matrix.matrix<N x 2 x f64, [age, pay]> {
  ^bb0(%a: f64, %c: f64):
    %w = arith.cmpf une, %a, %a : f64
    %r = arith.select %w, %c, %a : f64
    matrix.yield %r : f64
  }
  %h = bag.one_hot %t {column = "town", dtype = f64} : (!bag.bag<N x [age: f64?, pay: f64, town: !bag.dict<3>]>) -> !matrix.matrix<N x 3 x f64, [town * 3]>
  %z = matrix.concat %i, %h, %y : (!matrix.matrix<N x 2 x f64, [age, pay]>, !matrix.matrix<N x 3 x f64, [town * 3]>, !matrix.matrix<N x 1 x f64, [y]>) -> !matrix.matrix<N x 6 x f64, [age, pay, town * 3, y]>
  %mean, %scatter, %count = matrix.covariance %z : (!matrix.matrix<N x 6 x f64, [age, pay, town * 3, y]>) -> (tensor<6xf64>, tensor<6x6xf64>, tensor<f64>)
  %coef, %zero = matrix.ridge %mean, %scatter, %count, %p {intercept = true} : (tensor<6xf64>, tensor<6x6xf64>, tensor<f64>, tensor<2xf64>) -> (tensor<2x5xf64>, tensor<2xf64>)
  func.return %m, %v, %coef, %zero : tensor<2xf64>, tensor<2xf64>, tensor<2x5xf64>, tensor<2xf64>
}

// -----

// Two tables of the same columns, as a training set and what is held out, have sums of their own.
// CHECK-LABEL: func.func @rows(%0: !matrix.matrix<N x 1 x f64, [a]>, %shift: tensor<2x1xf64>) -> tensor<2x2xf64>
// CHECK-LABEL: func.func @both(%shift: tensor<2x1xf64>, %sums: tensor<2x2xf64>, %sums_1: tensor<2x2xf64>)
func.func @both(%x: !matrix.matrix<N x 1 x f64, [a]>, %h: !matrix.matrix<M x 1 x f64, [a]>) -> (tensor<1xf64>, tensor<1xf64>) {
  %m, %v, %n = matrix.moments %x : (!matrix.matrix<N x 1 x f64, [a]>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  %m2, %v2, %n2 = matrix.moments %h : (!matrix.matrix<M x 1 x f64, [a]>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  func.return %v, %m2 : tensor<1xf64>, tensor<1xf64>
}

// -----

// The mean of squares does not follow from sums of products of pairs.
func.func @square(%x: !matrix.matrix<N x 1 x f64, [a]>) -> tensor<1xf64> {
  // expected-error@+1 {{the map is not affine, so that no sum of what it makes follows from other sums}}
  %y = matrix.map %x : (!matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<N x 1 x f64, [a]> {
  ^bb0(%v: f64):
    %r = arith.mulf %v, %v : f64
    matrix.yield %r : f64
  }
  %m, %v, %n = matrix.moments %y : (!matrix.matrix<N x 1 x f64, [a]>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  func.return %m : tensor<1xf64>
}

// -----

// Nor does what is kept of each row.
func.func @each(%x: !matrix.matrix<N x 1 x f64, [a]>) -> tensor<?x1xf64, #graph.dims<[N, 1]>> {
  // expected-error@+1 {{matrix.to_tensor is no sum over rows of what is affine in them}}
  %t = matrix.to_tensor %x : (!matrix.matrix<N x 1 x f64, [a]>) -> tensor<?x1xf64, #graph.dims<[N, 1]>>
  func.return %t : tensor<?x1xf64, #graph.dims<[N, 1]>>
}

// -----

// The extremes of columns of the table are taken in the same pass.
// CHECK-LABEL: func.func @rows({{.*}}%shift: tensor<4x1xf64>) -> (tensor<4x4xf64>, tensor<3xf64>, tensor<3xf64>)
// CHECK:         matrix.gram
// CHECK:         matrix.extremes
// CHECK-LABEL: func.func @ends(%shift: tensor<4x1xf64>, %sums: tensor<4x4xf64>, %low: tensor<3xf64>, %high: tensor<3xf64>)
// CHECK:         graph.slice %low {axes = array<i64: 0>, starts = array<i64: 1>
func.func @ends(%t: !bag.bag<N x [a: f64, b: f64]>, %y: !matrix.matrix<N x 1 x f64, [y]>) -> (tensor<1xf64>, tensor<1xf64>) {
  %x = bag.to_matrix %t {columns = ["b"]} : (!bag.bag<N x [a: f64, b: f64]>) -> !matrix.matrix<N x 1 x f64, [b]>
  %low, %high = matrix.extremes %x : (!matrix.matrix<N x 1 x f64, [b]>) -> (tensor<1xf64>, tensor<1xf64>)
  %n = matrix.count %y : (!matrix.matrix<N x 1 x f64, [y]>) -> tensor<1xf64>
  func.return %low, %n : tensor<1xf64>, tensor<1xf64>
}

// -----

func.func @computed(%x: !matrix.matrix<N x 1 x f64, [a]>) -> tensor<1xf64> {
  %c = matrix.concat %x, %x : (!matrix.matrix<N x 1 x f64, [a]>, !matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<N x 2 x f64, [a * 2]>
  %o = matrix.columns %c {which = array<i64: 1>} : (!matrix.matrix<N x 2 x f64, [a * 2]>) -> !matrix.matrix<N x 1 x f64, [a]>
  // expected-error@+1 {{matrix.extremes is no sum over rows of what is affine in them}}
  %low, %high = matrix.extremes %o : (!matrix.matrix<N x 1 x f64, [a]>) -> (tensor<1xf64>, tensor<1xf64>)
  func.return %low : tensor<1xf64>
}
