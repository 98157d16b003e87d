// RUN: opt-tool %s --split-input-file --bag-fuse-filters --check-semantics | filecheck %s
// RUN: opt-tool %s --split-input-file --apply-pattern bag-fuse-filters.fuse-with-filter | filecheck %s

// Rows are kept by both, and called as the second filter calls them.
// CHECK-LABEL: func.func @both
// CHECK-NEXT:    bag.filter %t (%m) {rows = "L", reads = ["a", "b"]}
// CHECK-NEXT:    ^bb0(%a: f64, %b: f64, %{{.*}}: f64):
// CHECK:           %[[P:.*]] = arith.cmpf ogt
// CHECK:           %[[Q:.*]] = arith.cmpf olt
// CHECK-NEXT:      %[[R:.*]] = arith.select %[[P]], %[[Q]], %[[P]]
// CHECK-NEXT:      bag.yield %[[R]] : i1
// CHECK-NOT:     bag.filter
func.func @both(%t: !bag.bag<N x [a: f64, b: f64]>, %m: tensor<f64>) -> tensor<?xf64, #graph.dims<[L]>> {
  %u = bag.filter %t {reads = ["a"], rows = "K"} : (!bag.bag<N x [a: f64, b: f64]>) -> !bag.bag<K x [a: f64, b: f64]> {
  ^bb0(%a: f64):
    %zero = arith.constant 0.0 : f64
    %r = arith.cmpf ogt, %a, %zero : f64
    bag.yield %r : i1
  }
  %v = bag.filter %u (%m) {reads = ["b"], rows = "L"} : (!bag.bag<K x [a: f64, b: f64]>, tensor<f64>) -> !bag.bag<L x [a: f64, b: f64]> {
  ^bb1(%b: f64, %s: f64):
    %r = arith.cmpf olt, %b, %s : f64
    bag.yield %r : i1
  }
  %x = bag.column %v {column = "a"} : (!bag.bag<L x [a: f64, b: f64]>) -> tensor<?xf64, #graph.dims<[L]>>
  func.return %x : tensor<?xf64, #graph.dims<[L]>>
}

// -----

// What somebody else reads, too, is made.
// CHECK-LABEL: func.func @read_twice
// CHECK:         bag.filter %t
// CHECK:         bag.filter %u
func.func @read_twice(%t: !bag.bag<N x [a: f64]>) -> (tensor<?xf64, #graph.dims<[K]>>, tensor<?xf64, #graph.dims<[L]>>) {
  %u = bag.filter %t {reads = ["a"], rows = "K"} : (!bag.bag<N x [a: f64]>) -> !bag.bag<K x [a: f64]> {
  ^bb0(%a: f64):
    %zero = arith.constant 0.0 : f64
    %r = arith.cmpf ogt, %a, %zero : f64
    bag.yield %r : i1
  }
  %v = bag.filter %u {reads = ["a"], rows = "L"} : (!bag.bag<K x [a: f64]>) -> !bag.bag<L x [a: f64]> {
  ^bb1(%a: f64):
    %two = arith.constant 2.0 : f64
    %r = arith.cmpf olt, %a, %two : f64
    bag.yield %r : i1
  }
  %x = bag.column %u {column = "a"} : (!bag.bag<K x [a: f64]>) -> tensor<?xf64, #graph.dims<[K]>>
  %y = bag.column %v {column = "a"} : (!bag.bag<L x [a: f64]>) -> tensor<?xf64, #graph.dims<[L]>>
  func.return %x, %y : tensor<?xf64, #graph.dims<[K]>>, tensor<?xf64, #graph.dims<[L]>>
}
