// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p optimize-graph,lower-to-te --check-semantics | filecheck %s --check-prefix=TE

// Elements that other data choose. An index counts from the end where it is negative, and stays in range.

// CHECK-LABEL: func.func @main
// TE:       [[I:%\d+]] = te.read %indices[i1, i2] : tensor<2x5xi32>
// TE:       [[LAST:%\d+]] = arith.minsi
// TE-NEXT:  [[ZERO:%\d+]] = arith.constant 0 : i32
// TE-NEXT:  [[FIRST:%\d+]] = arith.maxsi [[LAST]], [[ZERO]] : i32
// TE-NEXT:  [[AT:%\d+]] = arith.index_cast [[FIRST]] : i32 to index
// TE-NEXT:  te.read %input[i0, [[AT]], i3] : tensor<?x9x4xf32, #graph.dims<[N, 9, 4]>>
func.func @main(%x: tensor<?x9x4xf32, #graph.dims<[N, 9, 4]>>, %i: tensor<2x5xi32>) -> tensor<?x2x5x4xf32, #graph.dims<[N, 2, 5, 4]>> {
  // CHECK: graph.gather %x, %i {axis = 1 : i64} : (tensor<?x9x4xf32, #graph.dims<[N, 9, 4]>>, tensor<2x5xi32>) -> tensor<?x2x5x4xf32, #graph.dims<[N, 2, 5, 4]>>
  %y = graph.gather %x, %i {axis = 1 : i64} : (tensor<?x9x4xf32, #graph.dims<[N, 9, 4]>>, tensor<2x5xi32>) -> tensor<?x2x5x4xf32, #graph.dims<[N, 2, 5, 4]>>
  func.return %y : tensor<?x2x5x4xf32, #graph.dims<[N, 2, 5, 4]>>
}
