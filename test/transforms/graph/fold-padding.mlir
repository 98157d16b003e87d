// RUN: opt-tool %s --graph-fold-padding | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-fold-padding.pad-convolution | filecheck %s --check-prefix=CONV
// RUN: opt-tool %s --apply-pattern graph-fold-padding.pad-max-pool | filecheck %s --check-prefix=POOL

// CONV-LABEL: func.func @convolution
// CONV-NEXT:    graph.conv %x, %w {{.*}}pads = array<i64: 1, 1, 1, 2>
// CONV-LABEL: func.func @kept
// CONV-COUNT-2: graph.pad
// CONV-LABEL: func.func @pooling
// CONV:         graph.max_pool %{{[0-9]+}} {kernel = array<i64: 2, 2>

// POOL-LABEL: func.func @convolution
// POOL-NEXT:    graph.pad
// POOL-LABEL: func.func @pooling
// POOL:         graph.max_pool %x {kernel = array<i64: 2, 2>
// POOL-NEXT:    graph.max_pool %{{[0-9]+}} {kernel = array<i64: 1, 1>

// CHECK-LABEL: func.func @convolution
// CHECK-NEXT:    graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64}
// CHECK-NEXT:    func.return
func.func @convolution(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x3x3xf32>) -> tensor<1x2x4x5xf32> {
  %0 = graph.pad %x {pads = array<i64: 0, 0, 1, 0, 0, 0, 1, 1>, value = 0.0 : f32} : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x5xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x6x5xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x4x5xf32>
  func.return %1 : tensor<1x2x4x5xf32>
}

// Not with another number, not along the channels.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: graph.pad
func.func @kept(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x3x3xf32>, %v: tensor<2x3x3x3xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>) {
  %0 = graph.pad %x {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 1>, value = 1.0 : f32} : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x6xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x6x6xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.pad %x {pads = array<i64: 0, 1, 0, 0, 0, 0, 0, 0>, value = 0.0 : f32} : (tensor<1x2x4x4xf32>) -> tensor<1x3x4x4xf32>
  %3 = graph.conv %2, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x2x2xf32>
  func.return %1, %3 : tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>
}

// Max pooling pads with minus infinity, and less than a window.
// CHECK-LABEL: func.func @pooling
// CHECK-NEXT:    [[P:%[a-z0-9]+]] = graph.pad %x
// CHECK-NEXT:    graph.max_pool %x {kernel = array<i64: 2, 2>, {{.*}}pads = array<i64: 1, 1, 1, 1>
// CHECK-NEXT:    graph.max_pool [[P]] {kernel = array<i64: 1, 1>
func.func @pooling(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x5x5xf32>, tensor<1x2x6x6xf32>) {
  %0 = graph.pad %x {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 1>, value = 0xFF800000 : f32} : (tensor<1x2x4x4xf32>) -> tensor<1x2x6x6xf32>
  %1 = graph.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x2x6x6xf32>) -> tensor<1x2x5x5xf32>
  %2 = graph.max_pool %0 {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  func.return %1, %2 : tensor<1x2x5x5xf32>, tensor<1x2x6x6xf32>
}
