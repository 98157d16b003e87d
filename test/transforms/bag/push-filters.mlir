// RUN: opt-tool %s --split-input-file --bag-push-filters | filecheck %s
// RUN: opt-tool %s --split-input-file --apply-pattern bag-push-filters.filter-before-map | filecheck %s

// CHECK-LABEL: func.func @unread
// CHECK-NEXT:    %[[F:.*]] = bag.filter %t
// CHECK:         bag.map %[[F]] {{.*}} -> !bag.bag<K x [a: f64, b: f64?]>
func.func @unread(%t: !bag.bag<N x [a: f64]>) -> !bag.bag<K x [a: f64, b: f64?]> {
  %u = bag.map %t {reads = ["a"], writes = ["b"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [a: f64, b: f64?]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  %v = bag.filter %u {reads = ["a"], rows = "K"} : (!bag.bag<N x [a: f64, b: f64?]>) -> !bag.bag<K x [a: f64, b: f64?]> {
  ^bb1(%a: f64):
    %r = arith.cmpf ogt, %a, %a : f64
    bag.yield %r : i1
  }
  func.return %v : !bag.bag<K x [a: f64, b: f64?]>
}

// -----

// A filter of what the map made stays behind it.
// CHECK-LABEL: func.func @read
// CHECK-NEXT:    %u = bag.map %t
// CHECK:         bag.filter %u
func.func @read(%t: !bag.bag<N x [a: f64]>) -> !bag.bag<K x [a: f64?]> {
  %u = bag.map %t {reads = ["a"], writes = ["a"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [a: f64?]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  %v = bag.filter %u {reads = ["a"], rows = "K"} : (!bag.bag<N x [a: f64?]>) -> !bag.bag<K x [a: f64?]> {
  ^bb1(%a: f64):
    %r = arith.cmpf ogt, %a, %a : f64
    bag.yield %r : i1
  }
  func.return %v : !bag.bag<K x [a: f64?]>
}
