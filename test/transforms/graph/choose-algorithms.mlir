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

// Nor is a window of two by two too small: a phase of a transposed convolution has one.
// CHECK-LABEL: func.func @two
// CHECK:         graph.winograd_conv %{{.*}} {tile = 4 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 0, 0>}
func.func @two(%x: tensor<1x512x8x8xf32>) -> tensor<1x256x8x8xf32> {
  %w = graph.parameter @two_w : tensor<256x512x2x2xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x512x8x8xf32>, tensor<256x512x2x2xf32>) -> (tensor<1x256x8x8xf32>) {
  ^bb0(%a: tensor<1x512x8x8xf32>, %b: tensor<256x512x2x2xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x512x8x8xf32>, tensor<256x512x2x2xf32>) -> tensor<1x256x8x8xf32>
    graph.yield %c : tensor<1x256x8x8xf32>
  }
  func.return %y : tensor<1x256x8x8xf32>
}

// Slices are images: what moves along the first of three axes may be dilated.
// CHECK-LABEL: func.func @slices
// CHECK:         graph.winograd_weight %w {tile = 4 : i64, stride = 1 : i64} : (tensor<64x32x3x3x3xf32>) -> tensor<64x6x6x96xf32>
// CHECK:           graph.winograd_conv %{{.*}} pads = array<i64: 1, 1, 1, 1>, slices = array<i64: 1, 2, 2, 2>}
func.func @slices(%x: tensor<1x32x8x56x56xf32>) -> tensor<1x64x8x56x56xf32> {
  %w = graph.parameter @slices_w : tensor<64x32x3x3x3xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x32x8x56x56xf32>, tensor<64x32x3x3x3xf32>) -> (tensor<1x64x8x56x56xf32>) {
  ^bb0(%a: tensor<1x32x8x56x56xf32>, %b: tensor<64x32x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1, 1>, pads = array<i64: 2, 1, 1, 2, 1, 1>, dilations = array<i64: 2, 1, 1>, groups = 1 : i64} : (tensor<1x32x8x56x56xf32>, tensor<64x32x3x3x3xf32>) -> tensor<1x64x8x56x56xf32>
    graph.yield %c : tensor<1x64x8x56x56xf32>
  }
  func.return %y : tensor<1x64x8x56x56xf32>
}

// Phases of an image are channels also where its slices are all kept.
// CHECK-LABEL: func.func @phases_of_slices
// CHECK:           graph.winograd_conv %{{.*}} phases_as_channels, pads = array<i64: 3, 3, 4, 4>, slices = array<i64: 1, 1, 1, 1>}
func.func @phases_of_slices(%x: tensor<1x3x8x112x112xf32>) -> tensor<1x64x8x56x56xf32> {
  %w = graph.parameter @phases_of_slices_w : tensor<64x3x3x7x7xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x3x8x112x112xf32>, tensor<64x3x3x7x7xf32>) -> (tensor<1x64x8x56x56xf32>) {
  ^bb0(%a: tensor<1x3x8x112x112xf32>, %b: tensor<64x3x3x7x7xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 2, 2>, pads = array<i64: 1, 3, 3, 1, 3, 3>, dilations = array<i64: 1, 1, 1>, groups = 1 : i64} : (tensor<1x3x8x112x112xf32>, tensor<64x3x3x7x7xf32>) -> tensor<1x64x8x56x56xf32>
    graph.yield %c : tensor<1x64x8x56x56xf32>
  }
  func.return %y : tensor<1x64x8x56x56xf32>
}

// Filters of zeros fill the last vector, and what they make is not stored.
// CHECK-LABEL: func.func @fill
// CHECK:         [[FILLED:%[a-z0-9_]+]] = graph.pad %w {pads = array<i64: 0, 0, 0, 0, 2, 0, 0, 0>
// CHECK-NEXT:    graph.winograd_weight [[FILLED]] {{.*}} -> tensor<128x6x6x64xf32>
// CHECK:           [[ALL:%[a-z0-9_]+]] = graph.winograd_conv
// CHECK-NEXT:      graph.slice [[ALL]] {axes = array<i64: 1>, starts = array<i64: 0>, stops = array<i64: 126>, steps = array<i64: 1>}
// CHECK-NEXT:      graph.relu
func.func @fill(%x: tensor<1x64x32x32xf32>) -> tensor<1x126x32x32xf32> {
  %w = graph.parameter @fill_w : tensor<126x64x3x3xf32>
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x64x32x32xf32>, tensor<126x64x3x3xf32>) -> (tensor<1x126x32x32xf32>) {
  ^bb0(%a: tensor<1x64x32x32xf32>, %b: tensor<126x64x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x32x32xf32>, tensor<126x64x3x3xf32>) -> tensor<1x126x32x32xf32>
    %r = graph.relu %c : (tensor<1x126x32x32xf32>) -> tensor<1x126x32x32xf32>
    graph.yield %r : tensor<1x126x32x32xf32>
  }
  func.return %y : tensor<1x126x32x32xf32>
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
// CHECK:         graph.winograd_weight %w {tile = 2 : i64, stride = 2 : i64} : (tensor<256x128x3x3xf32>) -> tensor<256x5x5x128xf32>
// CHECK:           graph.winograd_conv %{{.*}} {tile = 2 : i64, stride = 2 : i64, pads = array<i64: 1, 1, 1, 1>}
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

// Of few channels, the phases of the image fill vectors. Windows of 8, since a missing tap is padded at the end.
// CHECK-LABEL: func.func @few_channels
// CHECK:         graph.winograd_weight %w {tile = 4 : i64, stride = 2 : i64, phases_as_channels} : (tensor<64x3x7x7xf32>) -> tensor<64x7x7x12xf32>
// CHECK:           graph.winograd_conv %{{.*}} {tile = 4 : i64, stride = 2 : i64, phases_as_channels, pads = array<i64: 3, 3, 4, 4>}
func.func @few_channels(%x: tensor<1x3x224x224xf32>) -> tensor<1x64x112x112xf32> {
  %w = graph.parameter @few_w : tensor<64x3x7x7xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> (tensor<1x64x112x112xf32>) {
  ^bb0(%a: tensor<1x3x224x224xf32>, %b: tensor<64x3x7x7xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
    graph.yield %c : tensor<1x64x112x112xf32>
  }
  func.return %y : tensor<1x64x112x112xf32>
}

// Two convolutions with one weight share its transform, once what is equal is found.
// SHARED-LABEL: func.func @shared
// SHARED:         graph.winograd_weight
// SHARED-NOT:     graph.winograd_weight
// SHARED-LABEL: func.func @dense
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

// A product of large matrices is worth sums of their quarters, and of quarters of these; where rows may be of unlike
// size, that is less accurate.
// CHECK-LABEL: func.func @dense
// CHECK:         [[U:%[a-z0-9_]+]] = graph.strassen_weight %w {levels = 2 : i64} : (tensor<1024x512xf32>) -> tensor<256x7x7x128xf32>
// CHECK-NEXT:    graph.fused "dense_relu" (%x, [[U]])
// CHECK:           graph.strassen_dense
// CHECK-NEXT:      graph.relu
// STRICT-LABEL: func.func @dense
// STRICT-NOT:     strassen
// STRICT-LABEL: func.func @single
// PACKED-LABEL: func.func @dense
// PACKED:         graph.pack %{{.*}} {axis = 0 : i64, block = 32 : i64} : (tensor<256x7x7x128xf32>) -> tensor<8x7x7x128x32xf32>
func.func @dense(%x: tensor<1568x512xf32>) -> tensor<1568x1024xf32> {
  %w = graph.parameter @dense_w : tensor<1024x512xf32>
  %y = graph.fused "dense_relu" (%x, %w) : (tensor<1568x512xf32>, tensor<1024x512xf32>) -> (tensor<1568x1024xf32>) {
  ^bb0(%a: tensor<1568x512xf32>, %b: tensor<1024x512xf32>):
    %c = graph.dense %a, %b : (tensor<1568x512xf32>, tensor<1024x512xf32>) -> tensor<1568x1024xf32>
    %r = graph.relu %c : (tensor<1568x1024xf32>) -> tensor<1568x1024xf32>
    graph.yield %r : tensor<1568x1024xf32>
  }
  func.return %y : tensor<1568x1024xf32>
}

// On one level, sums of quarters of such long rows would drive each other out of the nearest cache, more than six rows at
// a time: that gains nothing like the 14 % that two levels gain.
// CHECK-LABEL: func.func @long
// CHECK:         graph.strassen_weight %w {levels = 2 : i64}
func.func @long(%x: tensor<128x2048xf32>) -> tensor<128x512xf32> {
  %w = graph.parameter @long_w : tensor<512x2048xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<128x2048xf32>, tensor<512x2048xf32>) -> (tensor<128x512xf32>) {
  ^bb0(%a: tensor<128x2048xf32>, %b: tensor<512x2048xf32>):
    %c = graph.dense %a, %b : (tensor<128x2048xf32>, tensor<512x2048xf32>) -> tensor<128x512xf32>
    graph.yield %c : tensor<128x512xf32>
  }
  func.return %y : tensor<128x512xf32>
}

// Of eight matrices, sums of quarters do not stay in the second cache: storing them takes longer than they save.
// CHECK-LABEL: func.func @batch
// CHECK-NOT:     strassen
// CHECK-LABEL: func.func @single
func.func @batch(%x: tensor<8x128x1024xf32>) -> tensor<8x128x256xf32> {
  %w = graph.parameter @batch_w : tensor<256x1024xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<8x128x1024xf32>, tensor<256x1024xf32>) -> (tensor<8x128x256xf32>) {
  ^bb0(%a: tensor<8x128x1024xf32>, %b: tensor<256x1024xf32>):
    %c = graph.dense %a, %b : (tensor<8x128x1024xf32>, tensor<256x1024xf32>) -> tensor<8x128x256xf32>
    graph.yield %c : tensor<8x128x256xf32>
  }
  func.return %y : tensor<8x128x256xf32>
}

// A convolution of single elements is worth as much, between images in blocks.
// CHECK:         graph.strassen_conv %{{.*}} {strides = array<i64: 2, 2>}
func.func @single(%x: tensor<1x32x56x56x16xf32>) -> tensor<1x32x28x28x16xf32> {
  %w = graph.parameter @single_w : tensor<512x512x1x1xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x32x56x56x16xf32>, tensor<512x512x1x1xf32>) -> (tensor<1x32x28x28x16xf32>) {
  ^bb0(%p: tensor<1x32x56x56x16xf32>, %b: tensor<512x512x1x1xf32>):
    %a = graph.unpack %p {axis = 1 : i64, size = 512 : i64} : (tensor<1x32x56x56x16xf32>) -> tensor<1x512x56x56xf32>
    %c = graph.conv %a, %b {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x512x56x56xf32>, tensor<512x512x1x1xf32>) -> tensor<1x512x28x28xf32>
    %r = graph.pack %c {axis = 1 : i64, block = 16 : i64} : (tensor<1x512x28x28xf32>) -> tensor<1x32x28x28x16xf32>
    graph.yield %r : tensor<1x32x28x28x16xf32>
  }
  func.return %y : tensor<1x32x28x28x16xf32>
}

// A row fills no half, and few channels are not worth it.
// CHECK-LABEL: func.func @row
// CHECK-NOT:     strassen
// CHECK-LABEL: func.func @narrow
// CHECK-NOT:     strassen
func.func @row(%x: tensor<1x512xf32>) -> tensor<1x512xf32> {
  %w = graph.parameter @row_w : tensor<512x512xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<1x512xf32>, tensor<512x512xf32>) -> (tensor<1x512xf32>) {
  ^bb0(%a: tensor<1x512xf32>, %b: tensor<512x512xf32>):
    %c = graph.dense %a, %b : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
    graph.yield %c : tensor<1x512xf32>
  }
  func.return %y : tensor<1x512xf32>
}

func.func @narrow(%x: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %w = graph.parameter @narrow_w : tensor<64x64xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<128x64xf32>, tensor<64x64xf32>) -> (tensor<128x64xf32>) {
  ^bb0(%a: tensor<128x64xf32>, %b: tensor<64x64xf32>):
    %c = graph.dense %a, %b : (tensor<128x64xf32>, tensor<64x64xf32>) -> tensor<128x64xf32>
    graph.yield %c : tensor<128x64xf32>
  }
  func.return %y : tensor<128x64xf32>
}
