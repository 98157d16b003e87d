// RUN: opt-tool %s --target='llvm -mcpu=haswell -cache-sizes=32768,262144,8388608' -p choose-algorithms | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell -cache-sizes=32768,1048576,8388608' -p choose-algorithms | filecheck %s --check-prefix=NEAR

// Images of unknown size are worth the transforms, too. Of weights that do not stay in the second cache beside tiles, 0.6
// MB here, tiles are counted through: a block that ends with a row would read them again for few tiles.
// CHECK-LABEL: func.func @open
// CHECK:         graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64}
// CHECK:           graph.winograd_conv %{{.*}} {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>, counted}
// NEAR-LABEL: func.func @open
// NEAR:           graph.winograd_conv %{{.*}} {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>} :
func.func @open(%x: tensor<1x64x?x?xf32, #graph.dims<[1, 64, H, W]>>) -> tensor<1x64x?x?xf32, #graph.dims<[1, 64, H, W]>> {
  %w = graph.parameter @open_w : tensor<64x64x3x3xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x64x?x?xf32, #graph.dims<[1, 64, H, W]>>, tensor<64x64x3x3xf32>) -> (tensor<1x64x?x?xf32, #graph.dims<[1, 64, H, W]>>) {
  ^bb0(%a: tensor<1x64x?x?xf32, #graph.dims<[1, 64, H, W]>>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x?x?xf32, #graph.dims<[1, 64, H, W]>>, tensor<64x64x3x3xf32>) -> tensor<1x64x?x?xf32, #graph.dims<[1, 64, H, W]>>
    graph.yield %c : tensor<1x64x?x?xf32, #graph.dims<[1, 64, H, W]>>
  }
  func.return %y : tensor<1x64x?x?xf32, #graph.dims<[1, 64, H, W]>>
}

// Of images whose size is known it is known what a row has, however many images there are.
// CHECK-LABEL: func.func @batch
// CHECK:         graph.winograd_conv
// CHECK-NOT:     counted
func.func @batch(%x: tensor<?x64x56x56xf32, #graph.dims<[N, 64, 56, 56]>>) -> tensor<?x64x56x56xf32, #graph.dims<[N, 64, 56, 56]>> {
  %w = graph.parameter @batch_w : tensor<64x64x3x3xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<?x64x56x56xf32, #graph.dims<[N, 64, 56, 56]>>, tensor<64x64x3x3xf32>) -> (tensor<?x64x56x56xf32, #graph.dims<[N, 64, 56, 56]>>) {
  ^bb0(%a: tensor<?x64x56x56xf32, #graph.dims<[N, 64, 56, 56]>>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x64x56x56xf32, #graph.dims<[N, 64, 56, 56]>>, tensor<64x64x3x3xf32>) -> tensor<?x64x56x56xf32, #graph.dims<[N, 64, 56, 56]>>
    graph.yield %c : tensor<?x64x56x56xf32, #graph.dims<[N, 64, 56, 56]>>
  }
  func.return %y : tensor<?x64x56x56xf32, #graph.dims<[N, 64, 56, 56]>>
}

// One open axis is enough.
// CHECK-LABEL: func.func @width
// CHECK:         graph.winograd_conv %{{.*}}, counted}
// NEAR-LABEL: func.func @width
// NEAR:         graph.winograd_conv
// NEAR-NOT:     counted
func.func @width(%x: tensor<1x64x56x?xf32, #graph.dims<[1, 64, 56, W]>>) -> tensor<1x64x56x?xf32, #graph.dims<[1, 64, 56, W]>> {
  %w = graph.parameter @width_w : tensor<64x64x3x3xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x64x56x?xf32, #graph.dims<[1, 64, 56, W]>>, tensor<64x64x3x3xf32>) -> (tensor<1x64x56x?xf32, #graph.dims<[1, 64, 56, W]>>) {
  ^bb0(%a: tensor<1x64x56x?xf32, #graph.dims<[1, 64, 56, W]>>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x?xf32, #graph.dims<[1, 64, 56, W]>>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x?xf32, #graph.dims<[1, 64, 56, W]>>
    graph.yield %c : tensor<1x64x56x?xf32, #graph.dims<[1, 64, 56, W]>>
  }
  func.return %y : tensor<1x64x56x?xf32, #graph.dims<[1, 64, 56, W]>>
}
