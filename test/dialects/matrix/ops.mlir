// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Matrices of rows.

// CHECK-LABEL: func.func @rows
func.func @rows(%a: tensor<?x2xf64, #graph.dims<[N, 2]>>, %mean: tensor<2xf64>, %w: tensor<2x3xf64>) -> tensor<?x5xf64, #graph.dims<[N, 5]>> {
  // CHECK-NEXT: %x = matrix.from_tensor %a {origins = ["age", "pay"]} {{.*}} -> !matrix.matrix<N x 2 x f64, [age, pay]>
  %x = matrix.from_tensor %a {origins = ["age", "pay"]} : (tensor<?x2xf64, #graph.dims<[N, 2]>>) -> !matrix.matrix<N x 2 x f64, [age, pay]>
  // CHECK-NEXT: %y = matrix.map %x (%mean) : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2xf64>) -> !matrix.matrix<N x 2 x f64, [age, pay]> {
  %y = matrix.map %x (%mean) : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2xf64>) -> !matrix.matrix<N x 2 x f64, [age, pay]> {
  // CHECK-NEXT: ^bb0(%v: f64, %m: f64):
  ^bb0(%v: f64, %m: f64):
    %r = arith.subf %v, %m : f64
    // CHECK: matrix.yield %r : f64
    matrix.yield %r : f64
  }
  // CHECK: matrix.map %y : (!matrix.matrix<N x 2 x f64, [age, pay]>)
  %s = matrix.map %y : (!matrix.matrix<N x 2 x f64, [age, pay]>) -> !matrix.matrix<N x 2 x f64, [age, pay]> {
  ^bb1(%v: f64):
    %r = arith.mulf %v, %v : f64
    matrix.yield %r : f64
  }
  // CHECK: matrix.matmul %y, %w {origin = "pca"} {{.*}} -> !matrix.matrix<N x 3 x f64, [pca * 3]>
  %p = matrix.matmul %y, %w {origin = "pca"} : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2x3xf64>) -> !matrix.matrix<N x 3 x f64, [pca * 3]>
  // CHECK-NEXT: matrix.concat %p, %s {{.*}} -> !matrix.matrix<N x 5 x f64, [pca * 3, age, pay]>
  %c = matrix.concat %p, %s : (!matrix.matrix<N x 3 x f64, [pca * 3]>, !matrix.matrix<N x 2 x f64, [age, pay]>) -> !matrix.matrix<N x 5 x f64, [pca * 3, age, pay]>
  // CHECK-NEXT: matrix.columns %c {which = array<i64: 4, 0>} {{.*}} -> !matrix.matrix<N x 2 x f64, [pay, pca]>
  %o = matrix.columns %c {which = array<i64: 4, 0>} : (!matrix.matrix<N x 5 x f64, [pca * 3, age, pay]>) -> !matrix.matrix<N x 2 x f64, [pay, pca]>
  // CHECK-NEXT: matrix.add %x, %o {{.*}} -> !matrix.matrix<N x 2 x f64, [age, pay]>
  %b = matrix.add %x, %o : (!matrix.matrix<N x 2 x f64, [age, pay]>, !matrix.matrix<N x 2 x f64, [pay, pca]>) -> !matrix.matrix<N x 2 x f64, [age, pay]>
  // CHECK-NEXT: matrix.pairs %x, %o {left = array<i64: 0, 1>, right = array<i64: 1, 1>} {{.*}} -> !matrix.matrix<N x 2 x f64, ["age*pca", "pay*pca"]>
  %q = matrix.pairs %x, %o {left = array<i64: 0, 1>, right = array<i64: 1, 1>} : (!matrix.matrix<N x 2 x f64, [age, pay]>, !matrix.matrix<N x 2 x f64, [pay, pca]>) -> !matrix.matrix<N x 2 x f64, ["age*pca", "pay*pca"]>
  // CHECK-NEXT: matrix.filter %x {reads = array<i64: 1>, rows = "K"} {{.*}} -> !matrix.matrix<K x 2 x f64, [age, pay]> {
  // CHECK-NEXT: ^bb0(%pay: f64):
  %f = matrix.filter %x {reads = array<i64: 1>, rows = "K"} : (!matrix.matrix<N x 2 x f64, [age, pay]>) -> !matrix.matrix<K x 2 x f64, [age, pay]> {
  ^bb2(%pay: f64):
    %k = arith.cmpf ogt, %pay, %pay : f64
    matrix.yield %k : i1
  }
  // CHECK: matrix.to_tensor %c
  %t = matrix.to_tensor %c : (!matrix.matrix<N x 5 x f64, [pca * 3, age, pay]>) -> tensor<?x5xf64, #graph.dims<[N, 5]>>
  func.return %t : tensor<?x5xf64, #graph.dims<[N, 5]>>
}

// CHECK-LABEL: func.func @trees
func.func @trees(%x: !matrix.matrix<N x 2 x f32, [a, b]>, %roots: tensor<2xi64>, %columns: tensor<9xi64>, %thresholds: tensor<9xf64>, %missing: tensor<9xi1>, %values: tensor<9x3xf64>) {
  // CHECK-NEXT: matrix.trees %x, %roots, %columns, %thresholds, %columns, %columns, %missing, %values {depth = 3 : i64}
  // CHECK-SAME:   -> !matrix.matrix<N x 3 x f64, [tree * 3]>
  %y = matrix.trees %x, %roots, %columns, %thresholds, %columns, %columns, %missing, %values {depth = 3 : i64} : (!matrix.matrix<N x 2 x f32, [a, b]>, tensor<2xi64>, tensor<9xi64>, tensor<9xf64>, tensor<9xi64>, tensor<9xi64>, tensor<9xi1>, tensor<9x3xf64>) -> !matrix.matrix<N x 3 x f64, [tree * 3]>
  // CHECK-NEXT: matrix.trees %x, %roots, %columns, %thresholds, %columns, %columns, %missing, %values {depth = 3 : i64, wide}
  %z = matrix.trees %x, %roots, %columns, %thresholds, %columns, %columns, %missing, %values {depth = 3 : i64, wide} : (!matrix.matrix<N x 2 x f32, [a, b]>, tensor<2xi64>, tensor<9xi64>, tensor<9xf64>, tensor<9xi64>, tensor<9xi64>, tensor<9xi1>, tensor<9x3xf64>) -> !matrix.matrix<N x 3 x f64, [tree * 3]>
  func.return
}

// CHECK-LABEL: func.func @statistics
func.func @statistics(%x: !matrix.matrix<N x 3 x f64, [a, b, y]>, %penalties: tensor<5xf64>) {
  // CHECK-NEXT: %m, %v, %n = matrix.moments %x
  %m, %v, %n = matrix.moments %x : (!matrix.matrix<N x 3 x f64, [a, b, y]>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
  // CHECK-NEXT: matrix.scale %m, %v, %n
  %s = matrix.scale %m, %v, %n : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  // CHECK-NEXT: matrix.gram %x {{.*}} -> tensor<3x3xf64>
  %g = matrix.gram %x : (!matrix.matrix<N x 3 x f64, [a, b, y]>) -> tensor<3x3xf64>
  // CHECK-NEXT: %mean, %scatter, %count = matrix.covariance %x {{.*}} -> (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>)
  %mean, %scatter, %count = matrix.covariance %x : (!matrix.matrix<N x 3 x f64, [a, b, y]>) -> (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>)
  // CHECK-NEXT: matrix.ridge %mean, %scatter, %count, %penalties {intercept = true} {{.*}} -> (tensor<5x2xf64>, tensor<5xf64>)
  %coef, %zero = matrix.ridge %mean, %scatter, %count, %penalties {intercept = true} : (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>, tensor<5xf64>) -> (tensor<5x2xf64>, tensor<5xf64>)
  // CHECK-NEXT: %c, %z, %gap, %rounds = matrix.elastic_net %mean, %scatter, %count, %penalties {intercept = true, l1_ratio = 5.000000e-01 : f64
  %c, %z, %gap, %rounds = matrix.elastic_net %mean, %scatter, %count, %penalties {intercept = true, l1_ratio = 0.5 : f64, tol = 1.0e-4 : f64, max_iter = 1000 : i64, positive = false} : (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>, tensor<5xf64>) -> (tensor<5x2xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>)
  // CHECK-NEXT: %d, %w = matrix.principal %scatter, %count {{.*}} -> (tensor<3x3xf64>, tensor<3xf64>)
  %d, %w = matrix.principal %scatter, %count : (tensor<3x3xf64>, tensor<f64>) -> (tensor<3x3xf64>, tensor<3xf64>)
  // CHECK-NEXT: matrix.units {size = 3 : i64, which = array<i64: 2, 0>} : () -> tensor<3x2xf64>
  %u = matrix.units {size = 3 : i64, which = array<i64: 2, 0>} : () -> tensor<3x2xf64>
  func.return
}

// CHECK-LABEL: func.func @folds
func.func @folds(%x: !matrix.matrix<N x 2 x f64, [a, b]>, %shift: tensor<2xf64>) {
  // CHECK-NEXT: matrix.count %x
  %n = matrix.count %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> tensor<2xf64>
  // CHECK-NEXT: %low, %high = matrix.extremes %x
  %low, %high = matrix.extremes %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> (tensor<2xf64>, tensor<2xf64>)
  // CHECK-NEXT: %r, %k, %t, %q, %l, %h = matrix.summary %x, %shift
  %r, %k, %t, %q, %l, %h = matrix.summary %x, %shift : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  // CHECK-NEXT: matrix.divisor %high
  %d = matrix.divisor %high : (tensor<2xf64>) -> tensor<2xf64>
  func.return
}

// CHECK-LABEL: func.func @solving
func.func @solving(%a: tensor<4x1x2x2xf64>, %b: tensor<3x2x1xf64>, %x: tensor<?x3xf64, #graph.dims<[N, 3]>>, %e: tensor<5x3xf64>, %s: tensor<5x1xf64>) {
  // CHECK-NEXT: matrix.solve %a, %b : (tensor<4x1x2x2xf64>, tensor<3x2x1xf64>) -> tensor<4x3x2x1xf64>
  %w = matrix.solve %a, %b : (tensor<4x1x2x2xf64>, tensor<3x2x1xf64>) -> tensor<4x3x2x1xf64>
  // CHECK-NEXT: matrix.fold_grams %x {folds = 5 : i64}
  %g, %o, %c = matrix.fold_grams %x {folds = 5 : i64} : (tensor<?x3xf64, #graph.dims<[N, 3]>>) -> (tensor<5x3x3xf64>, tensor<5x3x3xf64>, tensor<5x3x3xf64>)
  // CHECK-NEXT: matrix.r2 %e, %s, %s : (tensor<5x3xf64>, tensor<5x1xf64>, tensor<5x1xf64>) -> tensor<5x3xf64>
  %r = matrix.r2 %e, %s, %s : (tensor<5x3xf64>, tensor<5x1xf64>, tensor<5x1xf64>) -> tensor<5x3xf64>
  func.return
}
