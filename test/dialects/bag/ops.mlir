// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Tables, and how their columns become matrices.

// CHECK-LABEL: func.func @tables
func.func @tables(%numbers: tensor<?x2xf64, #graph.dims<[N, 2]>>, %codes: tensor<?x1xi32, #graph.dims<[N, 1]>>, %table: tensor<4x2xf64>) {
  // CHECK-NEXT: %t = bag.pack %numbers, %codes {columns = ["age", "town", "pay in euros"], types = [f64, !bag.dict<3>, f64], optional = ["age"]}
  // CHECK-SAME:   -> !bag.bag<N x [age: f64?, town: !bag.dict<3>, "pay in euros": f64]>
  %t = bag.pack %numbers, %codes {columns = ["age", "town", "pay in euros"], types = [f64, !bag.dict<3>, f64], optional = ["age"]} : (tensor<?x2xf64, #graph.dims<[N, 2]>>, tensor<?x1xi32, #graph.dims<[N, 1]>>) -> !bag.bag<N x [age: f64?, town: !bag.dict<3>, "pay in euros": f64]>
  // CHECK-NEXT: bag.to_matrix %t {columns = ["pay in euros", "age"]} {{.*}} -> !matrix.matrix<N x 2 x f64, ["pay in euros", age]>
  %0 = bag.to_matrix %t {columns = ["pay in euros", "age"]} : (!bag.bag<N x [age: f64?, town: !bag.dict<3>, "pay in euros": f64]>) -> !matrix.matrix<N x 2 x f64, ["pay in euros", age]>
  // CHECK-NEXT: bag.one_hot %t {column = "town", dtype = f32} {{.*}} -> !matrix.matrix<N x 3 x f32, [town * 3]>
  %1 = bag.one_hot %t {column = "town", dtype = f32} : (!bag.bag<N x [age: f64?, town: !bag.dict<3>, "pay in euros": f64]>) -> !matrix.matrix<N x 3 x f32, [town * 3]>
  // CHECK-NEXT: bag.lookup %t, %table {column = "town"} {{.*}} -> !matrix.matrix<N x 2 x f64, [town * 2]>
  %2 = bag.lookup %t, %table {column = "town"} : (!bag.bag<N x [age: f64?, town: !bag.dict<3>, "pay in euros": f64]>, tensor<4x2xf64>) -> !matrix.matrix<N x 2 x f64, [town * 2]>
  func.return
}

// CHECK-LABEL: func.func @sizes(%t: !bag.bag<7 x [a: f32]>, %u: !bag.bag<N + 1 x [c: !bag.dict<0>]>)
func.func @sizes(%t: !bag.bag<7 x [a: f32]>, %u: !bag.bag<N + 1 x [c: !bag.dict<0>]>) {
  // CHECK-NEXT: bag.one_hot %u {column = "c", dtype = f64} {{.*}} -> !matrix.matrix<N + 1 x 0 x f64, []>
  %0 = bag.one_hot %u {column = "c", dtype = f64} : (!bag.bag<N + 1 x [c: !bag.dict<0>]>) -> !matrix.matrix<N + 1 x 0 x f64, []>
  func.return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%t: !bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>]>, %m: tensor<f64>) {
  // CHECK-NEXT: %u = bag.map %t (%m) {reads = ["pay"], writes = ["above"]} {{.*}} -> !bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>, above: f64?]> {
  %u = bag.map %t (%m) {reads = ["pay"], writes = ["above"]} : (!bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>]>, tensor<f64>) -> !bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>, above: f64?]> {
  // CHECK-NEXT: ^bb0(%pay: f64, %c: f64):
  ^bb0(%pay: f64, %c: f64):
    %r = arith.subf %pay, %c : f64
    // CHECK: bag.yield %r : f64
    bag.yield %r : f64
  }
  // CHECK: bag.filter %t {reads = ["town"], rows = "K"} {{.*}} -> !bag.bag<K x [age: f64, pay: f64, town: !bag.dict<3>]> {
  %f = bag.filter %t {reads = ["town"], rows = "K"} : (!bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>]>) -> !bag.bag<K x [age: f64, pay: f64, town: !bag.dict<3>]> {
  ^bb1(%town: i32):
    %two = arith.constant 2 : i32
    %is = arith.cmpi eq, %town, %two : i32
    bag.yield %is : i1
  }
  // CHECK: bag.fold %f {reads = ["pay"], kinds = ["add", "max"], by = "town"} {{.*}} -> (tensor<3xf64>, tensor<3xf64>) {
  %s, %h = bag.fold %f {reads = ["pay"], kinds = ["add", "max"], by = "town"} : (!bag.bag<K x [age: f64, pay: f64, town: !bag.dict<3>]>) -> (tensor<3xf64>, tensor<3xf64>) {
  ^bb2(%p: f64):
    bag.yield %p, %p : f64, f64
  }
  func.return
}

// A columnar table has a tensor for each column.
// CHECK-LABEL: func.func @columnar
func.func @columnar(%a: tensor<?x1xf64, #graph.dims<[N, 1]>>, %c: tensor<?x1xi32, #graph.dims<[N, 1]>>) {
  // CHECK-NEXT: %t = bag.pack %a, %c {columns = ["a", "c"], types = [f64, !bag.dict<3>], optional = [], columnar}
  // CHECK-SAME:   -> !bag.bag<N x [a: f64, c: !bag.dict<3>], columnar>
  %t = bag.pack %a, %c {columns = ["a", "c"], types = [f64, !bag.dict<3>], optional = [], columnar} : (tensor<?x1xf64, #graph.dims<[N, 1]>>, tensor<?x1xi32, #graph.dims<[N, 1]>>) -> !bag.bag<N x [a: f64, c: !bag.dict<3>], columnar>
  // CHECK-NEXT: bag.column %t {column = "c"} {{.*}} -> tensor<?xi32, #graph.dims<[N]>>
  %0 = bag.column %t {column = "c"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>], columnar>) -> tensor<?xi32, #graph.dims<[N]>>
  func.return
}

// CHECK-LABEL: func.func @pairs
func.func @pairs(%l: !bag.bag<N x [town: !bag.dict<3>]>, %r: !bag.bag<M x [name: !bag.dict<3>, size: f64?]>) {
  // CHECK-NEXT: bag.join %l, %r {on = ["town", "name"], reads = ["size"], writes = ["s"], rows = "J"} {{.*}} -> !bag.bag<J x [town: !bag.dict<3>, s: f64?]>
  %j = bag.join %l, %r {on = ["town", "name"], reads = ["size"], writes = ["s"], rows = "J"} : (!bag.bag<N x [town: !bag.dict<3>]>, !bag.bag<M x [name: !bag.dict<3>, size: f64?]>) -> !bag.bag<J x [town: !bag.dict<3>, s: f64?]>
  func.return
}

// CHECK-LABEL: func.func @comprehension
func.func @comprehension(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [b: f64]>, %m: tensor<f64>) {
  // CHECK-NEXT: bag.comprehension %l, %r (%m) {reads = {{\[\["a"\], \["b"\]\]}}, keeps = {{\[\["c"\], \[\]\]}}, guards = 1 : i64, writes = ["v"], rows = "K"}
  // CHECK-SAME:   -> !bag.bag<K x [c: !bag.dict<3>, v: f64?]> {
  %u = bag.comprehension %l, %r (%m) {reads = [["a"], ["b"]], keeps = [["c"], []], guards = 1 : i64, writes = ["v"], rows = "K"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, !bag.bag<M x [b: f64]>, tensor<f64>) -> !bag.bag<K x [c: !bag.dict<3>, v: f64?]> {
  // CHECK-NEXT: ^bb0(%a: f64, %b: f64, %s: f64):
  ^bb0(%a: f64, %b: f64, %s: f64):
    %g = arith.cmpf ogt, %a, %b : f64
    // CHECK: bag.yield %g, %s : i1, f64
    bag.yield %g, %s : i1, f64
  }
  func.return
}
