// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Convolution, with any number of spatial axes.

// CHECK-LABEL: func.func @two_axes
func.func @two_axes(%x: tensor<1x3x224x224xf32>, %w: tensor<64x3x7x7xf32>) {
  // CHECK: graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
  func.return
}

// CHECK-LABEL: func.func @grouped
func.func @grouped(%x: tensor<1x4x9x9xf32>, %w: tensor<8x1x3x3xf32>) {
  // CHECK: graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 1>, groups = 4 : i64} : (tensor<1x4x9x9xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x5x7xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 1>, groups = 4 : i64} : (tensor<1x4x9x9xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x5x7xf32>
  func.return
}

// CHECK-LABEL: func.func @one_axis
func.func @one_axis(%x: tensor<1x4x9xf32>, %w: tensor<8x4x3xf32>) {
  // CHECK: graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 2>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x9xf32>, tensor<8x4x3xf32>) -> tensor<1x8x9xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 2>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x9xf32>, tensor<8x4x3xf32>) -> tensor<1x8x9xf32>
  func.return
}

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%x: tensor<?x3x?x8xf32, #graph.dims<[N, 3, H, 8]>>, %w: tensor<8x3x3x3xf32>) {
  // CHECK: graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x?x8xf32, #graph.dims<[N, 3, H, 8]>>, tensor<8x3x3x3xf32>) -> tensor<?x8x?x4xf32, #graph.dims<[N, 8, (H + 1) floordiv 2, 4]>>
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x3x?x8xf32, #graph.dims<[N, 3, H, 8]>>, tensor<8x3x3x3xf32>) -> tensor<?x8x?x4xf32, #graph.dims<[N, 8, (H + 1) floordiv 2, 4]>>
  func.return
}

// Bytes, and words of four bytes.
// CHECK-LABEL: func.func @bytes
func.func @bytes(%x: tensor<1x4x9xui8>, %w: tensor<8x4x3xi8>, %xs: tensor<1x1x9xi32>, %ws: tensor<8x1x3xi32>) {
  // CHECK: graph.conv %x, %w {{{.*}}} : (tensor<1x4x9xui8>, tensor<8x4x3xi8>) -> tensor<1x8x9xi32>
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 2>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x9xui8>, tensor<8x4x3xi8>) -> tensor<1x8x9xi32>
  // CHECK: graph.conv %xs, %ws {{{.*}}, words} : (tensor<1x1x9xi32>, tensor<8x1x3xi32>) -> tensor<1x8x9xi32>
  %1 = graph.conv %xs, %ws {strides = array<i64: 1>, pads = array<i64: 0, 2>, dilations = array<i64: 1>, groups = 1 : i64, words} : (tensor<1x1x9xi32>, tensor<8x1x3xi32>) -> tensor<1x8x9xi32>
  func.return
}
