// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p optimize-graph,lower-to-te | filecheck %s --check-prefix=TE

// Images continued beyond their borders.

// CHECK-LABEL: func.func @main
// One choice in front of the image, one behind.
// TE:          te.compute "extend" [n: N + 5, c: 4]
// TE-NEXT:       te.if_then_else [n - 2 >= 0] : f32 {
// TE-NEXT:         te.if_then_else [N - n + 1 >= 0] : f32 {
// TE-NEXT:           te.read %input[n - 2, c]
// TE:              } else {
// TE-NEXT:           te.read %input[2 * N - n, c]
// TE:            } else {
// TE-NEXT:         te.read %input[-n + 2, c]
func.func @main(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) -> (tensor<?x4xf32, #graph.dims<[N + 5, 4]>>, tensor<?x6xf32, #graph.dims<[N, 6]>>) {
  // CHECK: graph.extend %x {pads = array<i64: 2, 0, 3, 0>, mode = "reflect"} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N + 5, 4]>>
  %0 = graph.extend %x {pads = array<i64: 2, 0, 3, 0>, mode = "reflect"} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x4xf32, #graph.dims<[N + 5, 4]>>
  // CHECK: graph.extend %x {pads = array<i64: 0, 1, 0, 1>, mode = "edge"}
  %1 = graph.extend %x {pads = array<i64: 0, 1, 0, 1>, mode = "edge"} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x6xf32, #graph.dims<[N, 6]>>
  func.return %0, %1 : tensor<?x4xf32, #graph.dims<[N + 5, 4]>>, tensor<?x6xf32, #graph.dims<[N, 6]>>
}

// As many elements as a multiple of 4 lacks.
// CHECK-LABEL: func.func @to_multiple
// TE-LABEL:    te.kernel @extend_2
// TE:          te.compute "extend" [i0: 4 * ((N + 3) floordiv 4)]
func.func @to_multiple(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[4 * ((N + 3) floordiv 4)]>> {
  // CHECK: graph.extend %x {pads = #graph.widths<[0, -N + 4 * ((N + 3) floordiv 4)]>, mode = "edge"}
  %y = graph.extend %x {pads = #graph.widths<[0, -N + 4 * ((N + 3) floordiv 4)]>, mode = "edge"} : (tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[4 * ((N + 3) floordiv 4)]>>
  func.return %y : tensor<?xf32, #graph.dims<[4 * ((N + 3) floordiv 4)]>>
}
