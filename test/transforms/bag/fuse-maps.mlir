// RUN: opt-tool %s --split-input-file --bag-fuse-maps | filecheck %s
// RUN: opt-tool %s --split-input-file --apply-pattern bag-fuse-maps.fuse-with-map | filecheck %s

// The second map reads what the first wrote, and a column that nobody has touched.
// CHECK-LABEL: func.func @both
// CHECK-NEXT:    bag.map %t {writes = ["b", "d"], reads = ["a", "c"]}
// CHECK-NEXT:    ^bb0(%a: f64, %c: f64):
// CHECK-NEXT:      %[[B:.*]] = arith.addf %a, %a : f64
// CHECK-NEXT:      %[[D:.*]] = arith.mulf %[[B]], %c : f64
// CHECK-NEXT:      bag.yield %[[B]], %[[D]]
// CHECK-NOT:     bag.map
func.func @both(%t: !bag.bag<N x [a: f64, c: f64]>) -> !bag.bag<N x [a: f64, c: f64, b: f64?, d: f64?]> {
  %u = bag.map %t {reads = ["a"], writes = ["b"]} : (!bag.bag<N x [a: f64, c: f64]>) -> !bag.bag<N x [a: f64, c: f64, b: f64?]> {
  ^bb0(%a: f64):
    %r = arith.addf %a, %a : f64
    bag.yield %r : f64
  }
  %v = bag.map %u {reads = ["b", "c"], writes = ["d"]} : (!bag.bag<N x [a: f64, c: f64, b: f64?]>) -> !bag.bag<N x [a: f64, c: f64, b: f64?, d: f64?]> {
  ^bb1(%b: f64, %c: f64):
    %r = arith.mulf %b, %c : f64
    bag.yield %r : f64
  }
  func.return %v : !bag.bag<N x [a: f64, c: f64, b: f64?, d: f64?]>
}

// -----

// A table that is read twice is made.
// CHECK-LABEL: func.func @twice
// CHECK:         bag.map %t
// CHECK:         bag.map %u
func.func @twice(%t: !bag.bag<N x [a: f64]>) -> (!bag.bag<N x [a: f64?]>, !bag.bag<N x [a: f64?]>) {
  %u = bag.map %t {reads = ["a"], writes = ["a"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [a: f64?]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  %v = bag.map %u {reads = ["a"], writes = ["a"]} : (!bag.bag<N x [a: f64?]>) -> !bag.bag<N x [a: f64?]> {
  ^bb1(%a: f64):
    bag.yield %a : f64
  }
  func.return %u, %v : !bag.bag<N x [a: f64?]>, !bag.bag<N x [a: f64?]>
}
