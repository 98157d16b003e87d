// RUN: opt-tool %s --split-input-file --bag-combine --check-semantics | filecheck %s
// RUN: opt-tool %s --split-input-file --apply-pattern bag-combine.combine-filter | filecheck %s --check-prefix=FILTER
// RUN: opt-tool %s --split-input-file --apply-pattern bag-combine.combine-join | filecheck %s --check-prefix=JOIN
// RUN: opt-tool %s --split-input-file --apply-pattern bag-combine.combine-map | filecheck %s --check-prefix=MAP

// A guard of one table is a filter of it, one that compares keys a join, and the head a map of that.
// CHECK-LABEL: func.func @pairs
// CHECK-NEXT:    %[[L:.*]] = bag.filter %l (%m) {rows = "K_2", reads = ["a"]}
// CHECK:         %[[J:.*]] = bag.join %[[L]], %r {on = ["c", "d"], reads = ["e"], writes = ["e@1"], rows = "K"}
// CHECK-NEXT:    %[[U:.*]] = bag.map %[[J]] {writes = ["v"], reads = ["a", "e@1"]}
// CHECK-NEXT:    ^bb0(%{{.*}}: f64, %{{.*}}: f64):
// CHECK-NEXT:      arith.mulf
// CHECK:         bag.column %[[U]] {column = "v"}
// FILTER-LABEL: func.func @pairs
// FILTER:         bag.filter
// FILTER:         bag.comprehension {{.*}}guards = 1 : i64
// JOIN-LABEL:   func.func @pairs
// JOIN:           bag.join
// JOIN:           bag.comprehension {{.*}}guards = 1 : i64
// MAP-LABEL:    func.func @pairs
// MAP:            bag.comprehension {{.*}}guards = 2 : i64
func.func @pairs(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<3>, e: f64]>, %m: tensor<f64>) -> tensor<?xf64, #graph.dims<[K]>> {
  %u = bag.comprehension %l, %r (%m) {reads = [["a", "c"], ["d", "e"]], keeps = [["c"], []], guards = 2 : i64, writes = ["v"], rows = "K"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<3>, e: f64]>, tensor<f64>) -> !bag.bag<K x [c: !bag.dict<3>, v: f64?]> {
  ^bb0(%a: f64, %c: i32, %d: i32, %e: f64, %s: f64):
    %zero = arith.constant 0 : i32
    %known = arith.cmpi sge, %c, %zero : i32
    %equal = arith.cmpi eq, %c, %d : i32
    %same = arith.select %known, %equal, %known : i1
    %large = arith.cmpf ogt, %a, %s : f64
    %v = arith.mulf %a, %e : f64
    bag.yield %same, %large, %v : i1, i1, f64
  }
  %x = bag.column %u {column = "v"} : (!bag.bag<K x [c: !bag.dict<3>, v: f64?]>) -> tensor<?xf64, #graph.dims<[K]>>
  func.return %x : tensor<?xf64, #graph.dims<[K]>>
}

// -----

// One table without guards is a map of it.
// CHECK-LABEL: func.func @one
// CHECK-NEXT:    bag.map %t {writes = ["b"], reads = ["a"]}
// CHECK-NOT:     bag.comprehension
// MAP-LABEL:   func.func @one
// MAP-NEXT:      bag.map
func.func @one(%t: !bag.bag<N x [a: f64, c: f64]>) -> tensor<?xf64, #graph.dims<[N]>> {
  %u = bag.comprehension %t {reads = [["a"]], keeps = [["a"]], guards = 0 : i64, writes = ["b"]} : (!bag.bag<N x [a: f64, c: f64]>) -> !bag.bag<N x [a: f64, b: f64?]> {
  ^bb0(%a: f64):
    %r = arith.addf %a, %a : f64
    bag.yield %r : f64
  }
  %x = bag.column %u {column = "b"} : (!bag.bag<N x [a: f64, b: f64?]>) -> tensor<?xf64, #graph.dims<[N]>>
  func.return %x : tensor<?xf64, #graph.dims<[N]>>
}

// -----

// All pairs have no combinator. Neither have keys of different dictionaries.
// CHECK-LABEL: func.func @every_pair
// CHECK-NEXT:    bag.comprehension %l, %r
func.func @every_pair(%l: !bag.bag<N x [a: f64, c: !bag.dict<3>]>, %r: !bag.bag<M x [d: !bag.dict<4>, e: f64]>) -> tensor<?xf64, #graph.dims<[K]>> {
  %u = bag.comprehension %l, %r {reads = [["c"], ["d", "e"]], keeps = [[], []], guards = 1 : i64, writes = ["v"], rows = "K"} : (!bag.bag<N x [a: f64, c: !bag.dict<3>]>, !bag.bag<M x [d: !bag.dict<4>, e: f64]>) -> !bag.bag<K x [v: f64?]> {
  ^bb0(%c: i32, %d: i32, %e: f64):
    %zero = arith.constant 0 : i32
    %known = arith.cmpi sge, %c, %zero : i32
    %equal = arith.cmpi eq, %c, %d : i32
    %same = arith.select %known, %equal, %known : i1
    bag.yield %same, %e : i1, f64
  }
  %x = bag.column %u {column = "v"} : (!bag.bag<K x [v: f64?]>) -> tensor<?xf64, #graph.dims<[K]>>
  func.return %x : tensor<?xf64, #graph.dims<[K]>>
}

// -----

// What the head keeps of the second table replaces columns of one name, of which those that are still read are copied;
// a key of one name is that of the first table.
// CHECK-LABEL: func.func @keep_second
// CHECK-NEXT:    %[[C:.*]] = bag.map %l {writes = ["n@1"], reads = ["n"]}
// CHECK:         %[[J:.*]] = bag.join %[[C]], %r {on = ["k", "k"], reads = ["n"], writes = ["n"], rows = "K"}
// CHECK-NEXT:    %[[U:.*]] = bag.map %[[J]] {writes = ["v"], reads = ["n@1"]}
// CHECK:         bag.column %[[U]] {column = "k"}
// CHECK-NEXT:    bag.column %[[U]] {column = "n"}
// JOIN-LABEL:  func.func @keep_second
// JOIN:          bag.comprehension {{.*}}keeps = {{\[\[}}"k", "n"]], guards = 0
func.func @keep_second(%l: !bag.bag<N x [k: !bag.dict<3>, n: f64]>, %r: !bag.bag<M x [k: !bag.dict<3>, n: f64]>) -> (tensor<?xi32, #graph.dims<[K]>>, tensor<?xf64, #graph.dims<[K]>>) {
  %u = bag.comprehension %l, %r {reads = [["k", "n"], ["k"]], keeps = [[], ["k", "n"]], guards = 1 : i64, writes = ["v"], rows = "K"} : (!bag.bag<N x [k: !bag.dict<3>, n: f64]>, !bag.bag<M x [k: !bag.dict<3>, n: f64]>) -> !bag.bag<K x [k: !bag.dict<3>, n: f64, v: f64?]> {
  ^bb0(%a: i32, %n: f64, %b: i32):
    %zero = arith.constant 0 : i32
    %known = arith.cmpi sge, %a, %zero : i32
    %equal = arith.cmpi eq, %a, %b : i32
    %same = arith.select %known, %equal, %known : i1
    bag.yield %same, %n : i1, f64
  }
  %x = bag.column %u {column = "k"} : (!bag.bag<K x [k: !bag.dict<3>, n: f64, v: f64?]>) -> tensor<?xi32, #graph.dims<[K]>>
  %y = bag.column %u {column = "n"} : (!bag.bag<K x [k: !bag.dict<3>, n: f64, v: f64?]>) -> tensor<?xf64, #graph.dims<[K]>>
  func.return %x, %y : tensor<?xi32, #graph.dims<[K]>>, tensor<?xf64, #graph.dims<[K]>>
}
