// RUN: opt-tool %s --apply-pattern tables-to-graph.gather-columns | filecheck %s --check-prefix=GATHER
// RUN: opt-tool %s --apply-pattern tables-to-graph.compare-codes | filecheck %s --check-prefix=COMPARE
// RUN: opt-tool %s --apply-pattern tables-to-graph.read-table | filecheck %s --check-prefix=READ
// RUN: opt-tool %s --apply-pattern tables-to-graph.forget-origins | filecheck %s --check-prefix=FORGET

// Each pattern alone turns its own operation into one of tensors, and leaves the others.
// GATHER:         graph.kernel
// GATHER-NOT:     bag.to_matrix
// GATHER:         bag.one_hot
// COMPARE:        bag.to_matrix
// COMPARE:        arith.cmpi eq
// COMPARE-NOT:    bag.one_hot
// READ:           bag.one_hot
// READ:           graph.kernel (%codes, %table)
// READ-NOT:       bag.lookup
func.func @table(%numbers: tensor<?x2xf64, #graph.dims<[N, 2]>>, %codes: tensor<?x1xi32, #graph.dims<[N, 1]>>, %table: tensor<4x2xf64>) -> (tensor<?x2xf64, #graph.dims<[N, 2]>>, tensor<?x3xf64, #graph.dims<[N, 3]>>, tensor<?x2xf64, #graph.dims<[N, 2]>>) {
  %t = bag.pack %numbers, %codes {columns = ["age", "town", "pay"], types = [f64, !bag.dict<3>, f64], optional = []} : (tensor<?x2xf64, #graph.dims<[N, 2]>>, tensor<?x1xi32, #graph.dims<[N, 1]>>) -> !bag.bag<N x [age: f64, town: !bag.dict<3>, pay: f64]>
  %0 = bag.to_matrix %t {columns = ["pay", "age"]} : (!bag.bag<N x [age: f64, town: !bag.dict<3>, pay: f64]>) -> !matrix.matrix<N x 2 x f64, [pay, age]>
  %1 = bag.one_hot %t {column = "town", dtype = f64} : (!bag.bag<N x [age: f64, town: !bag.dict<3>, pay: f64]>) -> !matrix.matrix<N x 3 x f64, [town * 3]>
  %2 = bag.lookup %t, %table {column = "town"} : (!bag.bag<N x [age: f64, town: !bag.dict<3>, pay: f64]>, tensor<4x2xf64>) -> !matrix.matrix<N x 2 x f64, [town * 2]>
  %3 = matrix.to_tensor %0 : (!matrix.matrix<N x 2 x f64, [pay, age]>) -> tensor<?x2xf64, #graph.dims<[N, 2]>>
  %4 = matrix.to_tensor %1 : (!matrix.matrix<N x 3 x f64, [town * 3]>) -> tensor<?x3xf64, #graph.dims<[N, 3]>>
  %5 = matrix.to_tensor %2 : (!matrix.matrix<N x 2 x f64, [town * 2]>) -> tensor<?x2xf64, #graph.dims<[N, 2]>>
  func.return %3, %4, %5 : tensor<?x2xf64, #graph.dims<[N, 2]>>, tensor<?x3xf64, #graph.dims<[N, 3]>>, tensor<?x2xf64, #graph.dims<[N, 2]>>
}

// FORGET-LABEL:   func.func @there_and_back
// FORGET:           func.return %x
func.func @there_and_back(%x: tensor<?x2xf64, #graph.dims<[N, 2]>>) -> tensor<?x2xf64, #graph.dims<[N, 2]>> {
  %m = matrix.from_tensor %x {origins = ["age", "pay"]} : (tensor<?x2xf64, #graph.dims<[N, 2]>>) -> !matrix.matrix<N x 2 x f64, [age, pay]>
  %y = matrix.to_tensor %m : (!matrix.matrix<N x 2 x f64, [age, pay]>) -> tensor<?x2xf64, #graph.dims<[N, 2]>>
  func.return %y : tensor<?x2xf64, #graph.dims<[N, 2]>>
}
