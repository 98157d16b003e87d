// RUN: opt-tool %s --split-input-file --tables-to-graph --check-semantics | filecheck %s

// A filter is a column of truth values, their positions, of which data tell the number, and the rows at these. A map is
// a kernel for each column that it makes. A columnar table is a tensor for each column.
// CHECK-LABEL: func.func @kept
// CHECK-SAME:    (%t: tensor<?x1xf64, #graph.dims<[N, 1]>>, %t_1: tensor<?x1xf64, #graph.dims<[N, 1]>>, %t_2: tensor<?x1xi32, #graph.dims<[N, 1]>>)
// CHECK:         %[[HOLDS:.*]] = graph.kernel (%t)
// CHECK:           arith.cmpf ogt
// CHECK:         %[[MASK:.*]] = graph.reshape %[[HOLDS]]
// CHECK-NEXT:    %[[P:.*]], %[[COUNT:.*]] = graph.positions %[[MASK]]
// CHECK-NEXT:    %[[K:.*]] = graph.size "K" = %[[COUNT]] at most [N]
// CHECK-NEXT:    %[[FRONT:.*]] = graph.section %[[P]], %[[K]]
// CHECK-NEXT:    %[[A:.*]] = graph.gather %t, %[[FRONT]]
// CHECK-NEXT:    %[[B:.*]] = graph.gather %t_1, %[[FRONT]]
// CHECK-NEXT:    %[[C:.*]] = graph.gather %t_2, %[[FRONT]]
// CHECK-NEXT:    %[[TWICE:.*]] = graph.kernel (%[[A]])
// CHECK:         graph.concat %[[B]], %[[TWICE]] {axis = 1 : i64}
// CHECK-NEXT:    graph.reshape %[[C]]
func.func @kept(%t: !bag.bag<N x [a: f64, b: f64, c: !bag.dict<3>], columnar>) -> (tensor<?x2xf64, #graph.dims<[K, 2]>>, tensor<?xi32, #graph.dims<[K]>>) {
  %u = bag.filter %t {reads = ["a"], rows = "K"} : (!bag.bag<N x [a: f64, b: f64, c: !bag.dict<3>], columnar>) -> !bag.bag<K x [a: f64, b: f64, c: !bag.dict<3>], columnar> {
  ^bb0(%a: f64):
    %zero = arith.constant 0.0 : f64
    %r = arith.cmpf ogt, %a, %zero : f64
    bag.yield %r : i1
  }
  %v = bag.map %u {reads = ["a"], writes = ["a"]} : (!bag.bag<K x [a: f64, b: f64, c: !bag.dict<3>], columnar>) -> !bag.bag<K x [a: f64?, b: f64, c: !bag.dict<3>], columnar> {
  ^bb1(%a: f64):
    %r = arith.addf %a, %a : f64
    bag.yield %r : f64
  }
  %x = bag.to_matrix %v {columns = ["b", "a"]} : (!bag.bag<K x [a: f64?, b: f64, c: !bag.dict<3>], columnar>) -> !matrix.matrix<K x 2 x f64, [b, a]>
  %y = matrix.to_tensor %x : (!matrix.matrix<K x 2 x f64, [b, a]>) -> tensor<?x2xf64, #graph.dims<[K, 2]>>
  %c = bag.column %v {column = "c"} : (!bag.bag<K x [a: f64?, b: f64, c: !bag.dict<3>], columnar>) -> tensor<?xi32, #graph.dims<[K]>>
  func.return %y, %c : tensor<?x2xf64, #graph.dims<[K, 2]>>, tensor<?xi32, #graph.dims<[K]>>
}

// -----

// Columns side by side are taken apart for a map that replaces one of them, and stand side by side again.
// CHECK-LABEL: func.func @beside(%t: tensor<?x2xf64, #graph.dims<[N, 2]>>, %m: tensor<f64>)
// CHECK-NEXT:    %[[A:.*]] = graph.kernel (%t, %m)
// CHECK:         %[[B:.*]] = graph.kernel (%t)
// CHECK:         %[[BOTH:.*]] = graph.concat %[[A]], %[[B]]
// CHECK-NEXT:    func.return %[[BOTH]]
func.func @beside(%t: !bag.bag<N x [a: f64, b: f64]>, %m: tensor<f64>) -> tensor<?x2xf64, #graph.dims<[N, 2]>> {
  %u = bag.map %t (%m) {reads = ["b"], writes = ["a"]} : (!bag.bag<N x [a: f64, b: f64]>, tensor<f64>) -> !bag.bag<N x [a: f64?, b: f64]> {
  ^bb0(%b: f64, %s: f64):
    %r = arith.subf %b, %s : f64
    bag.yield %r : f64
  }
  %x = bag.to_matrix %u {columns = ["a", "b"]} : (!bag.bag<N x [a: f64?, b: f64]>) -> !matrix.matrix<N x 2 x f64, [a, b]>
  %y = matrix.to_tensor %x : (!matrix.matrix<N x 2 x f64, [a, b]>) -> tensor<?x2xf64, #graph.dims<[N, 2]>>
  func.return %y : tensor<?x2xf64, #graph.dims<[N, 2]>>
}

// -----

// A filter of a matrix that comes from no table.
// CHECK-LABEL: func.func @matrix
// CHECK:         graph.positions
// CHECK:         graph.gather %x
func.func @matrix(%x: !matrix.matrix<N x 2 x f64, [a, b]>) -> tensor<?x2xf64, #graph.dims<[K, 2]>> {
  %y = matrix.filter %x {reads = array<i64: 1, 0>, rows = "K"} : (!matrix.matrix<N x 2 x f64, [a, b]>) -> !matrix.matrix<K x 2 x f64, [a, b]> {
  ^bb0(%b: f64, %a: f64):
    %r = arith.cmpf ogt, %b, %a : f64
    matrix.yield %r : i1
  }
  %z = matrix.to_tensor %y : (!matrix.matrix<K x 2 x f64, [a, b]>) -> tensor<?x2xf64, #graph.dims<[K, 2]>>
  func.return %z : tensor<?x2xf64, #graph.dims<[K, 2]>>
}
