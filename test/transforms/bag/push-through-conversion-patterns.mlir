// RUN: opt-tool %s --apply-pattern bag-push-through-conversion.filter-before-matrix | filecheck %s --check-prefix=FILTER
// RUN: opt-tool %s --apply-pattern bag-push-through-conversion.map-before-matrix | filecheck %s --check-prefix=MAP
// RUN: opt-tool %s --apply-pattern bag-push-through-conversion.columns-before-matrix | filecheck %s --check-prefix=COLUMNS
// RUN: opt-tool %s --apply-pattern bag-push-through-conversion.concat-before-matrix | filecheck %s --check-prefix=CONCAT

// Each pattern alone rewrites its own operation on the matrix.
// FILTER:      bag.filter %t {rows = "K", reads = ["b"]}
// FILTER:      matrix.map
// FILTER:      matrix.columns
// FILTER:      matrix.concat
// MAP:         matrix.filter
// MAP:         bag.map %t {writes = ["a", "b"], reads = ["a", "b"]}
// MAP:         matrix.columns
// COLUMNS:     matrix.filter
// COLUMNS:     matrix.map
// COLUMNS:     bag.to_matrix %t {columns = ["b"]}
// CONCAT:      matrix.columns
// CONCAT:      bag.to_matrix %t {columns = ["a", "b", "a", "b"]}
func.func @f(%t: !bag.bag<N x [a: f64, b: f64]>) {
  %x = bag.to_matrix %t {columns = ["a", "b"]} : (!bag.bag<N x [a: f64, b: f64]>) -> !matrix.matrix<N x 2 x f64, [a, b]>
  %f = matrix.filter %x {reads = array<i64: 1>, rows = "K"} : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<K x 2 x f64, [a, b]> {
  ^bb0(%b: f64):
    %r = arith.cmpf ogt, %b, %b : f64
    matrix.yield %r : i1
  }
  %m = matrix.map %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 2 x f64, [a, b]> {
  ^bb1(%v: f64):
    %r = math.exp %v : f64
    matrix.yield %r : f64
  }
  %c = matrix.columns %x {which = array<i64: 1>} : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 1 x f64, [b]>
  %d = matrix.concat %x, %x : (!matrix.matrix<N x 2 x f64, [a, b]>, !matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<N x 4 x f64, [a, b, a, b]>
  func.return
}
