// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What matrices refuse.

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>, %m: tensor<3xf64>) {
  // expected-error@+1 {{vector 0 is tensor<3xf64>, where tensor<2xf64> is needed}}
  %y = matrix.map %x (%m) : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<3xf64>) -> !matrix.matrix<N x 2 x f64, [a, b]> {
  ^bb0(%v: f64, %c: f64):
    matrix.yield %v : f64
  }
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{the function takes f64, not f32}}
  %y = matrix.map %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 2 x f64, [a, b]> {
  ^bb0(%v: f32):
    matrix.yield %v : f32
  }
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{the function ends in matrix.yield of one f64}}
  %y = matrix.map %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 2 x f64, [a, b]> {
  ^bb0(%v: f64):
    %i = arith.constant 1 : i32
    matrix.yield %i : i32
  }
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 1 x f64, [a]>, %y: !matrix.matrix<M x 1 x f64, [b]>) {
  // expected-error@+1 {{the columns of !matrix.matrix<N x 1 x f64, [a]> and !matrix.matrix<M x 1 x f64, [b]> are not of the same rows and type}}
  %z = matrix.concat %x, %y : (!matrix.matrix<N x 1 x f64, [a]>, !matrix.matrix<M x 1 x f64, [b]>) -> !matrix.matrix<N x 2 x f64, [a, b]>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{there is no column 2 in a matrix of 2 columns}}
  %z = matrix.columns %x {which = array<i64: 0, 2>} : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 2 x f64, [a, b]>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{matrix.to_tensor makes tensor<?x2xf64, #graph.dims<[N, 2]>>, not tensor<2xf64>}}
  %z = matrix.to_tensor %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> tensor<2xf64>
  func.return
}

// -----

func.func @f(%x: tensor<?x2xf64, #graph.dims<[N, 2]>>) {
  // expected-error@+1 {{tensor<?x2xf64, #graph.dims<[N, 2]>> is no matrix with 1 named columns}}
  %z = matrix.from_tensor %x {origins = ["a"]} : (tensor<?x2xf64, #graph.dims<[N, 2]>>) -> !matrix.matrix<N x 1 x f64, [a]>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>, %w: tensor<3x1xf64>) {
  // expected-error@+1 {{the matrix has 2 columns, the weight 3 rows}}
  %z = matrix.matmul %x, %w {origin = "p"} : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<3x1xf64>) -> !matrix.matrix<N x 1 x f64, [p]>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>, %y: !matrix.matrix<N x 1 x f64, [a]>) {
  // expected-error@+1 {{!matrix.matrix<N x 2 x f64, [a, b]> and !matrix.matrix<N x 1 x f64, [a]> differ in size or type}}
  %z = matrix.add %x, %y : (!matrix.matrix<N x 2 x f64, [a, b]>, !matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<N x 2 x f64, [a, b]>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{matrix.gram makes tensor<2x2xf64>, not tensor<2xf64>}}
  %z = matrix.gram %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> tensor<2xf64>
  // matrix.moments and matrix.covariance say their results' types in the same way.
  func.return
}

// -----

func.func @f(%m: tensor<2xf64>, %v: tensor<3xf64>) {
  // expected-error@+1 {{the variance is tensor<3xf64>, where tensor<2xf64> is needed}}
  %s = matrix.scale %m, %v, %m : (tensor<2xf64>, tensor<3xf64>, tensor<2xf64>) -> tensor<2xf64>
  func.return
}

// -----

func.func @f(%m: tensor<2xf64>, %s: tensor<2x2xf64>, %n: tensor<f64>, %p: tensor<5xf64>) {
  // expected-error@+1 {{the solver is "eigenvectors" or "cholesky", not "qr"}}
  %c, %z = matrix.ridge %m, %s, %n, %p {intercept = true, solver = "qr"} : (tensor<2xf64>, tensor<2x2xf64>, tensor<f64>, tensor<5xf64>) -> (tensor<5x1xf64>, tensor<5xf64>)
  func.return
}

// -----

func.func @f(%m: tensor<1xf64>, %s: tensor<1x1xf64>, %n: tensor<f64>, %p: tensor<5xf64>) {
  // expected-error@+1 {{a regression needs a column to predict from and one to predict}}
  %c, %z = matrix.ridge %m, %s, %n, %p {intercept = true} : (tensor<1xf64>, tensor<1x1xf64>, tensor<f64>, tensor<5xf64>) -> (tensor<5x0xf64>, tensor<5xf64>)
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{there is no row 3 among 3}}
  %u = matrix.units {size = 3 : i64, which = array<i64: 3>} : () -> tensor<3x1xf64>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>, %roots: tensor<2xi64>, %columns: tensor<9xi64>, %thresholds: tensor<8xf64>, %missing: tensor<9xi1>, %values: tensor<9x1xf64>) {
  // expected-error@+1 {{'thresholds' of 9 nodes is tensor<8xf64>, where tensor<9xf64> is needed}}
  %y = matrix.trees %x, %roots, %columns, %thresholds, %columns, %columns, %missing, %values {depth = 3 : i64} : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<2xi64>, tensor<9xi64>, tensor<8xf64>, tensor<9xi64>, tensor<9xi64>, tensor<9xi1>, tensor<9x1xf64>) -> !matrix.matrix<N x 1 x f64, [tree]>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>, %shift: tensor<3xf64>) {
  // expected-error@+1 {{the shift is tensor<3xf64>, where tensor<2xf64> is needed}}
  %r, %k, %t, %q, %l, %h = matrix.summary %x, %shift : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<3xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  func.return
}

// -----

func.func @f(%x: tensor<2x2xf64>) {
  // expected-error@+1 {{expected a vector of known length, got tensor<2x2xf64>}}
  %d = matrix.divisor %x : (tensor<2x2xf64>) -> tensor<2x2xf64>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{2 columns are paired with 1}}
  %y = matrix.pairs %x, %x {left = array<i64: 0, 1>, right = array<i64: 1>} : (!matrix.matrix<N x 2 x f64, [a, b]>, !matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 1 x f64, ["a*b"]>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{there is no column 2 in a matrix of 2 columns}}
  %y = matrix.pairs %x, %x {left = array<i64: 2>, right = array<i64: 1>} : (!matrix.matrix<N x 2 x f64, [a, b]>, !matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 1 x f64, ["c*b"]>
  func.return
}

// -----

func.func @f(%scatter: tensor<3x2xf64>, %count: tensor<f64>) {
  // expected-error@+1 {{the scatter is tensor<3x2xf64>, where tensor<3x3xf64> is needed}}
  %d, %w = matrix.principal %scatter, %count : (tensor<3x2xf64>, tensor<f64>) -> (tensor<3x2xf64>, tensor<3xf64>)
  func.return
}

// -----

func.func @f(%mean: tensor<1xf64>, %scatter: tensor<1x1xf64>, %count: tensor<f64>, %p: tensor<5xf64>) {
  // expected-error@+1 {{a regression needs a column to predict from and one to predict}}
  %c, %z, %gap, %rounds = matrix.elastic_net %mean, %scatter, %count, %p {intercept = true, l1_ratio = 0.5 : f64, tol = 1.0e-4 : f64, max_iter = 1000 : i64, positive = false} : (tensor<1xf64>, tensor<1x1xf64>, tensor<f64>, tensor<5xf64>) -> (tensor<5x0xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>)
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{matrix.count makes tensor<2xf64>, not tensor<3xf64>}}
  %n = matrix.count %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> tensor<3xf64>
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{matrix.extremes makes tensor<2xf64>, tensor<2xf64>, not tensor<2xf64>, tensor<2xf32>}}
  %low, %high = matrix.extremes %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> (tensor<2xf64>, tensor<2xf32>)
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{there is no column 2 in a matrix of 2 columns}}
  %y = matrix.filter %x {reads = array<i64: 2>, rows = "K"} : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<K x 2 x f64, [a, b]> {
  ^bb0(%v: f64):
    %r = arith.cmpf ogt, %v, %v : f64
    matrix.yield %r : i1
  }
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{the function of a filter ends in matrix.yield of one i1}}
  %y = matrix.filter %x {reads = array<i64: 0>, rows = "K"} : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<K x 2 x f64, [a, b]> {
  ^bb0(%v: f64):
    matrix.yield %v : f64
  }
  func.return
}

// -----

func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>) {
  // expected-error@+1 {{the function takes f64, f64, not f64}}
  %y = matrix.filter %x {reads = array<i64: 0, 1>, rows = "K"} : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<K x 2 x f64, [a, b]> {
  ^bb0(%v: f64):
    %r = arith.cmpf ogt, %v, %v : f64
    matrix.yield %r : i1
  }
  func.return
}

// -----

func.func @solve(%a: tensor<2x3xf64>, %b: tensor<2x1xf64>) {
  // expected-error @+1 {{tensor<2x3xf64> is no square matrix for as many rows as tensor<2x1xf64> has}}
  %w = matrix.solve %a, %b : (tensor<2x3xf64>, tensor<2x1xf64>) -> tensor<3x1xf64>
  func.return
}

// -----

func.func @solve_narrow(%a: tensor<2x2xf32>, %b: tensor<2x1xf32>) {
  // expected-error @+1 {{equations are solved in f64, not of tensor<2x2xf32> and tensor<2x1xf32>}}
  %w = matrix.solve %a, %b : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  func.return
}

// -----

func.func @one_fold(%x: tensor<8x3xf64>) {
  // expected-error @+1 {{rows are split into two folds or more, not into 1}}
  %g, %o, %c = matrix.fold_grams %x {folds = 1 : i64} : (tensor<8x3xf64>) -> (tensor<1x3x3xf64>, tensor<1x3x3xf64>, tensor<1x3x3xf64>)
  func.return
}

// -----

func.func @fold_vector(%x: tensor<8xf64>) {
  // expected-error @+1 {{tensor<8xf64> is no matrix of f64 with a known number of columns}}
  %g, %o, %c = matrix.fold_grams %x {folds = 2 : i64} : (tensor<8xf64>) -> (tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<2x3x3xf64>)
  func.return
}

// -----

func.func @r2_of_floats(%e: tensor<5x3xf32>, %s: tensor<5x1xf64>) {
  // expected-error @+1 {{errors, spreads and numbers of rows are f64}}
  %r = matrix.r2 %e, %s, %s : (tensor<5x3xf32>, tensor<5x1xf64>, tensor<5x1xf64>) -> tensor<5x3xf64>
  func.return
}
