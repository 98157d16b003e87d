// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p optimize-graph,lower-to-te --check-semantics | filecheck %s --check-prefix=TE

// Images read at other coordinates, (step * i + offset) / divisor.

// Twice as large: subscripts stay in the image by themselves.
// CHECK-LABEL: func.func @main
// TE-LABEL:    te.kernel @resize(
// TE:            te.compute "resize" [n: 1, c: 2, y: 2 * H, x: 6]
// TE-NEXT:         te.read %input[n, c, y floordiv 2, x floordiv 2]
// Twice as large, by interpolation: one axis after the other, inside the image.
// TE-LABEL:    te.kernel @resize_1(
// TE:            te.compute "resize" [n: 1, c: 2, y: 2 * H, x: 3]
// TE-DAG:          te.index 2 * ((y + 1) mod 2) + 1
// TE-DAG:          te.read %input[n, c, max((y + 1) floordiv 2 - 1, 0), x]
// TE-DAG:          te.read %input[n, c, min((y + 1) floordiv 2, H - 1), x]
// TE:            te.compute "resize.1" [n: 1, c: 2, y: 2 * H, x: 6]
// By cubics: of two elements at each side.
// TE-LABEL:    te.kernel @resize_2(
// TE:            te.compute "resize" [i0: 2 * H]
// TE-DAG:          te.read %input[max((i0 + 1) floordiv 2 - 2, 0)]
// TE-DAG:          te.read %input[max((i0 + 1) floordiv 2 - 1, 0)]
// TE-DAG:          te.read %input[min((i0 + 1) floordiv 2, H - 1)]
// TE-DAG:          te.read %input[min((i0 + 1) floordiv 2 + 1, H - 1)]
func.func @main(%x: tensor<1x2x?x3xf32, #graph.dims<[1, 2, H, 3]>>, %row: tensor<?xf32, #graph.dims<[H]>>) -> (tensor<1x2x?x6xf32, #graph.dims<[1, 2, 2 * H, 6]>>, tensor<1x2x?x6xf32, #graph.dims<[1, 2, 2 * H, 6]>>, tensor<?xf32, #graph.dims<[2 * H]>>) {
  // CHECK: graph.resize %x {shape = #graph.dims<[1, 2, 2 * H, 6]>, steps = array<i64: 1, 1, 1, 1>, offsets = array<i64: 0, 0, 0, 0>, divisors = array<i64: 1, 1, 2, 2>, mode = "nearest"}
  %0 = graph.resize %x {shape = #graph.dims<[1, 2, 2 * H, 6]>, steps = array<i64: 1, 1, 1, 1>, offsets = array<i64: 0, 0, 0, 0>, divisors = array<i64: 1, 1, 2, 2>, mode = "nearest"} : (tensor<1x2x?x3xf32, #graph.dims<[1, 2, H, 3]>>) -> tensor<1x2x?x6xf32, #graph.dims<[1, 2, 2 * H, 6]>>
  // CHECK: graph.resize %x {shape = #graph.dims<[1, 2, 2 * H, 6]>, steps = array<i64: 1, 1, 2, 2>, offsets = array<i64: 0, 0, -1, -1>, divisors = array<i64: 1, 1, 4, 4>, mode = "linear"}
  %1 = graph.resize %x {shape = #graph.dims<[1, 2, 2 * H, 6]>, steps = array<i64: 1, 1, 2, 2>, offsets = array<i64: 0, 0, -1, -1>, divisors = array<i64: 1, 1, 4, 4>, mode = "linear"} : (tensor<1x2x?x3xf32, #graph.dims<[1, 2, H, 3]>>) -> tensor<1x2x?x6xf32, #graph.dims<[1, 2, 2 * H, 6]>>
  // CHECK: graph.resize %row {shape = #graph.dims<[2 * H]>, steps = array<i64: 2>, offsets = array<i64: -1>, divisors = array<i64: 4>, mode = "cubic", coefficient = -7.500000e-01 : f32}
  %2 = graph.resize %row {shape = #graph.dims<[2 * H]>, steps = array<i64: 2>, offsets = array<i64: -1>, divisors = array<i64: 4>, mode = "cubic", coefficient = -0.75 : f32} : (tensor<?xf32, #graph.dims<[H]>>) -> tensor<?xf32, #graph.dims<[2 * H]>>
  func.return %0, %1, %2 : tensor<1x2x?x6xf32, #graph.dims<[1, 2, 2 * H, 6]>>, tensor<1x2x?x6xf32, #graph.dims<[1, 2, 2 * H, 6]>>, tensor<?xf32, #graph.dims<[2 * H]>>
}
