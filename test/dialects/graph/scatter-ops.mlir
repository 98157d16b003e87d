// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p optimize-graph,lower-to-te --check-semantics | filecheck %s --check-prefix=TE

// Updates go where indices say. One is looked at for all that takes the same place; out of range it is for nothing.

// CHECK-LABEL: func.func @rows
// TE-LABEL: te.kernel @scatter(
// TE:         te.extern "scatter"
// TE:           loop.for %i0 = 0 to 9 "i0" {
// TE:             loop.for %i1 = 0 to %N "i1" {
// TE:           loop.for [[U:%i0_\d+]] = 0 to 5 "i0" {
// TE-NEXT:        [[I:%\d+]] = loop.load %{{.*}}[[[U]], 0] : memref<5x1xi64>
// TE:             [[AT:%\d+]] = arith.select
// TE-NEXT:        loop.if [[[AT]] >= 0, -[[AT]] + 8 >= 0] {
// TE-NEXT:          loop.for [[K:%i0_\d+]] = 0 to %N "i0" {
// TE-NEXT:            loop.load %{{.*}}[[[U]], [[K]]] : memref<5x?xf32>
// TE-NEXT:            loop.load %{{.*}}[[[AT]], [[K]]] : memref<9x?xf32>
// TE-NEXT:            arith.addf
// TE-NEXT:            loop.store %{{.*}}, %{{.*}}[[[AT]], [[K]]] : memref<9x?xf32>
func.func @rows(%x: tensor<9x?xf32, #graph.dims<[9, N]>>, %i: tensor<5x1xi64>, %u: tensor<5x?xf32, #graph.dims<[5, N]>>) -> tensor<9x?xf32, #graph.dims<[9, N]>> {
  // CHECK: graph.scatter %x, %i, %u {axis = 0 : i64, combine = "add"} : (tensor<9x?xf32, #graph.dims<[9, N]>>, tensor<5x1xi64>, tensor<5x?xf32, #graph.dims<[5, N]>>) -> tensor<9x?xf32, #graph.dims<[9, N]>>
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combine = "add"} : (tensor<9x?xf32, #graph.dims<[9, N]>>, tensor<5x1xi64>, tensor<5x?xf32, #graph.dims<[5, N]>>) -> tensor<9x?xf32, #graph.dims<[9, N]>>
  func.return %y : tensor<9x?xf32, #graph.dims<[9, N]>>
}

// Each element by an index of its own, and fewer of them than places.
// CHECK-LABEL: func.func @elements
// TE-LABEL: te.kernel @scatter_1(
// TE:           loop.load %{{.*}}[%{{.*}}, %{{.*}}] : memref<2x3xi32>
// TE:           loop.if
// TE-NOT:         loop.for
// TE:             loop.store
func.func @elements(%x: tensor<4x6xi8>, %i: tensor<2x3xi32>, %u: tensor<2x3xi8>) -> tensor<4x6xi8> {
  %y = graph.scatter %x, %i, %u {axis = 1 : i64, combine = "replace"} : (tensor<4x6xi8>, tensor<2x3xi32>, tensor<2x3xi8>) -> tensor<4x6xi8>
  func.return %y : tensor<4x6xi8>
}
