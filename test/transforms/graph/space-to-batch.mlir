// RUN: opt-tool %s --target='llvm -mcpu=haswell' --graph-space-to-batch | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --apply-pattern graph-space-to-batch.convolve-phases | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p 'func.func(graph-space-to-batch{precision=strict})' | filecheck %s --check-prefix=STRICT

// Of 33 x 34 pixels, padded to 38 x 39, every third is in one of nine images of 13 x 13; 11 x 11 results of each lie
// between those of others, and the last are left out.
// CHECK-LABEL: func.func @dilated
// CHECK:         graph.pad %x {pads = array<i64: 0, 0, 2, 3, 0, 0, 4, 2>, value = 0.000000e+00 : f32} {{.*}} -> tensor<2x32x39x39xf32>
// CHECK-NEXT:    graph.reshape {{.*}} -> tensor<2x32x13x3x13x3xf32>
// CHECK-NEXT:    graph.transpose {{.*}} {permutation = array<i64: 0, 3, 5, 1, 2, 4>}
// CHECK-NEXT:    graph.reshape {{.*}} -> tensor<18x32x13x13xf32>
// CHECK-NEXT:    graph.conv %{{.*}}, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} {{.*}} -> tensor<18x64x11x11xf32>
// CHECK-NEXT:    graph.reshape {{.*}} -> tensor<2x3x3x64x11x11xf32>
// CHECK-NEXT:    graph.transpose {{.*}} {permutation = array<i64: 0, 3, 4, 1, 5, 2>}
// CHECK-NEXT:    graph.reshape {{.*}} -> tensor<2x64x33x33xf32>
// CHECK-NEXT:    graph.slice {{.*}} {axes = array<i64: 2, 3>, starts = array<i64: 0, 0>, stops = array<i64: 32, 33>, steps = array<i64: 1, 1>}
func.func @dilated(%x: tensor<2x32x33x34xf32>) -> tensor<2x64x32x33xf32> {
  %w = graph.parameter @w : tensor<64x32x3x3xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 2, 3, 3, 2>, dilations = array<i64: 3, 3>, groups = 1 : i64} : (tensor<2x32x33x34xf32>, tensor<64x32x3x3xf32>) -> tensor<2x64x32x33xf32>
  func.return %y : tensor<2x64x32x33xf32>
}

// The number of images may be open.
// CHECK-LABEL: func.func @any
// CHECK:         graph.conv %{{.*}} -> tensor<?x32x16x16xf32, #graph.dims<[4 * N, 32, 16, 16]>>
func.func @any(%x: tensor<?x32x32x32xf32, #graph.dims<[N, 32, 32, 32]>>) -> tensor<?x32x32x32xf32, #graph.dims<[N, 32, 32, 32]>> {
  %w = graph.parameter @w : tensor<32x32x3x3xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, groups = 1 : i64} : (tensor<?x32x32x32xf32, #graph.dims<[N, 32, 32, 32]>>, tensor<32x32x3x3xf32>) -> tensor<?x32x32x32xf32, #graph.dims<[N, 32, 32, 32]>>
  func.return %y : tensor<?x32x32x32xf32, #graph.dims<[N, 32, 32, 32]>>
}

// Phases of 5 x 5 results, 8 x 8 of them, are a tile each of 49 products, 3136 in all for 6889 of the direct sum. Of
// small tiles, as strict precision wants, there would be 9216.
// CHECK-LABEL: func.func @small
// CHECK:         graph.conv %{{.*}} -> tensor<64x64x5x5xf32>
// STRICT-LABEL: func.func @small
// STRICT-NOT:    graph.transpose
// STRICT:        func.return
func.func @small(%x: tensor<1x64x33x33xf32>) -> tensor<1x64x33x33xf32> {
  %w = graph.parameter @w : tensor<64x64x3x3xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 8, 8, 8, 8>, dilations = array<i64: 8, 8>, groups = 1 : i64} : (tensor<1x64x33x33xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x33x33xf32>
  func.return %y : tensor<1x64x33x33xf32>
}

// Not without dilation, of phases of two results, of few channels, of groups, of windows that move by two or of one
// element, with two dilations, or with a weight that callers pass.
// CHECK-LABEL: func.func @stay
// CHECK-NOT:     graph.transpose
// CHECK:         func.return
func.func @stay(%x: tensor<1x32x24x24xf32>, %few: tensor<1x16x24x24xf32>, %passed: tensor<32x32x3x3xf32>) -> (tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>, tensor<1x32x12x12xf32>, tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>) {
  %w = graph.parameter @w : tensor<32x32x3x3xf32>
  %v = graph.parameter @v : tensor<32x16x3x3xf32>
  %u = graph.parameter @u : tensor<32x32x1x1xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x24x24xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x24x24xf32>
  %1 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 12, 12, 12, 12>, dilations = array<i64: 12, 12>, groups = 1 : i64} : (tensor<1x32x24x24xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x24x24xf32>
  %2 = graph.conv %few, %v {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x16x24x24xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x24x24xf32>
  %3 = graph.conv %x, %v {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, groups = 2 : i64} : (tensor<1x32x24x24xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x24x24xf32>
  %4 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x32x24x24xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x12x12xf32>
  %5 = graph.conv %x, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x32x24x24xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x24x24xf32>
  %6 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 2, 1, 2, 1>, dilations = array<i64: 2, 1>, groups = 1 : i64} : (tensor<1x32x24x24xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x24x24xf32>
  %7 = graph.conv %x, %passed {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, groups = 1 : i64} : (tensor<1x32x24x24xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x24x24xf32>
  func.return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>, tensor<1x32x12x12xf32>, tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>, tensor<1x32x24x24xf32>
}
