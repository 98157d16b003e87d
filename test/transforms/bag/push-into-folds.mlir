// RUN: opt-tool %s --split-input-file --bag-push-into-folds --dce | filecheck %s

// The least of what a filter keeps of what a map made is one pass over the raw columns.
// CHECK-LABEL: func.func @least
// CHECK-NEXT:    bag.fold %t {kinds = ["min"], reads = ["a"]}
// CHECK-NEXT:    ^bb0(%a: f64):
// CHECK-NEXT:      %[[B:.*]] = arith.addf %a, %a : f64
// CHECK-NEXT:      %[[IS:.*]] = arith.cmpf ogt, %[[B]], %a : f64
// CHECK-NEXT:      %[[NOTHING:.*]] = arith.constant 0x7ff0000000000000 : f64
// CHECK-NEXT:      arith.select %[[IS]], %[[B]], %[[NOTHING]]
// CHECK-NOT:     bag.map
// CHECK-NOT:     bag.filter
func.func @least(%t: !bag.bag<N x [a: f64]>) -> tensor<f64> {
  %u = bag.map %t {reads = ["a"], writes = ["b"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [a: f64, b: f64?]> {
  ^bb0(%a: f64):
    %r = arith.addf %a, %a : f64
    bag.yield %r : f64
  }
  %v = bag.filter %u {reads = ["b", "a"], rows = "K"} : (!bag.bag<N x [a: f64, b: f64?]>) -> !bag.bag<K x [a: f64, b: f64?]> {
  ^bb1(%b: f64, %a: f64):
    %r = arith.cmpf ogt, %b, %a : f64
    bag.yield %r : i1
  }
  %m = bag.fold %v {reads = ["b"], kinds = ["min"]} : (!bag.bag<K x [a: f64, b: f64?]>) -> tensor<f64> {
  ^bb2(%b: f64):
    bag.yield %b : f64
  }
  func.return %m : tensor<f64>
}

// -----

// A fold of the table itself has nothing to take in; a column by which it groups is not made by a map.
// CHECK-LABEL: func.func @alone
// CHECK-NEXT:    bag.fold %t {reads = ["a"], kinds = ["add"], by = "g"}
func.func @alone(%t: !bag.bag<N x [a: f64, g: !bag.dict<0>]>) -> tensor<0xf64> {
  %m = bag.fold %t {reads = ["a"], kinds = ["add"], by = "g"} : (!bag.bag<N x [a: f64, g: !bag.dict<0>]>) -> tensor<0xf64> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return %m : tensor<0xf64>
}
