// RUN: opt-tool %s -p graph-state-requirements | filecheck %s
// RUN: opt-tool %s -p graph-state-requirements,graph-state-requirements | filecheck %s
// RUN: opt-tool %s -p optimize-graph,lower-to-te | filecheck %s --check-prefix=HOST

// What operators need of symbolic sizes is stated where the function begins, and asserted where the program does.

// CHECK-LABEL: func.func @windows
// CHECK-NEXT:    graph.require [N - 3 >= 0] "the windows of max_pool do not fit into the image: dimension 2 of its result would be N - 2"
// CHECK-NEXT:    graph.max_pool
// HOST-LABEL: func.func @windows(
// HOST:         %[[spare:[0-9]+]] = loop.apply %N - 3
// HOST:         %[[fits:[0-9]+]] = arith.cmpi sge, %[[spare]], %c0
// HOST-NEXT:    cf.assert %[[fits]], "the windows of max_pool do not fit into the image: dimension 2 of its result would be N - 2"
func.func @windows(%x: tensor<1x4x?xf32, #graph.dims<[1, 4, N]>>) -> tensor<1x4x?xf32, #graph.dims<[1, 4, N - 2]>> {
  %y = graph.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, ceil_mode = false} : (tensor<1x4x?xf32, #graph.dims<[1, 4, N]>>) -> tensor<1x4x?xf32, #graph.dims<[1, 4, N - 2]>>
  func.return %y : tensor<1x4x?xf32, #graph.dims<[1, 4, N - 2]>>
}

// Two sizes of one axis are equal, or one of them is 1: said once, whichever operators take them.

// CHECK-LABEL: func.func @joined
// CHECK-NEXT:    graph.require [M - N == 0, N - 1 == 0, M - 1 == 0] "add takes sizes N and M of one axis, which are neither equal nor is one of them 1"
// CHECK-NEXT:    graph.add
// CHECK-NEXT:    graph.mul
func.func @joined(%a: tensor<?x4xf32, #graph.dims<[N, 4]>>, %b: tensor<?x4xf32, #graph.dims<[M, 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>> {
  %s = graph.add %a, %b : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?x4xf32, #graph.dims<[M, 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
  %y = graph.mul %s, %b : (tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>, tensor<?x4xf32, #graph.dims<[M, 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
  func.return %y : tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
}

// What is stated already stays, except where it always holds.

// CHECK-LABEL: func.func @stated
// CHECK-NEXT:    graph.require [N mod 2 == 0] "halves are of one size"
// CHECK-NEXT:    graph.reshape
func.func @stated(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x8xf32, #graph.dims<[N floordiv 2, 8]>> {
  graph.require [N mod 2 == 0] "halves are of one size"
  graph.require [N >= 0] "there are rows"
  graph.require [N mod 2 == 0] "rows are pairs"
  %y = graph.reshape %x {shape = #graph.dims<[N floordiv 2, 8]>, checked} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x8xf32, #graph.dims<[N floordiv 2, 8]>>
  func.return %y : tensor<?x8xf32, #graph.dims<[N floordiv 2, 8]>>
}

// -----

// What follows from the limit of a size needs no requirement; another condition on it stands where it is bound.
// CHECK-LABEL: func.func @told(
// CHECK-NEXT:    graph.size "K"
// CHECK-NEXT:    graph.require [K - 3 >= 0]
// CHECK-NEXT:    graph.section
// CHECK-NEXT:    graph.top_k
func.func @told(%n: tensor<i64>, %x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<3xf32> {
  %k = graph.size "K" = %n at most [N] : tensor<i64>
  %s = graph.section %x, %k {axis = 0 : i64, start = #graph.dims<[0]>, size = #graph.dims<[K]>} : (tensor<?xf32, #graph.dims<[N]>>, tensor<?xi1, #graph.dims<[K]>>) -> tensor<?xf32, #graph.dims<[K]>>
  %v, %i = graph.top_k %s {axis = 0 : i64, count = 3 : i64, largest = true} : (tensor<?xf32, #graph.dims<[K]>>) -> (tensor<3xf32>, tensor<3xi64>)
  func.return %v : tensor<3xf32>
}
