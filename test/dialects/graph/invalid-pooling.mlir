// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What pooling refuses.

func.func @f(%x: tensor<1x8x6x6xf32>) {
  // expected-error@+1 {{a window of 1 axes needs an input of rank 3, not 4}}
  %y = graph.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x6x6xf32>) {
  // expected-error@+1 {{a window of 7 does not fit into 6 with padding 0 and 0}}
  %y = graph.max_pool %x {kernel = array<i64: 7, 7>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x6x6xf32>) {
  // expected-error@+1 {{padding 3 is not smaller than the window, 3}}
  %y = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 3, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x6x6xf32>) {
  // expected-error@+1 {{2 spatial axes need 2 strides, not 1}}
  %y = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x6x6xi1>) {
  // expected-error@+1 {{graph.max_pool computes on numbers, not on truth values, i1}}
  %y = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xi1>) -> tensor<1x8x3x3xi1>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x6x6xi8>) {
  // expected-error@+1 {{graph.average_pool computes on floating-point numbers, not on i8}}
  %y = graph.average_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false, count_padding = false} : (tensor<1x8x6x6xi8>) -> tensor<1x8x3x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x6x6xf32>) {
  // expected-error@+1 {{count_padding}}
  %y = graph.average_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x8x6x6xf32>) -> tensor<1x8x3x3xf32>
  func.return
}

// -----

func.func @f(%x: tensor<1x8x6x6xf32>, %y: tensor<1x8x3x2xf32>) {
  // expected-error@+1 {{the largest elements are tensor<1x8x3x3xf32>, not tensor<1x8x3x2xf32>}}
  %i = graph.max_pool_indices %x, %y {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 1, 1>, dilations = array<i64: 1, 1>, ceil_mode = false, column_major = false} : (tensor<1x8x6x6xf32>, tensor<1x8x3x2xf32>) -> tensor<1x8x3x3xi64>
  func.return
}
