// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p optimize-graph,lower-to-te --check-semantics | filecheck %s --check-prefix=TE

// Numbers that sizes of an operand say, and a section of a table; what only has sizes to tell is not read.

// CHECK-LABEL: func.func @positions
// TE:       te.compute "range" [i: N] : tensor<?xi64, #graph.dims<[N]>> {
// TE-NEXT:    te.index 2 * i + 1
// TE-NOT:   te.read
func.func @positions(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?xi64, #graph.dims<[N]>> {
  // CHECK: graph.range %x {first = #graph.dims<[1]>, count = #graph.dims<[N]>, step = 2 : i64} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?xi64, #graph.dims<[N]>>
  %y = graph.range %x {first = #graph.dims<[1]>, count = #graph.dims<[N]>, step = 2 : i64} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?xi64, #graph.dims<[N]>>
  func.return %y : tensor<?xi64, #graph.dims<[N]>>
}

// CHECK-LABEL: func.func @none
func.func @none() -> tensor<0xi64> {
  // CHECK: graph.range {first = #graph.dims<[7]>, count = #graph.dims<[0]>, step = -1 : i64} : () -> tensor<0xi64>
  %y = graph.range {first = #graph.dims<[7]>, count = #graph.dims<[0]>, step = -1 : i64} : () -> tensor<0xi64>
  func.return %y : tensor<0xi64>
}

// CHECK-LABEL: func.func @section
// TE:       te.compute "section" [i0: N - 1, i1: 4]
// TE-NEXT:    te.read %input[i0 + 1, i1] : tensor<?x4xf32, #graph.dims<[N, 4]>>
func.func @section(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N - 1, 4]>> {
  // CHECK: graph.section %x {axis = 0 : i64, start = #graph.dims<[1]>, size = #graph.dims<[N - 1]>} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N - 1, 4]>>
  %y = graph.section %x {axis = 0 : i64, start = #graph.dims<[1]>, size = #graph.dims<[N - 1]>} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N - 1, 4]>>
  func.return %y : tensor<?x4xf32, #graph.dims<[N - 1, 4]>>
}

// Every third element, the last one first.

// CHECK-LABEL: func.func @steps
// TE:       te.compute "section" [i0: (N + 2) floordiv 3]
// TE-NEXT:    te.read %input[-3 * i0 + N - 1] : tensor<?xf32, #graph.dims<[N]>>
// CHECK: graph.section %x {axis = 0 : i64, start = #graph.dims<[N - 1]>, size = #graph.dims<[(N + 2) floordiv 3]>, step = -3 : i64}
func.func @steps(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[(N + 2) floordiv 3]>> {
  %y = graph.section %x {axis = 0 : i64, start = #graph.dims<[N - 1]>, size = #graph.dims<[(N + 2) floordiv 3]>, step = -3 : i64} : (tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[(N + 2) floordiv 3]>>
  func.return %y : tensor<?xf32, #graph.dims<[(N + 2) floordiv 3]>>
}

// A constant of a size that another operand tells.

// CHECK-LABEL: func.func @repeated
// TE:       te.kernel @broadcast
// TE:       te.compute "broadcast" [i0: N, i1: 4]
func.func @repeated(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %c: tensor<1x4xf32>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  // CHECK: graph.broadcast %c, %x {shape = #graph.dims<[N, 4]>} : (tensor<1x4xf32>, tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
  %y = graph.broadcast %c, %x {shape = #graph.dims<[N, 4]>} : (tensor<1x4xf32>, tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
  func.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}
