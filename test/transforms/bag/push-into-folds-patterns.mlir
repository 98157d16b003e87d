// RUN: opt-tool %s --apply-pattern bag-push-into-folds.fold-of-mapped | filecheck %s --check-prefix=MAPPED
// RUN: opt-tool %s --apply-pattern bag-push-into-folds.fold-of-filtered | filecheck %s --check-prefix=FILTERED

// Each pattern alone takes its own operation into a fold, and leaves that as it is for others.
// MAPPED:        bag.fold %t {kinds = ["add"], reads = ["a"]}
// MAPPED-NEXT:   ^bb0(%a: f64):
// MAPPED-NEXT:     arith.addf %a, %a
// MAPPED:        bag.fold %v {reads = ["a"], kinds = ["add"]}
// FILTERED:      bag.fold %u {reads = ["b"], kinds = ["add"]}
// FILTERED:      bag.fold %t {kinds = ["add"], reads = ["a"]}
// FILTERED:        arith.cmpf ogt
// FILTERED:        arith.select
func.func @f(%t: !bag.bag<N x [a: f64]>) -> (tensor<f64>, tensor<f64>) {
  %u = bag.map %t {reads = ["a"], writes = ["b"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [a: f64, b: f64?]> {
  ^bb0(%a: f64):
    %r = arith.addf %a, %a : f64
    bag.yield %r : f64
  }
  %m = bag.fold %u {reads = ["b"], kinds = ["add"]} : (!bag.bag<N x [a: f64, b: f64?]>) -> tensor<f64> {
  ^bb1(%b: f64):
    bag.yield %b : f64
  }
  %v = bag.filter %t {reads = ["a"], rows = "K"} : (!bag.bag<N x [a: f64]>) -> !bag.bag<K x [a: f64]> {
  ^bb2(%a: f64):
    %c = arith.constant 2.0 : f64
    %r = arith.cmpf ogt, %a, %c : f64
    bag.yield %r : i1
  }
  %n = bag.fold %v {reads = ["a"], kinds = ["add"]} : (!bag.bag<K x [a: f64]>) -> tensor<f64> {
  ^bb3(%a: f64):
    bag.yield %a : f64
  }
  func.return %m, %n : tensor<f64>, tensor<f64>
}
