// RUN: opt-tool %s -p 'choose-algorithms{target="llvm -mcpu=skylake-avx512"}' | filecheck %s
// RUN: opt-tool %s -p 'choose-algorithms{target="llvm -mcpu=skylake-avx512" precision=strict}' | filecheck %s --check-prefix=STRICT
// RUN: opt-tool %s -p 'choose-algorithms{target="llvm -mcpu=skylake-avx512"},graph-fold-parameters,pack-parameters{target="llvm -mcpu=skylake-avx512"}' | filecheck %s --check-prefix=PACKED

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

// Few channels are not; weights that a caller passes would be transformed in every run.
// CHECK-LABEL: func.func @few
// CHECK-NOT:     winograd
func.func @few(%x: tensor<1x3x24x24xf32>) -> tensor<1x16x24x24xf32> {
  %w = graph.parameter @few_w : tensor<16x3x3x3xf32>
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x3x24x24xf32>, tensor<16x3x3x3xf32>) -> (tensor<1x16x24x24xf32>) {
  ^bb0(%a: tensor<1x3x24x24xf32>, %b: tensor<16x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x24x24xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x24x24xf32>
    %r = graph.relu %c : (tensor<1x16x24x24xf32>) -> tensor<1x16x24x24xf32>
    graph.yield %r : tensor<1x16x24x24xf32>
  }
  func.return %y : tensor<1x16x24x24xf32>
}

func.func @passed(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> (tensor<1x64x56x56xf32>) {
  ^bb0(%a: tensor<1x64x56x56xf32>, %b: tensor<64x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    %r = graph.relu %c : (tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
    graph.yield %r : tensor<1x64x56x56xf32>
  }
  func.return %y : tensor<1x64x56x56xf32>
}

// Windows that move by two are sums of two filters each way, of two taps and of one.
// CHECK-LABEL: func.func @stride
// CHECK:         graph.winograd_weight %w {tile = 3 : i64, stride = 2 : i64} : (tensor<256x128x3x3xf32>) -> tensor<256x7x7x128xf32>
// CHECK:           graph.winograd_conv %{{.*}} {tile = 3 : i64, stride = 2 : i64, pads = array<i64: 1, 1, 1, 1>}
func.func @stride(%x: tensor<1x128x28x28xf32>) -> tensor<1x256x14x14xf32> {
  %w = graph.parameter @stride_w : tensor<256x128x3x3xf32>
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x128x28x28xf32>, tensor<256x128x3x3xf32>) -> (tensor<1x256x14x14xf32>) {
  ^bb0(%a: tensor<1x128x28x28xf32>, %b: tensor<256x128x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x128x28x28xf32>, tensor<256x128x3x3xf32>) -> tensor<1x256x14x14xf32>
    %r = graph.relu %c : (tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32>
    graph.yield %r : tensor<1x256x14x14xf32>
  }
  func.return %y : tensor<1x256x14x14xf32>
}

// Two convolutions with one weight share its transform.
// CHECK-LABEL: func.func @shared
// CHECK:         graph.winograd_weight
// CHECK-NOT:     graph.winograd_weight
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
