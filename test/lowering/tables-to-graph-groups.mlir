// RUN: opt-tool %s --tables-to-graph | filecheck %s
// RUN: opt-tool %s --apply-pattern tables-to-graph.reduce-rows | filecheck %s --check-prefix=ROWS

// A fold of a table of tensors is a kernel; with groups, it joins what it makes of each row to what stands at its code.
// CHECK-LABEL: func.func @rows
// CHECK-NOT:     bag.fold
// ROWS-LABEL:  func.func @rows
// ROWS:          bag.pack
// ROWS:          graph.kernel
// ROWS:            te.extern "groups"
func.func @rows(%x: tensor<?x1xf64, #graph.dims<[N, 1]>>, %g: tensor<?x1xi32, #graph.dims<[N, 1]>>) -> tensor<3xf64> {
  %t = bag.pack %x, %g {columns = ["a", "g"], types = [f64, !bag.dict<3>], optional = []} : (tensor<?x1xf64, #graph.dims<[N, 1]>>, tensor<?x1xi32, #graph.dims<[N, 1]>>) -> !bag.bag<N x [a: f64, g: !bag.dict<3>]>
  %s = bag.fold %t {reads = ["a"], kinds = ["add"], by = "g"} : (!bag.bag<N x [a: f64, g: !bag.dict<3>]>) -> tensor<3xf64> {
  ^bb0(%a: f64):
    bag.yield %a : f64
  }
  func.return %s : tensor<3xf64>
}
