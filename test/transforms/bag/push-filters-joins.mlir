// RUN: opt-tool %s --split-input-file --bag-push-filters --check-semantics | filecheck %s
// RUN: opt-tool %s --split-input-file --apply-pattern bag-push-filters.filter-before-join | filecheck %s

// A filter of pairs that reads one of both rows is a filter of that table; one that reads both stays.
// CHECK-LABEL:  func.func @of_left
// CHECK-NEXT:     %[[L:.*]] = bag.filter %l {rows = "J", reads = ["a"]}
// CHECK:          bag.join %[[L]], %r {{.*}} -> !bag.bag<K x
func.func @of_left(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> tensor<?xf64, #graph.dims<[K]>> {
  %j = bag.join %l, %r {on = ["c", "d"], reads = ["e"], writes = ["f"], rows = "J"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> !bag.bag<J x [a: f64, c: !bag.dict<3>, f: f64]>
  %k = bag.filter %j {reads = ["a"], rows = "K"} : (!bag.bag<J x [a: f64, c: !bag.dict<3>, f: f64]>) -> !bag.bag<K x [a: f64, c: !bag.dict<3>, f: f64]> {
  ^bb0(%a: f64):
    %r0 = arith.cmpf ogt, %a, %a : f64
    bag.yield %r0 : i1
  }
  %x = bag.column %k {column = "f"} : (!bag.bag<K x [a: f64, c: !bag.dict<3>, f: f64]>) -> tensor<?xf64, #graph.dims<[K]>>
  func.return %x : tensor<?xf64, #graph.dims<[K]>>
}

// -----

// CHECK-LABEL:  func.func @of_right
// CHECK-NEXT:     %[[R:.*]] = bag.filter %r {rows = "J", reads = ["e"]}
// CHECK:          bag.join %l, %[[R]]
func.func @of_right(%l: !bag.bag<N x [c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> tensor<?xf64, #graph.dims<[K]>> {
  %j = bag.join %l, %r {on = ["c", "d"], reads = ["e"], writes = ["f"], rows = "J"} : (!bag.bag<N x [c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> !bag.bag<J x [c: !bag.dict<3>, f: f64]>
  %k = bag.filter %j {reads = ["f"], rows = "K"} : (!bag.bag<J x [c: !bag.dict<3>, f: f64]>) -> !bag.bag<K x [c: !bag.dict<3>, f: f64]> {
  ^bb0(%f: f64):
    %r0 = arith.cmpf ogt, %f, %f : f64
    bag.yield %r0 : i1
  }
  %x = bag.column %k {column = "f"} : (!bag.bag<K x [c: !bag.dict<3>, f: f64]>) -> tensor<?xf64, #graph.dims<[K]>>
  func.return %x : tensor<?xf64, #graph.dims<[K]>>
}

// -----

// CHECK-LABEL:  func.func @of_both
// CHECK-NEXT:     bag.join %l, %r
// CHECK-NEXT:     bag.filter
func.func @of_both(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> tensor<?xf64, #graph.dims<[K]>> {
  %j = bag.join %l, %r {on = ["c", "d"], reads = ["e"], writes = ["f"], rows = "J"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> !bag.bag<J x [a: f64, c: !bag.dict<3>, f: f64]>
  %k = bag.filter %j {reads = ["a", "f"], rows = "K"} : (!bag.bag<J x [a: f64, c: !bag.dict<3>, f: f64]>) -> !bag.bag<K x [a: f64, c: !bag.dict<3>, f: f64]> {
  ^bb0(%a: f64, %f: f64):
    %r0 = arith.cmpf ogt, %a, %f : f64
    bag.yield %r0 : i1
  }
  %x = bag.column %k {column = "f"} : (!bag.bag<K x [a: f64, c: !bag.dict<3>, f: f64]>) -> tensor<?xf64, #graph.dims<[K]>>
  func.return %x : tensor<?xf64, #graph.dims<[K]>>
}
