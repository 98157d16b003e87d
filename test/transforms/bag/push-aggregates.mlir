// RUN: opt-tool %s --split-input-file --bag-push-aggregates --check-semantics | filecheck %s
// RUN: opt-tool %s --split-input-file --apply-pattern bag-push-aggregates.fold-of-joined | filecheck %s

// The left rows are counted and summed by key, and the right rows that have partners take part with these sums.
// CHECK-LABEL: func.func @product
// CHECK:         %[[N:.*]], %[[S:.*]], %[[H:.*]] = bag.fold %l (%m) {kinds = ["add", "add", "add"], by = "c", reads = ["a"]}
// CHECK:           %[[ONE:.*]] = arith.constant 1.000000e+00
// CHECK:           bag.yield %[[ONE]], %{{.*}}, %[[ONE]]
// CHECK:         %[[A:.*]] = bag.attach %r, %[[N]], %[[S]], %[[H]] {by = "d", writes = ["pairs@", "add@0", "max@1"]}
// CHECK-NEXT:    %[[F:.*]] = bag.filter %[[A]] {rows = "J", reads = ["pairs@"]}
// CHECK:         bag.fold %[[F]] {kinds = ["add", "max"], reads = ["e", "add@0"]}
func.func @product(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<3>, e: f64]>, %m: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  %j = bag.join %l, %r {on = ["c", "d"], reads = ["e"], writes = ["f"], rows = "J"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> !bag.bag<J x [a: f64, c: !bag.dict<3>, f: f64]>
  %s, %h = bag.fold %j (%m) {reads = ["a", "f"], kinds = ["add", "max"]} : (!bag.bag<J x [a: f64, c: !bag.dict<3>, f: f64]>, tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  ^bb0(%a: f64, %f: f64, %c: f64):
    %d = arith.subf %a, %c : f64
    %v = arith.mulf %f, %d : f64
    bag.yield %v, %f : f64, f64
  }
  func.return %s, %h : tensor<f64>, tensor<f64>
}

// -----

// The least of the left rows is that of their groups; a number of neither row is summed as often as there are pairs.
// CHECK-LABEL: func.func @one_side
// CHECK:         bag.fold %l {kinds = ["add", "min", "add"], by = "c", reads = ["a"]}
// CHECK:         bag.fold %{{.*}} {kinds = ["min", "add"], reads = ["min@0", "add@1"]}
func.func @one_side(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<3>]>) -> (tensor<f64>, tensor<f64>) {
  %j = bag.join %l, %r {on = ["c", "d"], reads = [], writes = [], rows = "J"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<3>]>) -> !bag.bag<J x [a: f64, c: !bag.dict<3>]>
  %s, %n = bag.fold %j {reads = ["a"], kinds = ["min", "add"]} : (!bag.bag<J x [a: f64, c: !bag.dict<3>]>) -> (tensor<f64>, tensor<f64>) {
  ^bb0(%a: f64):
    %one = arith.constant 1.0 : f64
    bag.yield %a, %one : f64, f64
  }
  func.return %s, %n : tensor<f64>, tensor<f64>
}

// -----

// What is no product of one number of each row needs the pairs; so does the greatest of products.
// CHECK-LABEL: func.func @no_product
// CHECK-NEXT:    bag.join
// CHECK-NEXT:    bag.fold
// CHECK:         bag.fold
func.func @no_product(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> (tensor<f64>, tensor<f64>) {
  %j = bag.join %l, %r {on = ["c", "d"], reads = ["e"], writes = ["f"], rows = "J"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> !bag.bag<J x [a: f64, c: !bag.dict<3>, f: f64]>
  %s = bag.fold %j {reads = ["a", "f"], kinds = ["add"]} : (!bag.bag<J x [a: f64, c: !bag.dict<3>, f: f64]>) -> tensor<f64> {
  ^bb0(%a: f64, %f: f64):
    %v = arith.divf %a, %f : f64
    bag.yield %v : f64
  }
  %h = bag.fold %j {reads = ["a", "f"], kinds = ["max"]} : (!bag.bag<J x [a: f64, c: !bag.dict<3>, f: f64]>) -> tensor<f64> {
  ^bb1(%a: f64, %f: f64):
    %v = arith.mulf %a, %f : f64
    bag.yield %v : f64
  }
  func.return %s, %h : tensor<f64>, tensor<f64>
}
