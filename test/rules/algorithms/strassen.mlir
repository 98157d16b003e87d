// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p choose-algorithms | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p 'choose-algorithms{precision=strict}' | filecheck %s --check-prefix=STRICT
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p choose-algorithms,graph-fold-parameters,pack-parameters | filecheck %s --check-prefix=PACKED

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
