// RUN: opt-tool %s --split-input-file --tables-to-graph --check-semantics | filecheck %s

// The right rows are sorted by key and the pairs counted, before a kernel of as many results writes which they are.
// CHECK-LABEL: func.func @joined
// CHECK:         %[[FIRST:.*]], %[[ORDER:.*]], %[[COUNT:.*]] = graph.kernel (%p_1, %t)
// CHECK:         %[[J:.*]] = graph.size "J" = %[[COUNT]] : tensor<i64>
// CHECK-NEXT:    %[[AT:.*]], %[[OTHER:.*]] = graph.kernel (%p_1, %[[FIRST]], %[[ORDER]], %[[J]])
// CHECK:         %[[AGE:.*]] = graph.gather %p, %[[AT]]
// CHECK:         %[[SIZE:.*]] = graph.gather %t_1, %[[OTHER]]
// CHECK:         graph.concat %[[AGE]], %[[SIZE]]
func.func @joined(%p: !bag.bag<N x [age: f64, town: !bag.dict<3>], columnar>, %t: !bag.bag<M x [name: !bag.dict<3>, size: f64], columnar>) -> tensor<?x2xf64, #graph.dims<[J, 2]>> {
  %j = bag.join %p, %t {on = ["town", "name"], reads = ["size"], writes = ["size"], rows = "J"} : (!bag.bag<N x [age: f64, town: !bag.dict<3>], columnar>, !bag.bag<M x [name: !bag.dict<3>, size: f64], columnar>) -> !bag.bag<J x [age: f64, town: !bag.dict<3>, size: f64], columnar>
  %x = bag.to_matrix %j {columns = ["age", "size"]} : (!bag.bag<J x [age: f64, town: !bag.dict<3>, size: f64], columnar>) -> !matrix.matrix<J x 2 x f64, [age, size]>
  %y = matrix.to_tensor %x : (!matrix.matrix<J x 2 x f64, [age, size]>) -> tensor<?x2xf64, #graph.dims<[J, 2]>>
  func.return %y : tensor<?x2xf64, #graph.dims<[J, 2]>>
}

// -----

// The sum over pairs of tables that are given as tables.
// CHECK-LABEL: func.func @summed
// CHECK:         graph.size "J"
// CHECK:         te.reduce add
func.func @summed(%l: !bag.bag<N x [age: f64, town: !bag.dict<4>]>, %r: !bag.bag<M x [name: !bag.dict<4>, size: f64]>) -> tensor<f64> {
  %j = bag.join %l, %r {on = ["town", "name"], reads = ["size"], writes = ["size"], rows = "J"} : (!bag.bag<N x [age: f64, town: !bag.dict<4>]>, !bag.bag<M x [name: !bag.dict<4>, size: f64]>) -> !bag.bag<J x [age: f64, town: !bag.dict<4>, size: f64]>
  %s = bag.fold %j {reads = ["age", "size"], kinds = ["add"]} : (!bag.bag<J x [age: f64, town: !bag.dict<4>, size: f64]>) -> tensor<f64> {
  ^bb0(%age: f64, %size: f64):
    %v = arith.mulf %age, %size : f64
    bag.yield %v : f64
  }
  func.return %s : tensor<f64>
}
