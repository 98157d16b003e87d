// RUN: opt-tool %s --split-input-file --matrix-derive-folds --dce --verify-diagnostics | filecheck %s

// What is filled in and then scaled is folded as it was before: no fold reads what a map made.
// CHECK-LABEL: func.func @chain
// CHECK-NOT:     matrix.map
// CHECK:         %[[M:.*]], %[[V:.*]], %[[K:.*]] = matrix.moments %x
// CHECK:         %[[N:.*]] = matrix.count %x
// CHECK:         %[[ABSENT:.*]] = graph.sub %[[N]], %[[K]]
// CHECK:         %[[LOW:.*]], %[[HIGH:.*]] = matrix.extremes %x
// CHECK:         graph.where
// CHECK-NOT:     matrix.map
// CHECK:         func.return
func.func @chain(%t: !bag.bag<N x [a: f64?, b: f64?]>, %fill: tensor<2xf64>, %s: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) {
  %x = bag.to_matrix %t {columns = ["a", "b"]} : (!bag.bag<N x [a: f64?, b: f64?]>) -> !matrix.matrix<N x 2 x f64, [a, b]>
  %i = matrix.map %x (%fill) : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<2xf64>) -> !matrix.matrix<N x 2 x f64, [a, b]> {
  ^bb0(%v: f64, %f: f64):
    %w = arith.cmpf une, %v, %v : f64
    %r = arith.select %w, %f, %v : f64
    matrix.yield %r : f64
  }
  %m, %v, %k = matrix.moments %i : (!matrix.matrix<N x 2 x f64, [a, b]>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  %z = matrix.map %i (%m) : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<2xf64>) -> !matrix.matrix<N x 2 x f64, [a, b]> {
  ^bb1(%v2: f64, %c: f64):
    %r2 = arith.subf %v2, %c : f64
    matrix.yield %r2 : f64
  }
  %low, %high = matrix.extremes %z : (!matrix.matrix<N x 2 x f64, [a, b]>) -> (tensor<2xf64>, tensor<2xf64>)
  func.return %v, %low, %high : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
}

// -----

// Columns that were put side by side, and columns that were chosen, are folded where they come from.
// CHECK-LABEL: func.func @parts
// CHECK-NOT:     matrix.concat
// CHECK-DAG:     matrix.extremes %x
// CHECK-DAG:     matrix.extremes %y
// CHECK:         %[[BOTH:.*]] = graph.concat
// CHECK:         graph.slice %{{.*}} {axes = array<i64: 0>, starts = array<i64: 1>, stops = array<i64: 3>
func.func @parts(%x: !matrix.matrix<N x 1 x f64, [a]>, %y: !matrix.matrix<N x 2 x f64, [b, c]>) -> tensor<2xf64> {
  %c = matrix.concat %x, %y : (!matrix.matrix<N x 1 x f64, [a]>, !matrix.matrix<N x 2 x f64, [b, c]>) -> !matrix.matrix<N x 3 x f64, [a, b, c]>
  %o = matrix.columns %c {which = array<i64: 1, 2>} : (!matrix.matrix<N x 3 x f64, [a, b, c]>) -> !matrix.matrix<N x 2 x f64, [b, c]>
  %low, %high = matrix.extremes %o : (!matrix.matrix<N x 2 x f64, [b, c]>) -> (tensor<2xf64>, tensor<2xf64>)
  func.return %low : tensor<2xf64>
}

// -----

// Squares have no mean that follows from one.
// CHECK-LABEL: func.func @squares
// CHECK:         %y = matrix.map %x
// CHECK:         matrix.moments %y
func.func @squares(%x: !matrix.matrix<N x 1 x f64, [a]>) -> tensor<1xf64> {
  %y = matrix.map %x : (!matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<N x 1 x f64, [a]> {
  ^bb0(%v: f64):
    %r = arith.mulf %v, %v : f64
    matrix.yield %r : f64
  }
  %m, %v, %n = matrix.moments %y : (!matrix.matrix<N x 1 x f64, [a]>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  func.return %m : tensor<1xf64>
}

// -----

// Which numbers are missing is affine too: 0, and 1 in the place of what is missing.
// CHECK-LABEL: func.func @indicator
// CHECK-NOT:     matrix.map
// CHECK:         matrix.moments %x
// CHECK:         matrix.count %x
// CHECK-NOT:     matrix.map
// CHECK:         func.return
func.func @indicator(%x: !matrix.matrix<N x 1 x f64, [a]>) -> tensor<1xf64> {
  %i = matrix.map %x () : (!matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<N x 1 x f64, [a]> {
  ^bb0(%v: f64):
    %w = arith.cmpf une, %v, %v : f64
    %one = arith.constant 1.000000e+00 : f64
    %zero = arith.constant 0.000000e+00 : f64
    %r = arith.select %w, %one, %zero : f64
    matrix.yield %r : f64
  }
  %m, %v, %k = matrix.moments %i : (!matrix.matrix<N x 1 x f64, [a]>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  func.return %m : tensor<1xf64>
}
