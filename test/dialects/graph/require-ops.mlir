// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// What sizes must be: one condition, or one of several.

// CHECK-LABEL: func.func @halves
func.func @halves(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %y: tensor<?xf32, #graph.dims<[M]>>) {
  // CHECK: graph.require [N mod 2 == 0] "halves are of one size"
  graph.require [N mod 2 == 0] "halves are of one size"
  // CHECK: graph.require [N - M == 0, M - 1 == 0] "rows have a number each, or \22one\22 for all"
  graph.require [N - M == 0, M - 1 == 0] "rows have a number each, or \"one\" for all"
  // CHECK: graph.require [N - 3 >= 0] "windows of 3 fit"
  graph.require [N - 3 >= 0] "windows of 3 fit"
  func.return
}

// CHECK-LABEL: func.func @generic
func.func @generic(%x: tensor<?xf32, #graph.dims<[N]>>) {
  // CHECK: graph.require [N - 2 >= 0, -N >= 0] "not one"
  "graph.require"() <{any_of = #graph.when<[N - 2 ge 0, -N ge 0]>, text = "not one"}> : () -> ()
  func.return
}
