// RUN: opt-tool %s --split-input-file --bag-unnest --check-semantics | filecheck %s
// RUN: opt-tool %s --split-input-file --apply-pattern bag-unnest.unnest-generator | filecheck %s

// Guards of both hold in one comprehension through all tables; what the inner one made is put where it is read.
// CHECK-LABEL: func.func @nested
// CHECK-NEXT:    bag.comprehension %r, %l {reads = {{\[\["e"\], \["a"\]\]}}, keeps = {{\[\["e"\], \["c"\]\]}}, guards = 2 : i64, writes = ["b", "v"], rows = "K"}
// CHECK:           %[[P:.*]] = arith.cmpf ogt
// CHECK:           %[[B:.*]] = arith.addf
// CHECK:           %[[Q:.*]] = arith.cmpf olt, %[[B]]
// CHECK:           bag.yield %[[P]], %[[Q]], %[[B]]
// CHECK-NOT:     bag.comprehension
func.func @nested(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [e: f64]>) -> tensor<?xf64, #graph.dims<[K]>> {
  %u = bag.comprehension %l {reads = [["a"]], keeps = [["c"]], guards = 1 : i64, writes = ["b"], rows = "J"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>) -> !bag.bag<J x [c: !bag.dict<3>, b: f64?]> {
  ^bb0(%a: f64):
    %zero = arith.constant 0.0 : f64
    %p = arith.cmpf ogt, %a, %zero : f64
    %b = arith.addf %a, %a : f64
    bag.yield %p, %b : i1, f64
  }
  %v = bag.comprehension %r, %u {reads = [["e"], ["b"]], keeps = [["e"], ["b", "c"]], guards = 1 : i64, writes = ["v"], rows = "K"} : (!bag.bag<M x [e: f64]>, !bag.bag<J x [c: !bag.dict<3>, b: f64?]>) -> !bag.bag<K x [e: f64, b: f64?, c: !bag.dict<3>, v: f64?]> {
  ^bb1(%e: f64, %b: f64):
    %q = arith.cmpf olt, %b, %e : f64
    %s = arith.mulf %b, %e : f64
    bag.yield %q, %s : i1, f64
  }
  %x = bag.column %v {column = "v"} : (!bag.bag<K x [e: f64, b: f64?, c: !bag.dict<3>, v: f64?]>) -> tensor<?xf64, #graph.dims<[K]>>
  func.return %x : tensor<?xf64, #graph.dims<[K]>>
}

// -----

// What somebody else reads, too, is made.
// CHECK-LABEL: func.func @read_twice
// CHECK:         bag.comprehension %t
// CHECK:         bag.comprehension %u
func.func @read_twice(%t: !bag.bag<N x [a: f64]>) -> (tensor<?xf64, #graph.dims<[N]>>, tensor<?xf64, #graph.dims<[N]>>) {
  %u = bag.comprehension %t {reads = [["a"]], keeps = [[]], guards = 0 : i64, writes = ["b"]} : (!bag.bag<N x [a: f64]>) -> !bag.bag<N x [b: f64?]> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  %v = bag.comprehension %u {reads = [["b"]], keeps = [[]], guards = 0 : i64, writes = ["c"]} : (!bag.bag<N x [b: f64?]>) -> !bag.bag<N x [c: f64?]> {
  ^bb1(%b: f64):
    %r = arith.addf %b, %b : f64
    bag.yield %r : f64
  }
  %x = bag.column %u {column = "b"} : (!bag.bag<N x [b: f64?]>) -> tensor<?xf64, #graph.dims<[N]>>
  %y = bag.column %v {column = "c"} : (!bag.bag<N x [c: f64?]>) -> tensor<?xf64, #graph.dims<[N]>>
  func.return %x, %y : tensor<?xf64, #graph.dims<[N]>>, tensor<?xf64, #graph.dims<[N]>>
}
