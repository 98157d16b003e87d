// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p choose-algorithms | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' --apply-pattern choose-algorithms.use-fastest | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p 'choose-algorithms{precision=strict}' | filecheck %s --check-prefix=STRICT
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p choose-algorithms,graph-fold-parameters,pack-parameters | filecheck %s --check-prefix=PACKED
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p choose-algorithms,cse | filecheck %s --check-prefix=SHARED
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p 'choose-algorithms{precision=direct}' | filecheck %s --check-prefix=DIRECT
// RUN: opt-tool %s --target='llvm -mcpu=sapphirerapids' -p 'choose-algorithms{precision=direct}' | filecheck %s --check-prefix=DIRECT

// Only direct sums keep an infinity or a NaN to the results that depend on it.
// DIRECT-NOT: graph.{{winograd|strassen|bf16x|packed_float}}

// A sum over many channels is worth the transforms of image and result; that of the weight is none of a run's work, and
// it is packed like any other parameter. As accurate as the direct sum are smaller tiles.
// CHECK-LABEL: func.func @main
// CHECK:         %w = graph.parameter @main_w
// CHECK-NEXT:    [[U:%[a-z0-9_]+]] = graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64} : (tensor<64x64x3x3xf32>) -> tensor<64x6x6x64xf32>
// CHECK-NEXT:    graph.fused "conv_relu" (%x, [[U]])
// CHECK-NEXT:    ^bb0({{.*}}: tensor<1x64x56x56xf32>, [[V:%[a-z0-9_]+]]: tensor<64x6x6x64xf32>):
// CHECK-NEXT:      graph.winograd_conv %{{.*}}, [[V]] {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>}
// CHECK-NEXT:      graph.relu
// STRICT-LABEL: func.func @main
// STRICT:         graph.winograd_conv %{{.*}} {tile = 2 : i64
// PACKED-LABEL: func.func @main
// PACKED:         graph.pack %{{.*}} {axis = 0 : i64, block = 32 : i64} : (tensor<64x6x6x64xf32>) -> tensor<2x6x6x64x32xf32>
func.func @main(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = graph.parameter @main_w : tensor<64x64x3x3xf32>
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> (tensor<1x64x56x56xf32>) {
  ^bb0(%a: tensor<1x64x56x56xf32>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    %r = graph.relu %c : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
    graph.yield %r : tensor<1x64x56x56xf32>
  }
  func.return %y : tensor<1x64x56x56xf32>
}

// Two convolutions with one weight share its transform, once what is equal is found.
// SHARED-LABEL: func.func @shared
// SHARED:         graph.winograd_weight
// SHARED-NOT:     graph.winograd_weight
func.func @shared(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {
  %w = graph.parameter @shared_w : tensor<64x64x3x3xf32>
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> (tensor<1x64x56x56xf32>) {
  ^bb0(%a: tensor<1x64x56x56xf32>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    %r = graph.relu %c : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
    graph.yield %r : tensor<1x64x56x56xf32>
  }
  %z = graph.fused "conv" (%y, %w) : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> (tensor<1x64x56x56xf32>) {
  ^bb0(%a: tensor<1x64x56x56xf32>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    graph.yield %c : tensor<1x64x56x56xf32>
  }
  func.return %z : tensor<1x64x56x56xf32>
}
