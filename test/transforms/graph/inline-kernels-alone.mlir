// RUN: opt-tool %s --apply-pattern graph-inline-kernels.hold-kernel | filecheck %s --check-prefix=HOLD
// RUN: opt-tool %s --apply-pattern graph-inline-kernels.hold-kernel@27 | filecheck %s --check-prefix=PLACE
// RUN: opt-tool %s --apply-pattern graph-inline-kernels.drop-definition | filecheck %s --check-prefix=DROP

// Operators hold copies, and the definition stays for others that may name it.
// HOLD:     te.kernel @one()
// HOLD:     graph.kernel () : () -> tensor<2xf32> {
// HOLD:     graph.kernel () : () -> tensor<2xf32> {
// HOLD-NOT: graph.kernel @one

// PLACE: te.kernel @one()
// PLACE: graph.kernel @one ()
// PLACE: graph.kernel () : () -> tensor<2xf32> {

// A definition that operators name stays.
// DROP: te.kernel @one()
// DROP: graph.kernel @one ()
te.kernel @one() -> tensor<2xf32> {
  %y = te.compute "one" [i: 2] : tensor<2xf32> {
    %0 = arith.constant 1.0 : f32
    te.yield %0 : f32
  }
  te.return %y : tensor<2xf32>
}
func.func @main() -> (tensor<2xf32>, tensor<2xf32>) {
  %y = graph.kernel @one () : () -> tensor<2xf32>
  %z = graph.kernel @one () : () -> tensor<2xf32>
  func.return %y, %z : tensor<2xf32>, tensor<2xf32>
}
