// RUN: opt-tool %s --target='llvm -mcpu=skylake-avx512' -p choose-layouts | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p choose-layouts | filecheck %s --check-prefix=HASWELL

// What is between two kernels may lie in blocks of channels, that fill a line; what callers see may not.
// CHECK-LABEL: func.func @main
// CHECK:         [[Y:%[a-z0-9_]+]] = graph.fused "conv" (%x, %w) : {{.*}} -> (tensor<1x2x18x18x16xf32>)
// CHECK:           [[P:%[a-z0-9_]+]] = graph.pack %{{.*}} {axis = 1 : i64, block = 16 : i64} : (tensor<1x32x18x18xf32>)
// CHECK-NEXT:      graph.yield [[P]]
// CHECK:         graph.fused "max_pool" ([[Y]]) : (tensor<1x2x18x18x16xf32>) -> (tensor<1x32x9x9xf32>)
// CHECK-NEXT:    ^bb0([[Q:%[a-z0-9_]+]]: tensor<1x2x18x18x16xf32>):
// CHECK-NEXT:      graph.unpack [[Q]] {axis = 1 : i64, size = 32 : i64}
// HASWELL-LABEL: func.func @main
// HASWELL:         graph.fused "conv" {{.*}} -> (tensor<1x2x18x18x16xf32>)
func.func @main(%x: tensor<1x3x18x18xf32>) -> tensor<1x32x9x9xf32> {
  %w = graph.parameter @main_w : tensor<32x3x3x3xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x3x18x18xf32>, tensor<32x3x3x3xf32>) -> (tensor<1x32x18x18xf32>) {
  ^bb0(%a: tensor<1x3x18x18xf32>, %b: tensor<32x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x18x18xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x18x18xf32>
    graph.yield %c : tensor<1x32x18x18xf32>
  }
  %z = graph.fused "max_pool" (%y) : (tensor<1x32x18x18xf32>) -> (tensor<1x32x9x9xf32>) {
  ^bb0(%a: tensor<1x32x18x18xf32>):
    %c = graph.max_pool %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x32x18x18xf32>) -> tensor<1x32x9x9xf32>
    graph.yield %c : tensor<1x32x9x9xf32>
  }
  func.return %z : tensor<1x32x9x9xf32>
}

// Channels that fill no lines, but vectors.
// CHECK-LABEL: func.func @half
// CHECK-NOT:     graph.pack
// HASWELL-LABEL: func.func @half
// HASWELL:         graph.fused "conv" {{.*}} -> (tensor<1x3x18x18x8xf32>)
func.func @half(%x: tensor<1x3x18x18xf32>) -> tensor<1x24x9x9xf32> {
  %w = graph.parameter @half_w : tensor<24x3x3x3xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x3x18x18xf32>, tensor<24x3x3x3xf32>) -> (tensor<1x24x18x18xf32>) {
  ^bb0(%a: tensor<1x3x18x18xf32>, %b: tensor<24x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x18x18xf32>, tensor<24x3x3x3xf32>) -> tensor<1x24x18x18xf32>
    graph.yield %c : tensor<1x24x18x18xf32>
  }
  %z = graph.fused "max_pool" (%y) : (tensor<1x24x18x18xf32>) -> (tensor<1x24x9x9xf32>) {
  ^bb0(%a: tensor<1x24x18x18xf32>):
    %c = graph.max_pool %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x24x18x18xf32>) -> tensor<1x24x9x9xf32>
    graph.yield %c : tensor<1x24x9x9xf32>
  }
  func.return %z : tensor<1x24x9x9xf32>
}

// Parts of a tensor have its layout: channels are concatenated and sliced block by block.
// CHECK-LABEL: func.func @views
// CHECK:         [[C:%[a-z0-9_]+]] = graph.concat %{{.*}} {axis = 1 : i64, graph.view} : (tensor<1x1x28x28x16xf32>, tensor<1x2x28x28x16xf32>)
// CHECK-NEXT:    graph.slice [[C]] {axes = array<i64: 1>, starts = array<i64: 1>, stops = array<i64: 2>, steps = array<i64: 1>, graph.view}
// CHECK-SAME:      -> tensor<1x1x28x28x16xf32>
// CHECK-NEXT:    graph.reshape [[C]] {shape = #graph.dims<[1, 3, 1, 784, 16]>, graph.view}
func.func @views(%x: tensor<1x3x28x28xf32>) -> tensor<1x64x1x1xf32> {
  %t = graph.parameter @views_t : tensor<64x16x3x3xf32>
  %u = graph.parameter @views_u : tensor<64x48x1x1xf32>
  %v = graph.parameter @views_v : tensor<16x3x3x3xf32>
  %w = graph.parameter @views_w : tensor<32x3x3x3xf32>
  %0 = graph.fused "conv" (%x, %v) : (tensor<1x3x28x28xf32>, tensor<16x3x3x3xf32>) -> (tensor<1x16x28x28xf32>) {
  ^bb0(%a: tensor<1x3x28x28xf32>, %b: tensor<16x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x28x28xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x28x28xf32>
    graph.yield %c : tensor<1x16x28x28xf32>
  }
  %1 = graph.fused "conv" (%x, %w) : (tensor<1x3x28x28xf32>, tensor<32x3x3x3xf32>) -> (tensor<1x32x28x28xf32>) {
  ^bb0(%a: tensor<1x3x28x28xf32>, %b: tensor<32x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x28x28xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x28x28xf32>
    graph.yield %c : tensor<1x32x28x28xf32>
  }
  %2 = graph.concat %0, %1 {axis = 1 : i64, graph.view} : (tensor<1x16x28x28xf32>, tensor<1x32x28x28xf32>) -> tensor<1x48x28x28xf32>
  %3 = graph.slice %2 {axes = array<i64: 1>, starts = array<i64: 16>, stops = array<i64: 32>, steps = array<i64: 1>, graph.view} : (tensor<1x48x28x28xf32>) -> tensor<1x16x28x28xf32>
  %4 = graph.reshape %2 {shape = #graph.dims<[1, 48, 1, 784]>, graph.view} : (tensor<1x48x28x28xf32>) -> tensor<1x48x1x784xf32>
  %5 = graph.fused "conv" (%3, %t) : (tensor<1x16x28x28xf32>, tensor<64x16x3x3xf32>) -> (tensor<1x64x28x28xf32>) {
  ^bb0(%a: tensor<1x16x28x28xf32>, %b: tensor<64x16x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x28x28xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x28x28xf32>
    graph.yield %c : tensor<1x64x28x28xf32>
  }
  %6 = graph.fused "conv" (%4, %u) : (tensor<1x48x1x784xf32>, tensor<64x48x1x1xf32>) -> (tensor<1x64x1x784xf32>) {
  ^bb0(%a: tensor<1x48x1x784xf32>, %b: tensor<64x48x1x1xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x48x1x784xf32>, tensor<64x48x1x1xf32>) -> tensor<1x64x1x784xf32>
    graph.yield %c : tensor<1x64x1x784xf32>
  }
  %7 = graph.fused "global" (%5, %6) : (tensor<1x64x28x28xf32>, tensor<1x64x1x784xf32>) -> (tensor<1x64x1x1xf32>) {
  ^bb0(%a: tensor<1x64x28x28xf32>, %b: tensor<1x64x1x784xf32>):
    %c = graph.max_pool %a {kernel = array<i64: 28, 28>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x64x28x28xf32>) -> tensor<1x64x1x1xf32>
    %d = graph.max_pool %b {kernel = array<i64: 1, 784>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x64x1x784xf32>) -> tensor<1x64x1x1xf32>
    %e = graph.add %c, %d : (tensor<1x64x1x1xf32>, tensor<1x64x1x1xf32>) -> tensor<1x64x1x1xf32>
    graph.yield %e : tensor<1x64x1x1xf32>
  }
  func.return %7 : tensor<1x64x1x1xf32>
}

// 33 channels fill no blocks; a slice in the middle of one, and a flat view, need the tensor as it is.
// CHECK-LABEL: func.func @stay
// CHECK-NOT:     graph.pack
func.func @stay(%x: tensor<1x3x28x28xf32>) -> (tensor<1x33x14x14xf32>, tensor<1x16x28x28xf32>) {
  %v = graph.parameter @stay_v : tensor<33x3x3x3xf32>
  %w = graph.parameter @stay_w : tensor<32x3x3x3xf32>
  %0 = graph.fused "conv" (%x, %v) : (tensor<1x3x28x28xf32>, tensor<33x3x3x3xf32>) -> (tensor<1x33x28x28xf32>) {
  ^bb0(%a: tensor<1x3x28x28xf32>, %b: tensor<33x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x28x28xf32>, tensor<33x3x3x3xf32>) -> tensor<1x33x28x28xf32>
    graph.yield %c : tensor<1x33x28x28xf32>
  }
  %1 = graph.fused "max_pool" (%0) : (tensor<1x33x28x28xf32>) -> (tensor<1x33x14x14xf32>) {
  ^bb0(%a: tensor<1x33x28x28xf32>):
    %c = graph.max_pool %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x33x28x28xf32>) -> tensor<1x33x14x14xf32>
    graph.yield %c : tensor<1x33x14x14xf32>
  }
  %2 = graph.fused "conv" (%x, %w) : (tensor<1x3x28x28xf32>, tensor<32x3x3x3xf32>) -> (tensor<1x32x28x28xf32>) {
  ^bb0(%a: tensor<1x3x28x28xf32>, %b: tensor<32x3x3x3xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x28x28xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x28x28xf32>
    graph.yield %c : tensor<1x32x28x28xf32>
  }
  %3 = graph.slice %2 {axes = array<i64: 1>, starts = array<i64: 8>, stops = array<i64: 24>, steps = array<i64: 1>, graph.view} : (tensor<1x32x28x28xf32>) -> tensor<1x16x28x28xf32>
  %4 = graph.reshape %3 {shape = #graph.dims<[1, 12544]>, graph.view} : (tensor<1x16x28x28xf32>) -> tensor<1x12544xf32>
  %5 = graph.reshape %4 {shape = #graph.dims<[1, 16, 28, 28]>, graph.view} : (tensor<1x12544xf32>) -> tensor<1x16x28x28xf32>
  %6 = graph.fused "relu" (%5) : (tensor<1x16x28x28xf32>) -> (tensor<1x16x28x28xf32>) {
  ^bb0(%a: tensor<1x16x28x28xf32>):
    %c = graph.relu %a : (tensor<1x16x28x28xf32>) -> tensor<1x16x28x28xf32>
    graph.yield %c : tensor<1x16x28x28xf32>
  }
  func.return %1, %6 : tensor<1x33x14x14xf32>, tensor<1x16x28x28xf32>
}

// A window along the channels of blocks would meet its ends lane by lane.
// CHECK-LABEL: func.func @window_of_channels
// CHECK:         graph.fused "lrn" (%{{.*}}) : (tensor<1x96x54x54xf32>)
func.func @window_of_channels(%x: tensor<1x3x224x224xf32>) -> tensor<1x256x1x1xf32> {
  %w = graph.parameter @channels_w : tensor<96x3x11x11xf32>
  %v = graph.parameter @channels_v : tensor<256x48x5x5xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x3x224x224xf32>, tensor<96x3x11x11xf32>) -> (tensor<1x96x54x54xf32>) {
  ^bb0(%a: tensor<1x3x224x224xf32>, %b: tensor<96x3x11x11xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 4, 4>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x224x224xf32>, tensor<96x3x11x11xf32>) -> tensor<1x96x54x54xf32>
    graph.yield %c : tensor<1x96x54x54xf32>
  }
  %n = graph.fused "lrn" (%y) : (tensor<1x96x54x54xf32>) -> (tensor<1x96x54x54xf32>) {
  ^bb0(%a: tensor<1x96x54x54xf32>):
    %c = graph.lrn %a {size = 5 : i64, alpha = 1.0e-4 : f32, beta = 7.5e-01 : f32, bias = 1.0 : f32} : (tensor<1x96x54x54xf32>) -> tensor<1x96x54x54xf32>
    graph.yield %c : tensor<1x96x54x54xf32>
  }
  %p = graph.fused "max_pool" (%n) : (tensor<1x96x54x54xf32>) -> (tensor<1x96x26x26xf32>) {
  ^bb0(%a: tensor<1x96x54x54xf32>):
    %c = graph.max_pool %a {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x96x54x54xf32>) -> tensor<1x96x26x26xf32>
    graph.yield %c : tensor<1x96x26x26xf32>
  }
  %z = graph.fused "conv" (%p, %v) : (tensor<1x96x26x26xf32>, tensor<256x48x5x5xf32>) -> (tensor<1x256x26x26xf32>) {
  ^bb0(%a: tensor<1x96x26x26xf32>, %b: tensor<256x48x5x5xf32>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x96x26x26xf32>, tensor<256x48x5x5xf32>) -> tensor<1x256x26x26xf32>
    graph.yield %c : tensor<1x256x26x26xf32>
  }
  %m = graph.fused "max_pool" (%z) : (tensor<1x256x26x26xf32>) -> (tensor<1x256x1x1xf32>) {
  ^bb0(%a: tensor<1x256x26x26xf32>):
    %c = graph.max_pool %a {kernel = array<i64: 26, 26>, strides = array<i64: 26, 26>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x256x26x26xf32>) -> tensor<1x256x1x1xf32>
    graph.yield %c : tensor<1x256x1x1xf32>
  }
  func.return %m : tensor<1x256x1x1xf32>
}

// In the body of a scan what is between two kernels may lie in blocks; states and elements, which pass from step to step,
// may not.
// CHECK-LABEL: func.func @scan
// CHECK:         graph.scan
// CHECK-NEXT:    ^bb0(%s: tensor<1x32x9x9xf32>, %e: tensor<1x3x18x18xf32>):
// CHECK:           [[Y:%[a-z0-9_]+]] = graph.fused "conv" (%e, %{{.*}}) : {{.*}} -> (tensor<1x2x18x18x16xf32>)
// CHECK:           [[N:%[a-z0-9_]+]] = graph.fused "max_pool_add" ([[Y]], %s) : {{.*}} -> (tensor<1x32x9x9xf32>)
// CHECK:           graph.yield [[N]] : tensor<1x32x9x9xf32>
func.func @scan(%h: tensor<1x32x9x9xf32>, %x: tensor<5x1x3x18x18xf32>) -> tensor<1x32x9x9xf32> {
  %end = graph.scan from (%h) over (%x) : from (tensor<1x32x9x9xf32>) over (tensor<5x1x3x18x18xf32>) -> (tensor<1x32x9x9xf32>) {
  ^bb0(%s: tensor<1x32x9x9xf32>, %e: tensor<1x3x18x18xf32>):
    %w = graph.parameter @scan_w : tensor<32x3x3x3xf32>
    %y = graph.fused "conv" (%e, %w) : (tensor<1x3x18x18xf32>, tensor<32x3x3x3xf32>) -> (tensor<1x32x18x18xf32>) {
    ^bb1(%a: tensor<1x3x18x18xf32>, %b: tensor<32x3x3x3xf32>):
      %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x18x18xf32>, tensor<32x3x3x3xf32>) -> tensor<1x32x18x18xf32>
      graph.yield %c : tensor<1x32x18x18xf32>
    }
    %n = graph.fused "max_pool_add" (%y, %s) : (tensor<1x32x18x18xf32>, tensor<1x32x9x9xf32>) -> (tensor<1x32x9x9xf32>) {
    ^bb2(%a: tensor<1x32x18x18xf32>, %b: tensor<1x32x9x9xf32>):
      %c = graph.max_pool %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x32x18x18xf32>) -> tensor<1x32x9x9xf32>
      %d = graph.add %c, %b : (tensor<1x32x9x9xf32>, tensor<1x32x9x9xf32>) -> tensor<1x32x9x9xf32>
      graph.yield %d : tensor<1x32x9x9xf32>
    }
    graph.yield %n : tensor<1x32x9x9xf32>
  }
  func.return %end : tensor<1x32x9x9xf32>
}
