// RUN: opt-tool %s --matrix-choose-solver --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern matrix-choose-solver.choose-ridge-solver | filecheck %s

// Few penalties are cheaper one by one.
// CHECK-LABEL: func.func @few
// CHECK: matrix.ridge {{.*}} {intercept = true, solver = "cholesky"}
func.func @few(%mean: tensor<3xf64>, %scatter: tensor<3x3xf64>, %count: tensor<f64>, %p: tensor<2xf64>) -> tensor<2x2xf64> {
  %coef, %zero = matrix.ridge %mean, %scatter, %count, %p {intercept = true} : (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>, tensor<2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>)
  func.return %coef : tensor<2x2xf64>
}

// Eigenvectors are found once for twenty.
// CHECK-LABEL: func.func @many
// CHECK: matrix.ridge {{.*}} {intercept = true, solver = "eigenvectors"}
func.func @many(%mean: tensor<3xf64>, %scatter: tensor<3x3xf64>, %count: tensor<f64>, %p: tensor<20xf64>) -> tensor<20x2xf64> {
  %coef, %zero = matrix.ridge %mean, %scatter, %count, %p {intercept = true} : (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>, tensor<20xf64>) -> (tensor<20x2xf64>, tensor<20xf64>)
  func.return %coef : tensor<20x2xf64>
}

// What is said stays.
// CHECK-LABEL: func.func @said
// CHECK: matrix.ridge {{.*}} {intercept = false, solver = "eigenvectors"}
func.func @said(%mean: tensor<3xf64>, %scatter: tensor<3x3xf64>, %count: tensor<f64>, %p: tensor<1xf64>) -> tensor<1x2xf64> {
  %coef, %zero = matrix.ridge %mean, %scatter, %count, %p {intercept = false, solver = "eigenvectors"} : (tensor<3xf64>, tensor<3x3xf64>, tensor<f64>, tensor<1xf64>) -> (tensor<1x2xf64>, tensor<1xf64>)
  func.return %coef : tensor<1x2xf64>
}
