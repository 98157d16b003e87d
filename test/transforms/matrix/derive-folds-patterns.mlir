// RUN: opt-tool %s --apply-pattern matrix-derive-folds.moments-of-mapped | filecheck %s --check-prefix=MM
// RUN: opt-tool %s --apply-pattern matrix-derive-folds.moments-of-parts | filecheck %s --check-prefix=MP
// RUN: opt-tool %s --apply-pattern matrix-derive-folds.moments-of-columns | filecheck %s --check-prefix=MC
// RUN: opt-tool %s --apply-pattern matrix-derive-folds.extremes-of-mapped | filecheck %s --check-prefix=EM
// RUN: opt-tool %s --apply-pattern matrix-derive-folds.extremes-of-parts | filecheck %s --check-prefix=EP
// RUN: opt-tool %s --apply-pattern matrix-derive-folds.extremes-of-columns | filecheck %s --check-prefix=EC
// RUN: opt-tool %s --apply-pattern matrix-derive-folds.count-of-mapped | filecheck %s --check-prefix=CM
// RUN: opt-tool %s --apply-pattern matrix-derive-folds.count-of-parts | filecheck %s --check-prefix=CP
// RUN: opt-tool %s --apply-pattern matrix-derive-folds.count-of-columns | filecheck %s --check-prefix=CC

// Each pattern alone derives one kind of fold of one kind of matrix from a fold of what that is made of: of a matrix whose
// elements a map has made, of one that is put together from others, and of some columns of one.
// MM: matrix.moments %x
// MM: matrix.moments %both
// MM: matrix.moments %some
// MP: matrix.moments %mapped
// MP: matrix.moments %x
// MP: matrix.moments %z
// MP: graph.concat
// MP: matrix.moments %some
// MC: matrix.moments %mapped
// MC: matrix.moments %both
// MC: matrix.moments %x
// EM: matrix.extremes %x
// EM: matrix.extremes %both
// EM: matrix.extremes %some
// EP: matrix.extremes %mapped
// EP: matrix.extremes %x
// EP: matrix.extremes %z
// EP: graph.concat
// EP: matrix.extremes %some
// EC: matrix.extremes %mapped
// EC: matrix.extremes %both
// EC: matrix.extremes %x
// CM: matrix.count %x
// CM: matrix.count %both
// CM: matrix.count %some
// CP: matrix.count %mapped
// CP: matrix.count %x
// CP: matrix.count %z
// CP: graph.concat
// CP: matrix.count %some
// CC: matrix.count %mapped
// CC: matrix.count %both
// CC: matrix.count %x
func.func @f(%x: !matrix.matrix<N x 2 x f64, [a, b]>, %z: !matrix.matrix<N x 1 x f64, [c]>, %m: tensor<2xf64>) {
  %mapped = matrix.map %x (%m) : (!matrix.matrix<N x 2 x f64, [a, b]>, tensor<2xf64>) -> !matrix.matrix<N x 2 x f64, [a, b]> {
  ^bb0(%v: f64, %w: f64):
    %s = arith.subf %v, %w : f64
    matrix.yield %s : f64
  }
  %both = matrix.concat %x, %z : (!matrix.matrix<N x 2 x f64, [a, b]>, !matrix.matrix<N x 1 x f64, [c]>) -> !matrix.matrix<N x 3 x f64, [a, b, c]>
  %some = matrix.columns %x {which = array<i64: 1>} : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 1 x f64, [b]>
  %m00, %m01, %m02 = matrix.moments %mapped : (!matrix.matrix<N x 2 x f64, [a, b]>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>)
  %p00, %p01, %p02 = matrix.moments %both : (!matrix.matrix<N x 3 x f64, [a, b, c]>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
  %c00, %c01, %c02 = matrix.moments %some : (!matrix.matrix<N x 1 x f64, [b]>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  %m10, %m11 = matrix.extremes %mapped : (!matrix.matrix<N x 2 x f64, [a, b]>) -> (tensor<2xf64>, tensor<2xf64>)
  %p10, %p11 = matrix.extremes %both : (!matrix.matrix<N x 3 x f64, [a, b, c]>) -> (tensor<3xf64>, tensor<3xf64>)
  %c10, %c11 = matrix.extremes %some : (!matrix.matrix<N x 1 x f64, [b]>) -> (tensor<1xf64>, tensor<1xf64>)
  %m20 = matrix.count %mapped : (!matrix.matrix<N x 2 x f64, [a, b]>) -> tensor<2xf64>
  %p20 = matrix.count %both : (!matrix.matrix<N x 3 x f64, [a, b, c]>) -> tensor<3xf64>
  %c20 = matrix.count %some : (!matrix.matrix<N x 1 x f64, [b]>) -> tensor<1xf64>
  func.return
}
