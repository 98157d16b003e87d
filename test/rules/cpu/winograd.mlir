// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p graph-to-te,te-to-schedule | filecheck %s

// Rows of tiles are long enough to reuse the weights: cores take blocks of tiles, each of which is transformed, multiplied
// by one block of filters after the other, and transformed back before the next.
// CHECK-LABEL: schedule.sequence @large
// CHECK:         schedule.parallel %[[BLOCK:.*]]
// CHECK:         schedule.compute_at %cache, %[[BLOCK]]
// CHECK:         schedule.compute_at %winograd_image
// CHECK:         schedule.compute_at %winograd_product, %[[FILTERS:.*]]
// CHECK:         schedule.compute_at %winograd_result, %[[FILTERS]]
func.func @main(%x: tensor<1x32x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = graph.parameter @w : tensor<64x6x6x32xf32>
  %y = graph.fused "large" (%x, %w) : (tensor<1x32x56x56xf32>, tensor<64x6x6x32xf32>) -> (tensor<1x64x56x56xf32>) {
  ^bb0(%a: tensor<1x32x56x56xf32>, %b: tensor<64x6x6x32xf32>):
    %c = graph.winograd_conv %a, %b {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x32x56x56xf32>, tensor<64x6x6x32xf32>) -> tensor<1x64x56x56xf32>
    %r = graph.relu %c : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
    graph.yield %r : tensor<1x64x56x56xf32>
  }
  func.return %y : tensor<1x64x56x56xf32>
}

// A small image is transformed as a whole first; then cores take blocks of filters, so that each weight is read once.
// CHECK-LABEL: schedule.sequence @small
// CHECK:         schedule.parallel %o_o
// CHECK:         schedule.parallel %c_outer
// CHECK-NOT:     schedule.compute_at %cache{{[_0-9]*}}, %o_o
// CHECK:         schedule.compute_at %winograd_product
func.func @small(%x: tensor<1x256x7x7xf32>) -> tensor<1x256x7x7xf32> {
  %w = graph.parameter @v : tensor<256x4x4x256xf32>
  %y = graph.fused "small" (%x, %w) : (tensor<1x256x7x7xf32>, tensor<256x4x4x256xf32>) -> (tensor<1x256x7x7xf32>) {
  ^bb0(%a: tensor<1x256x7x7xf32>, %b: tensor<256x4x4x256xf32>):
    %c = graph.winograd_conv %a, %b {tile = 2 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x256x7x7xf32>, tensor<256x4x4x256xf32>) -> tensor<1x256x7x7xf32>
    graph.yield %c : tensor<1x256x7x7xf32>
  }
  func.return %y : tensor<1x256x7x7xf32>
}

// Five filters fill no vector: another rule schedules that kernel, as any other.
// CHECK-LABEL: schedule.sequence @few
// CHECK-NOT:     schedule.compute_at %winograd_product
func.func @filters(%x: tensor<1x3x14x14xf32>) -> tensor<1x5x14x14xf32> {
  %w = graph.parameter @u : tensor<5x6x6x3xf32>
  %y = graph.fused "few" (%x, %w) : (tensor<1x3x14x14xf32>, tensor<5x6x6x3xf32>) -> (tensor<1x5x14x14xf32>) {
  ^bb0(%a: tensor<1x3x14x14xf32>, %b: tensor<5x6x6x3xf32>):
    %c = graph.winograd_conv %a, %b {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x3x14x14xf32>, tensor<5x6x6x3xf32>) -> tensor<1x5x14x14xf32>
    graph.yield %c : tensor<1x5x14x14xf32>
  }
  func.return %y : tensor<1x5x14x14xf32>
}
