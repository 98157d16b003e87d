// RUN: opt-tool %s --apply-pattern tables-to-graph.gather-columns | filecheck %s --check-prefix=GATHER
// RUN: opt-tool %s --apply-pattern tables-to-graph.compare-codes | filecheck %s --check-prefix=COMPARE
// RUN: opt-tool %s --apply-pattern tables-to-graph.read-table | filecheck %s --check-prefix=READ
// RUN: opt-tool %s --apply-pattern tables-to-graph.forget-origins | filecheck %s --check-prefix=FORGET
// RUN: opt-tool %s --apply-pattern tables-to-graph.read-column | filecheck %s --check-prefix=COLUMN
// RUN: opt-tool %s --apply-pattern tables-to-graph.map-rows | filecheck %s --check-prefix=MAP
// RUN: opt-tool %s --apply-pattern tables-to-graph.keep-rows | filecheck %s --check-prefix=KEEP
// RUN: opt-tool %s --apply-pattern tables-to-graph.keep-matrix-rows | filecheck %s --check-prefix=MATRIX
// RUN: opt-tool %s --apply-pattern tables-to-graph.join-rows | filecheck %s --check-prefix=JOIN

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

// COLUMN-LABEL:   func.func @rows
// COLUMN:           bag.filter
// COLUMN:           graph.reshape
// COLUMN-NOT:       bag.column %t
// MAP-LABEL:      func.func @rows
// MAP-NOT:          bag.map
// MAP:              bag.filter
// KEEP-LABEL:     func.func @rows
// KEEP:             bag.map
// KEEP:             graph.positions
// KEEP-NOT:         bag.filter
// MATRIX-LABEL:   func.func @rows
// MATRIX:           bag.filter
// MATRIX:           graph.positions
// MATRIX-NOT:       matrix.filter
func.func @rows(%a: tensor<?x1xf64, #graph.dims<[N, 1]>>, %x: !matrix.matrix<N x 1 x f64, [a]>) {
  %t = bag.pack %a {columns = ["a"], types = [f64], optional = []} : (tensor<?x1xf64, #graph.dims<[N, 1]>>) -> !bag.bag<N x [a: f64]>
  %m = bag.map %t {reads = ["a"], writes = ["b"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [a: f64, b: f64?]> {
  ^bb0(%v: f64):
    bag.yield %v : f64
  }
  %u = bag.filter %t {reads = ["a"], rows = "K"} : (!bag.bag<N x [a: f64]>) -> !bag.bag<K x [a: f64]> {
  ^bb1(%v: f64):
    %r = arith.cmpf ogt, %v, %v : f64
    bag.yield %r : i1
  }
  %c = bag.column %t {column = "a"} : (!bag.bag<N x [a: f64]>) -> tensor<?xf64, #graph.dims<[N]>>
  %f = matrix.filter %x {reads = array<i64: 0>, rows = "L"} : (!matrix.matrix<N x 1 x f64, [a]>) -> !matrix.matrix<L x 1 x f64, [a]> {
  ^bb2(%v: f64):
    %r = arith.cmpf ogt, %v, %v : f64
    matrix.yield %r : i1
  }
  func.return
}

// JOIN-LABEL:     func.func @pairs
// JOIN:             graph.size "J"
// JOIN-NOT:         bag.join
// JOIN:             bag.column
func.func @pairs(%c: tensor<?x1xi32, #graph.dims<[N, 1]>>) {
  %t = bag.pack %c {columns = ["c"], types = [!bag.dict<3>], optional = []} : (tensor<?x1xi32, #graph.dims<[N, 1]>>) -> !bag.bag<N x [c: !bag.dict<3>]>
  %j = bag.join %t, %t {on = ["c", "c"], reads = ["c"], writes = ["d"], rows = "J"} : (!bag.bag<N x [c: !bag.dict<3>]>, !bag.bag<N x [c: !bag.dict<3>]>) -> !bag.bag<J x [c: !bag.dict<3>, d: !bag.dict<3>]>
  %d = bag.column %j {column = "d"} : (!bag.bag<J x [c: !bag.dict<3>, d: !bag.dict<3>]>) -> tensor<?xi32, #graph.dims<[J]>>
  func.return
}
