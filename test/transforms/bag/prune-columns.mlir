// RUN: opt-tool %s --split-input-file --bag-prune-columns | filecheck %s

// CHECK-LABEL: func.func @unread(%t: !bag.bag<N x [age: f64?, town: !bag.dict<3>]>)
func.func @unread(%t: !bag.bag<N x [age: f64?, pay: f64?, town: !bag.dict<3>, job: !bag.dict<2>]>) -> (!matrix.matrix<N x 1 x f64, [age]>, !matrix.matrix<N x 3 x f64, [town * 3]>) {
  // CHECK: bag.to_matrix %t {columns = ["age"]} : (!bag.bag<N x [age: f64?, town: !bag.dict<3>]>)
  %x = bag.to_matrix %t {columns = ["age"]} : (!bag.bag<N x [age: f64?, pay: f64?, town: !bag.dict<3>, job: !bag.dict<2>]>) -> !matrix.matrix<N x 1 x f64, [age]>
  %h = bag.one_hot %t {column = "town", dtype = f64} : (!bag.bag<N x [age: f64?, pay: f64?, town: !bag.dict<3>, job: !bag.dict<2>]>) -> !matrix.matrix<N x 3 x f64, [town * 3]>
  func.return %x, %h : !matrix.matrix<N x 1 x f64, [age]>, !matrix.matrix<N x 3 x f64, [town * 3]>
}

// -----

// A table that is given back has all of its columns; one that nobody reads keeps them, as a table has at least one.
// CHECK-LABEL: func.func @returned(%t: !bag.bag<N x [age: f64, pay: f64]>, %u: !bag.bag<M x [a: f64]>)
func.func @returned(%t: !bag.bag<N x [age: f64, pay: f64]>, %u: !bag.bag<M x [a: f64]>) -> !bag.bag<N x [age: f64, pay: f64]> {
  %x = bag.to_matrix %t {columns = ["age"]} : (!bag.bag<N x [age: f64, pay: f64]>) -> !matrix.matrix<N x 1 x f64, [age]>
  func.return %t : !bag.bag<N x [age: f64, pay: f64]>
}

// -----

// Maps and filters are followed to what reads their columns in the end; the types of what they make follow.
// CHECK-LABEL: func.func @through(%t: !bag.bag<N x [a: f64, c: f64], columnar>)
// CHECK:         bag.filter %t {{.*}} -> !bag.bag<K x [a: f64, c: f64], columnar>
// CHECK:         bag.map {{.*}} -> !bag.bag<K x [a: f64, c: f64, b: f64?], columnar>
func.func @through(%t: !bag.bag<N x [a: f64, b: f64, c: f64, d: f64], columnar>) -> tensor<?xf64, #graph.dims<[K]>> {
  %u = bag.filter %t {reads = ["a"], rows = "K"} : (!bag.bag<N x [a: f64, b: f64, c: f64, d: f64], columnar>) -> !bag.bag<K x [a: f64, b: f64, c: f64, d: f64], columnar> {
  ^bb0(%a: f64):
    %r = arith.cmpf ogt, %a, %a : f64
    bag.yield %r : i1
  }
  %v = bag.map %u {reads = ["c"], writes = ["b"]} : (!bag.bag<K x [a: f64, b: f64, c: f64, d: f64], columnar>) -> !bag.bag<K x [a: f64, b: f64?, c: f64, d: f64], columnar> {
  ^bb1(%c: f64):
    bag.yield %c : f64
  }
  %b = bag.column %v {column = "b"} : (!bag.bag<K x [a: f64, b: f64?, c: f64, d: f64], columnar>) -> tensor<?xf64, #graph.dims<[K]>>
  func.return %b : tensor<?xf64, #graph.dims<[K]>>
}
