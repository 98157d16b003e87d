// RUN: opt-tool %s --split-input-file --bag-fuse-folds | filecheck %s
// RUN: opt-tool %s --split-input-file --apply-pattern bag-fuse-folds.fuse-with-fold | filecheck %s

// Three folds are one; the fourth needs a mean that they find, and stays a pass of its own.
// CHECK-LABEL: func.func @all
// CHECK-NEXT:    %[[S:[a-z_0-9]*]], %{{.*}}, %{{.*}} = bag.fold %t {kinds = ["add", "max", "add"], reads = ["a", "b"]}
// CHECK:         bag.yield
// CHECK:         bag.fold %t (%[[S]]) {reads = ["a"], kinds = ["add"]}
// CHECK-NOT:     bag.fold
func.func @all(%t: !bag.bag<N x [a: f64, b: f64]>) -> (tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>) {
  %s = bag.fold %t {reads = ["a"], kinds = ["add"]} : (!bag.bag<N x [a: f64, b: f64]>) -> tensor<f64> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  %h = bag.fold %t {reads = ["b"], kinds = ["max"]} : (!bag.bag<N x [a: f64, b: f64]>) -> tensor<f64> {
  ^bb1(%b: f64):
    bag.yield %b : f64
  }
  %q = bag.fold %t (%s) {reads = ["a"], kinds = ["add"]} : (!bag.bag<N x [a: f64, b: f64]>, tensor<f64>) -> tensor<f64> {
  ^bb2(%a: f64, %m: f64):
    %r = arith.subf %a, %m : f64
    bag.yield %r : f64
  }
  %k = bag.fold %t {reads = ["b"], kinds = ["add"]} : (!bag.bag<N x [a: f64, b: f64]>) -> tensor<f64> {
  ^bb3(%b: f64):
    bag.yield %b : f64
  }
  func.return %s, %h, %q, %k : tensor<f64>, tensor<f64>, tensor<f64>, tensor<f64>
}

// -----

// Folds by groups and of all rows differ.
// CHECK-LABEL: func.func @groups
// CHECK:         bag.fold
// CHECK:         bag.fold
func.func @groups(%t: !bag.bag<N x [a: f64, g: !bag.dict<2>]>) -> (tensor<f64>, tensor<2xf64>) {
  %s = bag.fold %t {reads = ["a"], kinds = ["add"]} : (!bag.bag<N x [a: f64, g: !bag.dict<2>]>) -> tensor<f64> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  %h = bag.fold %t {reads = ["a"], kinds = ["add"], by = "g"} : (!bag.bag<N x [a: f64, g: !bag.dict<2>]>) -> tensor<2xf64> {
  ^bb1(%a: f64):
    bag.yield %a : f64
  }
  func.return %s, %h : tensor<f64>, tensor<2xf64>
}
