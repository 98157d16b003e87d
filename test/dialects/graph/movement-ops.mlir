// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Operators that only move elements.

// CHECK-LABEL: func.func @move
func.func @move(%x: tensor<2x3x4xf32>, %a: tensor<2x5x4xf32>) {
  // CHECK: graph.reshape %x {shape = #graph.dims<[6, 1, 4]>} : (tensor<2x3x4xf32>) -> tensor<6x1x4xf32>
  %0 = graph.reshape %x {shape = #graph.dims<[6, 1, 4]>} : (tensor<2x3x4xf32>) -> tensor<6x1x4xf32>
  // CHECK: graph.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  %1 = graph.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  // CHECK: graph.concat %x, %a, %x {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x3x4xf32>) -> tensor<2x11x4xf32>
  %2 = graph.concat %x, %a, %x {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x3x4xf32>) -> tensor<2x11x4xf32>
  // CHECK: graph.slice %x {axes = array<i64: 1, 2>, starts = array<i64: 0, 3>, stops = array<i64: 2, -1>, steps = array<i64: 1, -2>} : (tensor<2x3x4xf32>) -> tensor<2x2x2xf32>
  %3 = graph.slice %x {axes = array<i64: 1, 2>, starts = array<i64: 0, 3>, stops = array<i64: 2, -1>, steps = array<i64: 1, -2>} : (tensor<2x3x4xf32>) -> tensor<2x2x2xf32>
  // CHECK: graph.pad %x {pads = array<i64: 0, 1, 0, 0, 2, 0>, value = 0.000000e+00 : f32} : (tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  %4 = graph.pad %x {pads = array<i64: 0, 1, 0, 0, 2, 0>, value = 0.000000e+00 : f32} : (tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  // CHECK: graph.broadcast %x {shape = #graph.dims<[5, 2, 3, 4]>} : (tensor<2x3x4xf32>) -> tensor<5x2x3x4xf32>
  %5 = graph.broadcast %x {shape = #graph.dims<[5, 2, 3, 4]>} : (tensor<2x3x4xf32>) -> tensor<5x2x3x4xf32>
  func.return
}

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%x: tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) {
  // CHECK: graph.reshape %x {shape = #graph.dims<[N, 12]>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x12xf32, #graph.dims<[N, 12]>>
  %0 = graph.reshape %x {shape = #graph.dims<[N, 12]>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x12xf32, #graph.dims<[N, 12]>>
  // CHECK: graph.reshape %x {shape = #graph.dims<[3 * N, 4]>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x4xf32, #graph.dims<[3 * N, 4]>>
  %1 = graph.reshape %x {shape = #graph.dims<[3 * N, 4]>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x4xf32, #graph.dims<[3 * N, 4]>>
  // CHECK: graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<4x?x3xf32, #graph.dims<[4, N, 3]>>
  %2 = graph.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<4x?x3xf32, #graph.dims<[4, N, 3]>>
  // CHECK: graph.concat %x, %x {axis = 0 : i64} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>, tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x3x4xf32, #graph.dims<[2 * N, 3, 4]>>
  %3 = graph.concat %x, %x {axis = 0 : i64} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>, tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x3x4xf32, #graph.dims<[2 * N, 3, 4]>>
  // CHECK: graph.pad %x {pads = array<i64: 1, 0, 0, 0, 0, 0>, value = 0.000000e+00 : f32} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x3x4xf32, #graph.dims<[N + 1, 3, 4]>>
  %4 = graph.pad %x {pads = array<i64: 1, 0, 0, 0, 0, 0>, value = 0.000000e+00 : f32} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x3x4xf32, #graph.dims<[N + 1, 3, 4]>>
  // CHECK: graph.broadcast %x {shape = #graph.dims<[N, N, 3, 4]>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x?x3x4xf32, #graph.dims<[N, N, 3, 4]>>
  %5 = graph.broadcast %x {shape = #graph.dims<[N, N, 3, 4]>} : (tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>) -> tensor<?x?x3x4xf32, #graph.dims<[N, N, 3, 4]>>
  func.return
}

// Sizes for which the elements fit are required; what is not read tells a symbol, and widths are computed.
// CHECK-LABEL: func.func @sizes
func.func @sizes(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %y: tensor<?xf32, #graph.dims<[M]>>) {
  // CHECK: graph.reshape %x {shape = #graph.dims<[N floordiv 2, 8]>, checked} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x8xf32, #graph.dims<[N floordiv 2, 8]>>
  %0 = graph.reshape %x {shape = #graph.dims<[N floordiv 2, 8]>, checked} : (tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?x8xf32, #graph.dims<[N floordiv 2, 8]>>
  // CHECK: graph.reshape %x, %y {shape = #graph.dims<[M, 2]>, checked} : ({{.*}}) -> tensor<?x2xf32, #graph.dims<[M, 2]>>
  %1 = graph.reshape %x, %y {shape = #graph.dims<[M, 2]>, checked} : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?xf32, #graph.dims<[M]>>) -> tensor<?x2xf32, #graph.dims<[M, 2]>>
  // CHECK: graph.pad %x, %y {pads = #graph.widths<[M - N, 0, -1, 2]>, value = 0.000000e+00 : f32} : ({{.*}}) -> tensor<?x6xf32, #graph.dims<[M - 1, 6]>>
  %2 = graph.pad %x, %y {pads = #graph.widths<[M - N, 0, -1, 2]>, value = 0.0 : f32} : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?xf32, #graph.dims<[M]>>) -> tensor<?x6xf32, #graph.dims<[M - 1, 6]>>
  func.return
}

// A value is of the elements' type: no digit of it is lost.
// CHECK-LABEL: func.func @pad_values
func.func @pad_values(%d: tensor<4xf64>, %i: tensor<4xi64>, %u: tensor<4xui8>, %b: tensor<4xi1>) {
  // CHECK: graph.pad %d {pads = array<i64: 1, 0>, value = 1.000000e-01 : f64} : (tensor<4xf64>) -> tensor<5xf64>
  %0 = graph.pad %d {pads = array<i64: 1, 0>, value = 0.1 : f64} : (tensor<4xf64>) -> tensor<5xf64>
  // CHECK: graph.pad %i {pads = array<i64: 1, 0>, value = 9007199254740993 : i64} : (tensor<4xi64>) -> tensor<5xi64>
  %1 = graph.pad %i {pads = array<i64: 1, 0>, value = 9007199254740993 : i64} : (tensor<4xi64>) -> tensor<5xi64>
  // CHECK: graph.pad %u {pads = array<i64: 1, 0>, value = 255 : ui8} : (tensor<4xui8>) -> tensor<5xui8>
  %2 = graph.pad %u {pads = array<i64: 1, 0>, value = 255 : ui8} : (tensor<4xui8>) -> tensor<5xui8>
  // CHECK: graph.pad %b {pads = array<i64: 1, 0>, value = true} : (tensor<4xi1>) -> tensor<5xi1>
  %3 = graph.pad %b {pads = array<i64: 1, 0>, value = true} : (tensor<4xi1>) -> tensor<5xi1>
  func.return
}
