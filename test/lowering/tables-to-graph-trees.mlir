// RUN: opt-tool %s --tables-to-graph | filecheck %s
// RUN: opt-tool %s --apply-pattern tables-to-graph.walk-trees | filecheck %s

// Each row takes as many steps in each tree as the deepest has; then the values of the leaves are summed.
// CHECK-LABEL: func.func @trees
// CHECK:         te.compute "leaf" [n: N, t: 2]
// CHECK:           arith.cmpf ole
// CHECK:           arith.cmpf ole
// CHECK-NOT:       arith.cmpf ole
// CHECK:         te.compute "trees" [n: N, j: 1] reduce [t: 2]
func.func @trees(%x: !matrix.matrix<N x 2 x f64, [a, b]>, %roots: tensor<2xi64>, %columns: tensor<9xi64>, %thresholds: tensor<9xf64>, %left: tensor<9xi64>, %right: tensor<9xi64>, %missing: tensor<9xi1>, %values: tensor<9x1xf64>) -> tensor<?x1xf64, #graph.dims<[N, 1]>> {
  %y = matrix.trees %x, %roots, %columns, %thresholds, %left, %right, %missing, %values {depth = 2 : i64} : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<2xi64>, tensor<9xi64>, tensor<9xf64>, tensor<9xi64>, tensor<9xi64>, tensor<9xi1>, tensor<9x1xf64>) -> !matrix.matrix<N x 1 x f64, [tree]>
  %o = matrix.to_tensor %y : (!matrix.matrix<N x 1 x f64, [tree]>) -> tensor<?x1xf64, #graph.dims<[N, 1]>>
  func.return %o : tensor<?x1xf64, #graph.dims<[N, 1]>>
}

// Trees that compare in double precision round nothing.
// CHECK-LABEL: func.func @wide
// CHECK-NOT:     arith.truncf
// CHECK:         te.compute "trees"
func.func @wide(%x: !matrix.matrix<N x 2 x f64, [a, b]>, %roots: tensor<2xi64>, %columns: tensor<9xi64>, %thresholds: tensor<9xf64>, %left: tensor<9xi64>, %right: tensor<9xi64>, %missing: tensor<9xi1>, %values: tensor<9x1xf64>) -> tensor<?x1xf64, #graph.dims<[N, 1]>> {
  %y = matrix.trees %x, %roots, %columns, %thresholds, %left, %right, %missing, %values {depth = 2 : i64, wide} : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<2xi64>, tensor<9xi64>, tensor<9xf64>, tensor<9xi64>, tensor<9xi64>, tensor<9xi1>, tensor<9x1xf64>) -> !matrix.matrix<N x 1 x f64, [tree]>
  %o = matrix.to_tensor %y : (!matrix.matrix<N x 1 x f64, [tree]>) -> tensor<?x1xf64, #graph.dims<[N, 1]>>
  func.return %o : tensor<?x1xf64, #graph.dims<[N, 1]>>
}
