// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s
// RUN: opt-tool %s -p optimize-graph,lower-to-te --check-semantics | filecheck %s --check-prefix=TE

// Blocks of a mask are counted at the same time, their counts are added up, and each block writes its indices where
// those of the blocks before it end. Zeros follow.

// CHECK-LABEL: func.func @positions
// TE-LABEL: te.kernel @positions_1(
// TE:         loop.for {{.*}} = 0 to max(1, min(16, %N floordiv 16384)) "i0" parallel {
// TE:         loop.for {{.*}} = 0 to max(1, min(16, %N floordiv 16384)) "i0" {
// TE:           arith.addi
// TE:         loop.for {{.*}} = 0 to max(1, min(16, %N floordiv 16384)) "i0" parallel {
// TE:           arith.cmpi slt
// TE:           loop.if
// TE:         loop.for {{.*}} = 0 to %N - [[FOUND:%\d+]] "i0" parallel when [%N - [[FOUND]] - 32768 >= 0] {
func.func @positions(%mask: tensor<?xi1, #graph.dims<[N]>>) -> (tensor<?xi64, #graph.dims<[N]>>, tensor<i64>) {
  // CHECK-NEXT: graph.positions %mask : (tensor<?xi1, #graph.dims<[N]>>) -> (tensor<?xi64, #graph.dims<[N]>>, tensor<i64>)
  %p, %n = graph.positions %mask : (tensor<?xi1, #graph.dims<[N]>>) -> (tensor<?xi64, #graph.dims<[N]>>, tensor<i64>)
  func.return %p, %n : tensor<?xi64, #graph.dims<[N]>>, tensor<i64>
}

// An only element is an only block.
// CHECK-LABEL: func.func @one
// TE-LABEL: te.kernel @positions_2(
// TE:         loop.for {{.*}} = 0 to 1 "i0" parallel {
func.func @one(%mask: tensor<1xi1>) -> tensor<i64> {
  %p, %n = graph.positions %mask : (tensor<1xi1>) -> (tensor<1xi64>, tensor<i64>)
  func.return %n : tensor<i64>
}
