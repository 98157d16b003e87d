// RUN: opt-tool %s -p graph-collapse-axes --check-semantics | filecheck %s
// RUN: opt-tool %s -p graph-collapse-axes,lower-to-te --check-semantics | filecheck %s --check-prefix=TE
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p graph-collapse-axes,lower-to-te,te-expand-powers,te-to-schedule,schedule-apply-dataflow --check-semantics | filecheck %s --check-prefix=PADDED

// Convolutions of one by one go over all points, too, whatever a bias and an image that is added look like.
// CHECK-LABEL: func.func @open_convolution
// CHECK:         [[X:%[a-z0-9_]+]] = graph.reshape %x {shape = #graph.dims<[1, 4, 1, H * W]>, graph.view}
// CHECK-NEXT:    [[S:%[a-z0-9_]+]] = graph.reshape %s {shape = #graph.dims<[1, 8, 1, H * W]>, graph.view}
// CHECK-NEXT:    graph.fused "conv_add" ([[X]], %w, %b, [[S]])
// CHECK:         graph.reshape %{{.*}} {shape = #graph.dims<[1, 8, H, W]>, graph.view}
// TE-LABEL:   te.kernel @conv_add
// TE:           te.compute "conv" [n: 1, o: 8, y: 1, x: H * W] reduce [rc: 4, ry: 1, rx: 1]
// PADDED-LABEL: te.kernel @conv_add
// PADDED:         te.compute "conv" [n: 1, o: 8, y: 1, x: 8 * ((H * W + 7) floordiv 8)]
func.func @open_convolution(%x: tensor<1x4x?x?xf32, #graph.dims<[1, 4, H, W]>>, %b: tensor<8x1x1xf32>, %s: tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>) -> tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>> {
  %w = graph.parameter @w : tensor<8x4x1x1xf32>
  %y = graph.fused "conv_add" (%x, %w, %b, %s) : (tensor<1x4x?x?xf32, #graph.dims<[1, 4, H, W]>>, tensor<8x4x1x1xf32>, tensor<8x1x1xf32>, tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>) -> (tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>) {
  ^bb0(%a: tensor<1x4x?x?xf32, #graph.dims<[1, 4, H, W]>>, %v: tensor<8x4x1x1xf32>, %c: tensor<8x1x1xf32>, %r: tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x?x?xf32, #graph.dims<[1, 4, H, W]>>, tensor<8x4x1x1xf32>) -> tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>
    %1 = graph.add %0, %c : (tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>, tensor<8x1x1xf32>) -> tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>
    %2 = graph.add %1, %r : (tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>, tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>) -> tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>
    graph.yield %2 : tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>
  }
  func.return %y : tensor<1x8x?x?xf32, #graph.dims<[1, 8, H, W]>>
}

// One open axis of two is enough.
// CHECK-LABEL: func.func @one_open_axis
// CHECK:         graph.reshape %x {shape = #graph.dims<[1, 4, 1, 6 * W]>, graph.view}
func.func @one_open_axis(%x: tensor<1x4x6x?xf32, #graph.dims<[1, 4, 6, W]>>) -> tensor<1x4x6x?xf32, #graph.dims<[1, 4, 6, W]>> {
  %w = graph.parameter @square : tensor<4x4x1x1xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x4x6x?xf32, #graph.dims<[1, 4, 6, W]>>, tensor<4x4x1x1xf32>) -> (tensor<1x4x6x?xf32, #graph.dims<[1, 4, 6, W]>>) {
  ^bb0(%a: tensor<1x4x6x?xf32, #graph.dims<[1, 4, 6, W]>>, %v: tensor<4x4x1x1xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x?xf32, #graph.dims<[1, 4, 6, W]>>, tensor<4x4x1x1xf32>) -> tensor<1x4x6x?xf32, #graph.dims<[1, 4, 6, W]>>
    graph.yield %0 : tensor<1x4x6x?xf32, #graph.dims<[1, 4, 6, W]>>
  }
  func.return %y : tensor<1x4x6x?xf32, #graph.dims<[1, 4, 6, W]>>
}

// Windows that move by two, and single columns, keep both axes.
// CHECK-LABEL: func.func @open_stay
// CHECK-NOT:     graph.reshape
// CHECK:         func.return
func.func @open_stay(%x: tensor<1x4x?x?xf32, #graph.dims<[1, 4, H, W]>>, %r: tensor<1x4x?x1xf32, #graph.dims<[1, 4, H, 1]>>) -> (tensor<1x4x?x?xf32, #graph.dims<[1, 4, (H - 1) floordiv 2 + 1, (W - 1) floordiv 2 + 1]>>, tensor<1x4x?x1xf32, #graph.dims<[1, 4, H, 1]>>) {
  %w = graph.parameter @square : tensor<4x4x1x1xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x4x?x?xf32, #graph.dims<[1, 4, H, W]>>, tensor<4x4x1x1xf32>) -> (tensor<1x4x?x?xf32, #graph.dims<[1, 4, (H - 1) floordiv 2 + 1, (W - 1) floordiv 2 + 1]>>) {
  ^bb0(%a: tensor<1x4x?x?xf32, #graph.dims<[1, 4, H, W]>>, %v: tensor<4x4x1x1xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x?x?xf32, #graph.dims<[1, 4, H, W]>>, tensor<4x4x1x1xf32>) -> tensor<1x4x?x?xf32, #graph.dims<[1, 4, (H - 1) floordiv 2 + 1, (W - 1) floordiv 2 + 1]>>
    graph.yield %0 : tensor<1x4x?x?xf32, #graph.dims<[1, 4, (H - 1) floordiv 2 + 1, (W - 1) floordiv 2 + 1]>>
  }
  %z = graph.fused "conv" (%r, %w) : (tensor<1x4x?x1xf32, #graph.dims<[1, 4, H, 1]>>, tensor<4x4x1x1xf32>) -> (tensor<1x4x?x1xf32, #graph.dims<[1, 4, H, 1]>>) {
  ^bb0(%a: tensor<1x4x?x1xf32, #graph.dims<[1, 4, H, 1]>>, %v: tensor<4x4x1x1xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x?x1xf32, #graph.dims<[1, 4, H, 1]>>, tensor<4x4x1x1xf32>) -> tensor<1x4x?x1xf32, #graph.dims<[1, 4, H, 1]>>
    graph.yield %0 : tensor<1x4x?x1xf32, #graph.dims<[1, 4, H, 1]>>
  }
  func.return %y, %z : tensor<1x4x?x?xf32, #graph.dims<[1, 4, (H - 1) floordiv 2 + 1, (W - 1) floordiv 2 + 1]>>, tensor<1x4x?x1xf32, #graph.dims<[1, 4, H, 1]>>
}
