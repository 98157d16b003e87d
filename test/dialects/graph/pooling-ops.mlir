// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Pooling, with any number of spatial axes.

// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<1x8x6x6xf32>) {
  // CHECK: graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  // CHECK: graph.average_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false, count_padding = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  %1 = graph.average_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false, count_padding = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  // CHECK: graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 2>, ceil_mode = true} : (tensor<1x8x6x6xf32>) -> tensor<1x8x2x2xf32>
  %2 = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 3, 3>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 2>, ceil_mode = true} : (tensor<1x8x6x6xf32>) -> tensor<1x8x2x2xf32>
  func.return
}

// Rounding up, (5 + 2 - 2) / 3 gives three windows, but the third would begin in the padding behind the data.
// CHECK-LABEL: func.func @last_window_begins_inside
func.func @last_window_begins_inside(%x: tensor<1x2x5xf32>) {
  // CHECK: graph.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 3>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, ceil_mode = true} : (tensor<1x2x5xf32>) -> tensor<1x2x2xf32>
  %0 = graph.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 3>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, ceil_mode = true} : (tensor<1x2x5xf32>) -> tensor<1x2x2xf32>
  func.return
}

// CHECK-LABEL: func.func @indices
func.func @indices(%x: tensor<1x8x6x6xi8>) {
  %y = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xi8>) -> tensor<1x8x3x3xi8>
  // CHECK: graph.max_pool_indices %x, %y {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false, column_major = true} : (tensor<1x8x6x6xi8>, tensor<1x8x3x3xi8>) -> tensor<1x8x3x3xi64>
  %i = graph.max_pool_indices %x, %y {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false, column_major = true} : (tensor<1x8x6x6xi8>, tensor<1x8x3x3xi8>) -> tensor<1x8x3x3xi64>
  func.return
}
