// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What tables refuse.

func.func @f(%x: tensor<?x2xf64, #graph.dims<[N, 2]>>) {
  // expected-error@+1 {{these columns are in tensor<?x1xf64, #graph.dims<[N, 1]>>, tensor<?x1xi32, #graph.dims<[N, 1]>>, not in tensor<?x2xf64, #graph.dims<[N, 2]>>}}
  %t = bag.pack %x {columns = ["a", "b"], types = [f64, !bag.dict<3>], optional = []} : (tensor<?x2xf64, #graph.dims<[N, 2]>>) -> !bag.bag<N x [a: f64, b: !bag.dict<3>]>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64, c: !bag.dict<3>]>) {
  // expected-error@+1 {{the bag has no column b; it has a, c}}
  %x = bag.to_matrix %t {columns = ["a", "b"]} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>) -> !matrix.matrix<N x 2 x f64, [a, b]>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64, b: f32]>) {
  // expected-error@+1 {{columns of one type of numbers become a matrix, not of ['f64', 'f32']}}
  %x = bag.to_matrix %t {columns = ["a", "b"]} : (!bag.bag<N x [a: f64, b: f32]>) -> !matrix.matrix<N x 2 x f64, [a, b]>
  func.return
}

// -----

// Where columns come from is a part of the type.
func.func @f(%t: !bag.bag<N x [a: f64, b: f64]>) {
  // expected-error@+1 {{bag.to_matrix makes !matrix.matrix<N x 2 x f64, [a, b]>, not !matrix.matrix<N x 2 x f64, [b, a]>}}
  %x = bag.to_matrix %t {columns = ["a", "b"]} : (!bag.bag<N x [a: f64, b: f64]>) -> !matrix.matrix<N x 2 x f64, [b, a]>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{column a holds numbers, not codes of a dictionary}}
  %x = bag.one_hot %t {column = "a", dtype = f64} : (!bag.bag<N x [a: f64]>) -> !matrix.matrix<N x 3 x f64, [a * 3]>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [c: !bag.dict<3>]>, %table: tensor<3x2xf64>) {
  // expected-error@+1 {{a dictionary of 3 values needs a table of 4 rows, one for others, not tensor<3x2xf64>}}
  %x = bag.lookup %t, %table {column = "c"} : (!bag.bag<N x [c: !bag.dict<3>]>, tensor<3x2xf64>) -> !matrix.matrix<N x 2 x f64, [c * 2]>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{the function takes f64, not f32}}
  %u = bag.map %t {reads = ["a"], writes = ["b"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [a: f64, b: f64?]> {
  ^bb0(%a: f32):
    %r = arith.constant 1.0 : f64
    bag.yield %r : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{the function makes 2 of f64, not f64}}
  %u = bag.map %t {reads = ["a"], writes = ["b", "c"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [a: f64, b: f64?, c: f64?]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{the function of a filter makes one i1}}
  %u = bag.filter %t {reads = ["a"], rows = "K"} : (!bag.bag<N x [a: f64]>) -> !bag.bag<K x [a: f64]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{values are joined by add, min, max, not by mul}}
  %s = bag.fold %t {reads = ["a"], kinds = ["mul"]} : (!bag.bag<N x [a: f64]>) -> tensor<f64> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{column a holds numbers, not codes of a dictionary}}
  %s = bag.fold %t {reads = ["a"], kinds = ["add"], by = "a"} : (!bag.bag<N x [a: f64]>) -> tensor<1xf64> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>, %m: tensor<2xf64>) {
  // expected-error@+1 {{what all rows share is a tensor<f64>, not tensor<2xf64>}}
  %s = bag.fold %t (%m) {reads = ["a"], kinds = ["add"]} : (!bag.bag<N x [a: f64]>, tensor<2xf64>) -> tensor<f64> {
  ^bb0(%a: f64, %b: f64):
    bag.yield %a : f64
  }
  func.return
}

// -----

func.func @f(%x: tensor<?x2xf64, #graph.dims<[N, 2]>>) {
  // expected-error@+1 {{these columns are in tensor<?x1xf64, #graph.dims<[N, 1]>>, tensor<?x1xf64, #graph.dims<[N, 1]>>, not in tensor<?x2xf64, #graph.dims<[N, 2]>>}}
  %t = bag.pack %x {columns = ["a", "b"], types = [f64, f64], optional = [], columnar} : (tensor<?x2xf64, #graph.dims<[N, 2]>>) -> !bag.bag<N x [a: f64, b: f64], columnar>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{the bag has no column b; it has a}}
  %x = bag.column %t {column = "b"} : (!bag.bag<N x [a: f64]>) -> tensor<?xf64, #graph.dims<[N]>>
  func.return
}

// -----

func.func @f(%l: !bag.bag<N x [a: !bag.dict<3>]>, %r: !bag.bag<M x [b: !bag.dict<4>]>) {
  // expected-error@+1 {{keys are codes of one dictionary, not !bag.dict<3> and !bag.dict<4>}}
  %j = bag.join %l, %r {on = ["a", "b"], reads = [], writes = [], rows = "J"} : (!bag.bag<N x [a: !bag.dict<3>]>, !bag.bag<M x [b: !bag.dict<4>]>) -> !bag.bag<J x [a: !bag.dict<3>]>
  func.return
}

// -----

func.func @f(%l: !bag.bag<N x [a: !bag.dict<3>]>) {
  // expected-error@+1 {{a join writes two columns of one name}}
  %j = bag.join %l, %l {on = ["a", "a"], reads = ["a", "a"], writes = ["a", "a"], rows = "J"} : (!bag.bag<N x [a: !bag.dict<3>]>, !bag.bag<N x [a: !bag.dict<3>]>) -> !bag.bag<J x [a: !bag.dict<3>]>
  func.return
}

// -----

func.func @f(%l: !bag.bag<N x [a: !bag.dict<3>]>) {
  // expected-error@+1 {{a join has two keys, and a name for each column that it reads}}
  %j = bag.join %l, %l {on = ["a"], reads = [], writes = [], rows = "J"} : (!bag.bag<N x [a: !bag.dict<3>]>, !bag.bag<N x [a: !bag.dict<3>]>) -> !bag.bag<J x [a: !bag.dict<3>]>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{a comprehension has tables, and reads and keeps columns of each of them}}
  %u = bag.comprehension %t {reads = [["a"]], keeps = [], guards = 0 : i64, writes = ["v"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [v: f64?]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{the number of rows has a name where there are guards, and there alone}}
  %u = bag.comprehension %t {reads = [["a"]], keeps = [[]], guards = 0 : i64, writes = ["v"], rows = "K"} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [v: f64?]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{the function makes i1, f64, not f64}}
  %u = bag.comprehension %t {reads = [["a"]], keeps = [[]], guards = 1 : i64, writes = ["v"], rows = "K"} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [v: f64?]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{the function takes f64, not f32}}
  %u = bag.comprehension %t {reads = [["a"]], keeps = [[]], guards = 0 : i64, writes = ["v"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [v: f64?]> {
  ^bb0(%a: f32):
    %r = arith.constant 1.0 : f64
    bag.yield %r : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64]>) {
  // expected-error@+1 {{the bag has no column b; it has a}}
  %u = bag.comprehension %t {reads = [["a"]], keeps = [["b"]], guards = 0 : i64, writes = ["v"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [v: f64?]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %s: tensor<4xf64>) {
  // expected-error@+1 {{vector 0 is tensor<4xf64>, where tensor<3xf64> is needed}}
  %u = bag.attach %t, %s {by = "c", writes = ["s"]} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, tensor<4xf64>) -> !bag.bag<N x [a: f64, c: !bag.dict<3>]>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %s: tensor<3xf64>) {
  // expected-error@+1 {{the table has a column c already}}
  %u = bag.attach %t, %s {by = "c", writes = ["c"]} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, tensor<3xf64>) -> !bag.bag<N x [a: f64, c: !bag.dict<3>]>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %s: tensor<3xf64>) {
  // expected-error@+1 {{column a holds numbers, not codes of a dictionary}}
  %u = bag.attach %t, %s {by = "a", writes = ["s"]} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, tensor<3xf64>) -> !bag.bag<N x [a: f64, c: !bag.dict<3>]>
  func.return
}

// -----

func.func @f(%t: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %s: tensor<3xf64>) {
  // expected-error@+1 {{there are 0 names for 1 vectors}}
  %u = bag.attach %t, %s {by = "c", writes = []} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, tensor<3xf64>) -> !bag.bag<N x [a: f64, c: !bag.dict<3>]>
  func.return
}
