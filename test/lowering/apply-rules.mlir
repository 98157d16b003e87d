// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p apply-rules | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=skylake-avx512' -p choose-layouts,choose-algorithms,cse,graph-fold-parameters,pack-parameters,cse,graph-fold-parameters | filecheck %s --check-prefix=IMAGES

// Steps of a recurrent layer read the same weights: these are packed once, and so is the transform of filters that two
// convolutions share.
// CHECK-LABEL: func.func @steps
// CHECK:         [[W:%[a-z0-9_]+]] = graph.parameter @w.pack
// CHECK-NOT:     graph.parameter @w
// CHECK:         graph.fused "dense" ({{.*}}, [[W]])
// CHECK:         graph.fused "dense" ({{.*}}, [[W]])
func.func @steps(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %w = graph.parameter @w : tensor<64x64xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<1x64xf32>, tensor<64x64xf32>) -> (tensor<1x64xf32>) {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<64x64xf32>):
    %d = graph.dense %a, %b : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    graph.yield %d : tensor<1x64xf32>
  }
  %z = graph.fused "dense" (%y, %w) : (tensor<1x64xf32>, tensor<64x64xf32>) -> (tensor<1x64xf32>) {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<64x64xf32>):
    %d = graph.dense %a, %b : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    graph.yield %d : tensor<1x64xf32>
  }
  func.return %z : tensor<1x64xf32>
}

// IMAGES-LABEL: func.func @images
// IMAGES:         [[F:%[a-z0-9_]+]] = graph.parameter @f.pack
// IMAGES-NOT:     graph.parameter @f
// IMAGES:         graph.fused "conv" ({{.*}}, [[F]])
// IMAGES:         graph.fused "conv" ({{.*}}, [[F]])
func.func @images(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %f = graph.parameter @f : tensor<64x64x3x3xf32>
  %y = graph.fused "conv" (%x, %f) : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> (tensor<1x64x56x56xf32>) {
  ^bb0(%a: tensor<1x64x56x56xf32>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    graph.yield %c : tensor<1x64x56x56xf32>
  }
  %z = graph.fused "conv" (%y, %f) : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> (tensor<1x64x56x56xf32>) {
  ^bb0(%a: tensor<1x64x56x56xf32>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    graph.yield %c : tensor<1x64x56x56xf32>
  }
  func.return %z : tensor<1x64x56x56xf32>
}
