// RUN: opt-tool %s --tables-to-graph --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern tables-to-graph.summarize-tensors | filecheck %s --check-prefix=SUMMARY
// RUN: opt-tool %s --apply-pattern tables-to-graph.compare-tensors | filecheck %s --check-prefix=EXTREMES
// RUN: opt-tool %s --apply-pattern tables-to-graph.multiply-pairs | filecheck %s --check-prefix=PAIRS

// What one pass tells of each column is kernels of reductions over the rows; pairs of columns are products that tables say.
// CHECK-LABEL: func.func @folds
// CHECK-NOT:     matrix.summary
// CHECK-NOT:     matrix.extremes
// CHECK-NOT:     matrix.pairs
// SUMMARY:       te.reduce add
// SUMMARY:       te.reduce min
// SUMMARY:       matrix.extremes
// SUMMARY:       matrix.pairs
// EXTREMES:      matrix.summary
// EXTREMES:      te.reduce min
// EXTREMES:      te.reduce max
// EXTREMES:      matrix.pairs
// PAIRS:         matrix.summary
// PAIRS:         matrix.extremes
// PAIRS:         te.compute "pairs"
// PAIRS:           arith.mulf
func.func @folds(%x: tensor<?x2xf64, #graph.dims<[N, 2]>>, %shift: tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<?x3xf64, #graph.dims<[N, 3]>>) {
  %m = matrix.from_tensor %x {origins = ["a", "b"]} : (tensor<?x2xf64, #graph.dims<[N, 2]>>) -> !matrix.matrix<N x 2 x f64, [a, b]>
  %r, %k, %t, %q, %l, %h = matrix.summary %m, %shift : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  %low, %high = matrix.extremes %m : (!matrix.matrix<N x 2 x f64, [a, b]>) -> (tensor<2xf64>, tensor<2xf64>)
  %p = matrix.pairs %m, %m {left = array<i64: 0, 0, 1>, right = array<i64: 0, 1, 1>} : (!matrix.matrix<N x 2 x f64, [a, b]>, !matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 3 x f64, ["a*a", "a*b", "b*b"]>
  %o = matrix.to_tensor %p : (!matrix.matrix<N x 3 x f64, ["a*a", "a*b", "b*b"]>) -> tensor<?x3xf64, #graph.dims<[N, 3]>>
  func.return %t, %high, %o : tensor<2xf64>, tensor<2xf64>, tensor<?x3xf64, #graph.dims<[N, 3]>>
}
