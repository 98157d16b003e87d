// RUN: opt-tool %s --split-input-file --bag-to-comprehensions --check-semantics | filecheck %s
// RUN: opt-tool %s --split-input-file -p bag-to-comprehensions,bag-unnest,bag-combine --check-semantics | filecheck %s --check-prefix=BACK
// RUN: opt-tool %s --split-input-file --apply-pattern bag-to-comprehensions.map-to-comprehension | filecheck %s --check-prefix=MAP
// RUN: opt-tool %s --split-input-file --apply-pattern bag-to-comprehensions.filter-to-comprehension | filecheck %s --check-prefix=FILTER
// RUN: opt-tool %s --split-input-file --apply-pattern bag-to-comprehensions.join-to-comprehension | filecheck %s --check-prefix=JOIN

// Each combinator is a comprehension; put into each other and combined, they are a filter, a join and a map again.
// CHECK-LABEL: func.func @all
// CHECK-NEXT:    %[[U:.*]] = bag.comprehension %l {reads = {{\[\["a"\]\]}}, keeps = {{\[\["c"\]\]}}, guards = 0 : i64, writes = ["a"]}
// CHECK:         %[[J:.*]] = bag.comprehension %[[U]], %r {reads = {{\[\["c"\], \["d"\]\]}}, keeps = {{\[\["c", "a"\], \["e"\]\]}}, guards = 1 : i64, writes = [], rows = "J"}
// CHECK:         bag.comprehension %[[J]] {{.*}}rows = "K"
// BACK-LABEL:  func.func @all
// BACK-NEXT:     %[[J:.*]] = bag.join %l, %r
// BACK:          bag.filter
// BACK-NOT:      bag.comprehension
// MAP:           bag.comprehension %l
// MAP:           bag.join
// MAP:           bag.filter
// FILTER:        bag.map
// FILTER:        bag.join
// FILTER:        bag.comprehension %
// JOIN:          bag.map
// JOIN:          bag.comprehension %{{.*}}, %r
// JOIN:          bag.filter
func.func @all(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> tensor<?xf64, #graph.dims<[K]>> {
  %u = bag.map %l {reads = ["a"], writes = ["a"]} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>) -> !bag.bag<N x [a: f64?, c: !bag.dict<3>]> {
  ^bb0(%a: f64):
    %v = arith.addf %a, %a : f64
    bag.yield %v : f64
  }
  %j = bag.join %u, %r {on = ["c", "d"], reads = ["e"], writes = ["e"], rows = "J"} : (!bag.bag<N x [a: f64?, c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> !bag.bag<J x [a: f64?, c: !bag.dict<3>, e: f64]>
  %f = bag.filter %j {reads = ["a", "e"], rows = "K"} : (!bag.bag<J x [a: f64?, c: !bag.dict<3>, e: f64]>) -> !bag.bag<K x [a: f64?, c: !bag.dict<3>, e: f64]> {
  ^bb1(%a: f64, %e: f64):
    %v = arith.cmpf ogt, %a, %e : f64
    bag.yield %v : i1
  }
  %x = bag.column %f {column = "a"} : (!bag.bag<K x [a: f64?, c: !bag.dict<3>, e: f64]>) -> tensor<?xf64, #graph.dims<[K]>>
  func.return %x : tensor<?xf64, #graph.dims<[K]>>
}

// -----

// A join that calls a column otherwise stays.
// CHECK-LABEL: func.func @renamed
// CHECK-NEXT:    bag.join
func.func @renamed(%l: !bag.bag<N x [c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> tensor<?xf64, #graph.dims<[J]>> {
  %j = bag.join %l, %r {on = ["c", "d"], reads = ["e"], writes = ["f"], rows = "J"} : (!bag.bag<N x [c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<3>, e: f64]>) -> !bag.bag<J x [c: !bag.dict<3>, f: f64]>
  %x = bag.column %j {column = "f"} : (!bag.bag<J x [c: !bag.dict<3>, f: f64]>) -> tensor<?xf64, #graph.dims<[J]>>
  func.return %x : tensor<?xf64, #graph.dims<[J]>>
}
