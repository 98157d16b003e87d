// RUN: opt-tool %s --split-input-file -p bag-push-through-conversion,dce --check-semantics | filecheck %s

// A filter of rows and a choice of columns of a matrix are one of the table that it comes from.
// CHECK-LABEL: func.func @chosen
// CHECK-NEXT:    %[[T:.*]] = bag.filter %t {rows = "K", reads = ["c"]}
// CHECK:         %[[X:.*]] = bag.to_matrix %[[T]] {columns = ["b", "a"]}
// CHECK-NEXT:    matrix.to_tensor %[[X]]
func.func @chosen(%t: !bag.bag<N x [a: f64, b: f64, c: f64]>) -> tensor<?x2xf64, #graph.dims<[K, 2]>> {
  %x = bag.to_matrix %t {columns = ["a", "b", "c"]} : (!bag.bag<N x [a: f64, b: f64, c: f64]>) -> !matrix.matrix<N x 3 x f64, [a, b, c]>
  %y = matrix.filter %x {reads = array<i64: 2>, rows = "K"} : (!matrix.matrix<N x 3 x f64, [a, b, c]>) -> !matrix.matrix<K x 3 x f64, [a, b, c]> {
  ^bb0(%c: f64):
    %zero = arith.constant 0.0 : f64
    %r = arith.cmpf ogt, %c, %zero : f64
    matrix.yield %r : i1
  }
  %z = matrix.columns %y {which = array<i64: 1, 0>} : (!matrix.matrix<K x 3 x f64, [a, b, c]>) -> !matrix.matrix<K x 2 x f64, [b, a]>
  %w = matrix.to_tensor %z : (!matrix.matrix<K x 2 x f64, [b, a]>) -> tensor<?x2xf64, #graph.dims<[K, 2]>>
  func.return %w : tensor<?x2xf64, #graph.dims<[K, 2]>>
}

// -----

// A function of the elements of some columns is a map of these; the others stay beside them.
// CHECK-LABEL: func.func @mapped
// CHECK-NEXT:    %[[T:.*]] = bag.map %t {writes = ["a"], reads = ["a"]}
// CHECK:           math.exp
// CHECK:         bag.to_matrix %[[T]] {columns = ["a", "b", "a"]}
func.func @mapped(%t: !bag.bag<N x [a: f64, b: f64]>) -> tensor<?x3xf64, #graph.dims<[N, 3]>> {
  %x = bag.to_matrix %t {columns = ["a", "b", "a"]} : (!bag.bag<N x [a: f64, b: f64]>) -> !matrix.matrix<N x 3 x f64, [a, b, a]>
  %a = matrix.columns %x {which = array<i64: 0>} : (!matrix.matrix<N x 3 x f64, [a, b, a]>) -> !matrix.matrix<N x 1 x f64, [a]>
  %b = matrix.columns %x {which = array<i64: 1>} : (!matrix.matrix<N x 3 x f64, [a, b, a]>) -> !matrix.matrix<N x 1 x f64, [b]>
  %e = matrix.map %a : (!matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<N x 1 x f64, [a]> {
  ^bb0(%v: f64):
    %r = math.exp %v : f64
    matrix.yield %r : f64
  }
  %y = matrix.concat %e, %b, %e : (!matrix.matrix<N x 1 x f64, [a]>, !matrix.matrix<N x 1 x f64, [b]>, !matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<N x 3 x f64, [a, b, a]>
  %z = matrix.to_tensor %y : (!matrix.matrix<N x 3 x f64, [a, b, a]>) -> tensor<?x3xf64, #graph.dims<[N, 3]>>
  func.return %z : tensor<?x3xf64, #graph.dims<[N, 3]>>
}

// -----

// A column as it was, beside what the map made of it, is not in the mapped table. A map by vectors stays.
// CHECK-LABEL: func.func @kept
// CHECK:         matrix.concat
// CHECK:         matrix.map
func.func @kept(%t: !bag.bag<N x [a: f64]>, %m: tensor<2xf64>) -> tensor<?x2xf64, #graph.dims<[N, 2]>> {
  %x = bag.to_matrix %t {columns = ["a"]} : (!bag.bag<N x [a: f64]>) -> !matrix.matrix<N x 1 x f64, [a]>
  %e = matrix.map %x : (!matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<N x 1 x f64, [a]> {
  ^bb0(%v: f64):
    %r = math.exp %v : f64
    matrix.yield %r : f64
  }
  %y = matrix.concat %e, %x : (!matrix.matrix<N x 1 x f64, [a]>, !matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<N x 2 x f64, [a * 2]>
  %z = matrix.map %y (%m) : (!matrix.matrix<N x 2 x f64, [a * 2]>, tensor<2xf64>) -> !matrix.matrix<N x 2 x f64, [a * 2]> {
  ^bb1(%v: f64, %s: f64):
    %r = arith.subf %v, %s : f64
    matrix.yield %r : f64
  }
  %w = matrix.to_tensor %z : (!matrix.matrix<N x 2 x f64, [a * 2]>) -> tensor<?x2xf64, #graph.dims<[N, 2]>>
  func.return %w : tensor<?x2xf64, #graph.dims<[N, 2]>>
}
