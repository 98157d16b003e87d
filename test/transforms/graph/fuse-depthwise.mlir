// RUN: opt-tool %s --target='llvm -mcpu=znver4 -num-cores=2' -p fuse-depthwise | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -num-cores=2' --apply-pattern fuse-depthwise.join-with-reader | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -num-cores=2' -p fuse-depthwise,pack-parameters,graph-fold-parameters,lower-to-te,te-to-schedule,schedule-apply-dataflow | filecheck %s --check-prefix=TE

// The convolution of one by one reads the windows' results from caches. Height and width, which had been one axis for it,
// are two again, also of what is added to its result; what callers see of that stays.
// CHECK-LABEL: func.func @joined
// CHECK:         [[R:%[a-z0-9_]+]] = graph.reshape %r {shape = #graph.dims<[1, 2, 28, 28, 16]>, graph.view}
// CHECK-NEXT:    [[Z:%[a-z0-9_]+]] = graph.fused "conv_relu_conv_add" (%x, %w, %v, [[R]])
// CHECK:           graph.conv {{.*}} groups = 64 : i64}
// CHECK-NEXT:      graph.relu
// CHECK:           graph.unpack {{.*}} -> tensor<1x64x28x28xf32>
// CHECK:           graph.conv {{.*}} groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<32x64x1x1xf32>)
// CHECK:         graph.reshape [[Z]] {shape = #graph.dims<[1, 2, 1, 784, 16]>, graph.view}
// TE-LABEL: schedule.sequence @conv_relu_conv_add {
// TE:         [[RELU:%[a-z0-9_]+]], {{.*}} = schedule.stage "relu.global"
// TE:         [[ROWS:%[a-z0-9_]+]], %{{[a-z0-9_]+}} = schedule.split %i2{{[a-z0-9_]*}} factor 14
// TE:         schedule.parallel [[ROWS]]
// TE:         schedule.compute_at [[RELU]], [[ROWS]]
func.func @joined(%x: tensor<1x4x28x28x16xf32>, %r: tensor<1x2x1x784x16xf32>) -> tensor<1x2x1x784x16xf32> {
  %w = graph.parameter @w : tensor<64x1x3x3xf32>
  %v = graph.parameter @v : tensor<32x64x1x1xf32>
  %y = graph.fused "conv_relu" (%x, %w) : (tensor<1x4x28x28x16xf32>, tensor<64x1x3x3xf32>) -> (tensor<1x4x28x28x16xf32>) {
  ^bb0(%a: tensor<1x4x28x28x16xf32>, %b: tensor<64x1x3x3xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 64 : i64} : (tensor<1x4x28x28x16xf32>) -> tensor<1x64x28x28xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 64 : i64} : (tensor<1x64x28x28xf32>, tensor<64x1x3x3xf32>) -> tensor<1x64x28x28xf32>
    %d = graph.relu %c : (tensor<1x64x28x28xf32>) -> tensor<1x64x28x28xf32>
    %p = graph.pack %d {axis = 1 : i64, block = 16 : i64} : (tensor<1x64x28x28xf32>) -> tensor<1x4x28x28x16xf32>
    graph.yield %p : tensor<1x4x28x28x16xf32>
  }
  %f = graph.reshape %y {shape = #graph.dims<[1, 4, 1, 784, 16]>, graph.view} : (tensor<1x4x28x28x16xf32>) -> tensor<1x4x1x784x16xf32>
  %z = graph.fused "conv_add" (%f, %v, %r) : (tensor<1x4x1x784x16xf32>, tensor<32x64x1x1xf32>, tensor<1x2x1x784x16xf32>) -> (tensor<1x2x1x784x16xf32>) {
  ^bb0(%a: tensor<1x4x1x784x16xf32>, %b: tensor<32x64x1x1xf32>, %s: tensor<1x2x1x784x16xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 64 : i64} : (tensor<1x4x1x784x16xf32>) -> tensor<1x64x1x784xf32>
    %t = graph.unpack %s {axis = 1 : i64, size = 32 : i64} : (tensor<1x2x1x784x16xf32>) -> tensor<1x32x1x784xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x1x784xf32>, tensor<32x64x1x1xf32>) -> tensor<1x32x1x784xf32>
    %d = graph.add %c, %t : (tensor<1x32x1x784xf32>, tensor<1x32x1x784xf32>) -> tensor<1x32x1x784xf32>
    %p = graph.pack %d {axis = 1 : i64, block = 16 : i64} : (tensor<1x32x1x784xf32>) -> tensor<1x2x1x784x16xf32>
    graph.yield %p : tensor<1x2x1x784x16xf32>
  }
  func.return %z : tensor<1x2x1x784x16xf32>
}

// An image that is reshaped between them is one of the same points.
// CHECK-LABEL: func.func @reshaped
// CHECK-NEXT:    %w = graph.parameter
// CHECK-NEXT:    %v = graph.parameter
// CHECK-NEXT:    [[Z:%[a-z0-9_]+]] = graph.fused "conv_conv" (%x, %w, %v)
// CHECK:         graph.reshape [[Z]]
func.func @reshaped(%x: tensor<1x2x28x28x16xf32>) -> tensor<1x2x1x784x16xf32> {
  %w = graph.parameter @reshaped_w : tensor<32x1x3x3xf32>
  %v = graph.parameter @reshaped_v : tensor<32x32x1x1xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x2x28x28x16xf32>, tensor<32x1x3x3xf32>) -> (tensor<1x2x28x28x16xf32>) {
  ^bb0(%a: tensor<1x2x28x28x16xf32>, %b: tensor<32x1x3x3xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 32 : i64} : (tensor<1x2x28x28x16xf32>) -> tensor<1x32x28x28xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 32 : i64} : (tensor<1x32x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x28x28xf32>
    %p = graph.pack %c {axis = 1 : i64, block = 16 : i64} : (tensor<1x32x28x28xf32>) -> tensor<1x2x28x28x16xf32>
    graph.yield %p : tensor<1x2x28x28x16xf32>
  }
  %f = graph.reshape %y {shape = #graph.dims<[1, 2, 14, 56, 16]>, graph.view} : (tensor<1x2x28x28x16xf32>) -> tensor<1x2x14x56x16xf32>
  %g = graph.reshape %f {shape = #graph.dims<[1, 2, 1, 784, 16]>, graph.view} : (tensor<1x2x14x56x16xf32>) -> tensor<1x2x1x784x16xf32>
  %z = graph.fused "conv" (%g, %v) : (tensor<1x2x1x784x16xf32>, tensor<32x32x1x1xf32>) -> (tensor<1x2x1x784x16xf32>) {
  ^bb0(%a: tensor<1x2x1x784x16xf32>, %b: tensor<32x32x1x1xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 32 : i64} : (tensor<1x2x1x784x16xf32>) -> tensor<1x32x1x784xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x1x784xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x1x784xf32>
    %p = graph.pack %c {axis = 1 : i64, block = 16 : i64} : (tensor<1x32x1x784xf32>) -> tensor<1x2x1x784x16xf32>
    graph.yield %p : tensor<1x2x1x784x16xf32>
  }
  func.return %z : tensor<1x2x1x784x16xf32>
}

// Not where somebody else reads the image between them.
// CHECK-LABEL: func.func @two_readers
// CHECK:         graph.fused "conv" (%x, %w)
// CHECK:         graph.fused "conv" (%y, %v)
func.func @two_readers(%x: tensor<1x2x28x28x16xf32>) -> (tensor<1x2x28x28x16xf32>, tensor<1x2x28x28x16xf32>) {
  %w = graph.parameter @two_w : tensor<32x1x3x3xf32>
  %v = graph.parameter @two_v : tensor<32x32x1x1xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x2x28x28x16xf32>, tensor<32x1x3x3xf32>) -> (tensor<1x2x28x28x16xf32>) {
  ^bb0(%a: tensor<1x2x28x28x16xf32>, %b: tensor<32x1x3x3xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 32 : i64} : (tensor<1x2x28x28x16xf32>) -> tensor<1x32x28x28xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 32 : i64} : (tensor<1x32x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x28x28xf32>
    %p = graph.pack %c {axis = 1 : i64, block = 16 : i64} : (tensor<1x32x28x28xf32>) -> tensor<1x2x28x28x16xf32>
    graph.yield %p : tensor<1x2x28x28x16xf32>
  }
  %z = graph.fused "conv" (%y, %v) : (tensor<1x2x28x28x16xf32>, tensor<32x32x1x1xf32>) -> (tensor<1x2x28x28x16xf32>) {
  ^bb0(%a: tensor<1x2x28x28x16xf32>, %b: tensor<32x32x1x1xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 32 : i64} : (tensor<1x2x28x28x16xf32>) -> tensor<1x32x28x28xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x28x28xf32>, tensor<32x32x1x1xf32>) -> tensor<1x32x28x28xf32>
    %p = graph.pack %c {axis = 1 : i64, block = 16 : i64} : (tensor<1x32x28x28xf32>) -> tensor<1x2x28x28x16xf32>
    graph.yield %p : tensor<1x2x28x28x16xf32>
  }
  func.return %y, %z : tensor<1x2x28x28x16xf32>, tensor<1x2x28x28x16xf32>
}

// Nor before windows of another kind, which would compute rows again.
// CHECK-LABEL: func.func @windows
// CHECK:         graph.fused "conv" (%x, %w)
// CHECK:         graph.fused "conv" (%y, %v)
func.func @windows(%x: tensor<1x2x28x28x16xf32>) -> tensor<1x2x26x26x16xf32> {
  %w = graph.parameter @windows_w : tensor<32x1x3x3xf32>
  %v = graph.parameter @windows_v : tensor<32x32x3x3xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x2x28x28x16xf32>, tensor<32x1x3x3xf32>) -> (tensor<1x2x28x28x16xf32>) {
  ^bb0(%a: tensor<1x2x28x28x16xf32>, %b: tensor<32x1x3x3xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 32 : i64} : (tensor<1x2x28x28x16xf32>) -> tensor<1x32x28x28xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 32 : i64} : (tensor<1x32x28x28xf32>, tensor<32x1x3x3xf32>) -> tensor<1x32x28x28xf32>
    %p = graph.pack %c {axis = 1 : i64, block = 16 : i64} : (tensor<1x32x28x28xf32>) -> tensor<1x2x28x28x16xf32>
    graph.yield %p : tensor<1x2x28x28x16xf32>
  }
  %z = graph.fused "conv" (%y, %v) : (tensor<1x2x28x28x16xf32>, tensor<32x32x3x3xf32>) -> (tensor<1x2x26x26x16xf32>) {
  ^bb0(%a: tensor<1x2x28x28x16xf32>, %b: tensor<32x32x3x3xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 32 : i64} : (tensor<1x2x28x28x16xf32>) -> tensor<1x32x28x28xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x32x28x28xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x26x26xf32>
    %p = graph.pack %c {axis = 1 : i64, block = 16 : i64} : (tensor<1x32x26x26xf32>) -> tensor<1x2x26x26x16xf32>
    graph.yield %p : tensor<1x2x26x26x16xf32>
  }
  func.return %z : tensor<1x2x26x26x16xf32>
}

// Nor where weights do not stay in the second cache, nor a core's rows: every block of rows would read weights again.
// CHECK-LABEL: func.func @many_weights
// CHECK:         graph.fused "conv" (%x, %w)
// CHECK:         graph.fused "conv" (%y, %v)
func.func @many_weights(%x: tensor<1x32x28x28x16xf32>) -> tensor<1x32x28x28x16xf32> {
  %w = graph.parameter @many_w : tensor<512x1x3x3xf32>
  %v = graph.parameter @many_v : tensor<512x512x1x1xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x32x28x28x16xf32>, tensor<512x1x3x3xf32>) -> (tensor<1x32x28x28x16xf32>) {
  ^bb0(%a: tensor<1x32x28x28x16xf32>, %b: tensor<512x1x3x3xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 512 : i64} : (tensor<1x32x28x28x16xf32>) -> tensor<1x512x28x28xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 512 : i64} : (tensor<1x512x28x28xf32>, tensor<512x1x3x3xf32>) -> tensor<1x512x28x28xf32>
    %p = graph.pack %c {axis = 1 : i64, block = 16 : i64} : (tensor<1x512x28x28xf32>) -> tensor<1x32x28x28x16xf32>
    graph.yield %p : tensor<1x32x28x28x16xf32>
  }
  %z = graph.fused "conv" (%y, %v) : (tensor<1x32x28x28x16xf32>, tensor<512x512x1x1xf32>) -> (tensor<1x32x28x28x16xf32>) {
  ^bb0(%a: tensor<1x32x28x28x16xf32>, %b: tensor<512x512x1x1xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 512 : i64} : (tensor<1x32x28x28x16xf32>) -> tensor<1x512x28x28xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x512x28x28xf32>, tensor<512x512x1x1xf32>) -> tensor<1x512x28x28xf32>
    %p = graph.pack %c {axis = 1 : i64, block = 16 : i64} : (tensor<1x512x28x28xf32>) -> tensor<1x32x28x28x16xf32>
    graph.yield %p : tensor<1x32x28x28x16xf32>
  }
  func.return %z : tensor<1x32x28x28x16xf32>
}
