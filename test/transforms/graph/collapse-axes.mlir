// RUN: opt-tool %s -p graph-collapse-axes | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-collapse-axes.collapse-around-convolution | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-collapse-axes.collapse-around-reductions | filecheck %s --check-prefix=REDUCTIONS
// REDUCTIONS-NOT: graph.reshape
// RUN: opt-tool %s -p graph-collapse-axes,lower-to-te --check-semantics | filecheck %s --check-prefix=TE

// A convolution of one by one and what follows it element by element take the points of an image as one row; a bias has
// no height and width, an image that is added is collapsed too.
// CHECK-LABEL: func.func @main
// CHECK:         [[X:%[a-z0-9_]+]] = graph.reshape %x {shape = #graph.dims<[1, 8, 1, 35]>, graph.view}
// CHECK:         [[Z:%[a-z0-9_]+]] = graph.reshape %z {shape = #graph.dims<[1, 6, 1, 35]>, graph.view}
// CHECK-NEXT:    [[Y:%[a-z0-9_]+]] = graph.fused "conv" ([[X]], %w, %b, [[Z]])
// CHECK:           graph.conv {{.*}} -> tensor<1x6x1x35xf32>
// CHECK-NEXT:      graph.add {{.*}} : (tensor<1x6x1x35xf32>, tensor<6x1x1xf32>) -> tensor<1x6x1x35xf32>
// CHECK-NEXT:      graph.add {{.*}} : (tensor<1x6x1x35xf32>, tensor<1x6x1x35xf32>)
// CHECK:         graph.reshape [[Y]] {shape = #graph.dims<[1, 6, 5, 7]>, graph.view}
func.func @main(%x: tensor<1x8x5x7xf32>, %z: tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32> {
  %w = graph.parameter @w : tensor<6x8x1x1xf32>
  %b = graph.parameter @b : tensor<6x1x1xf32>
  %y = graph.fused "conv" (%x, %w, %b, %z) : (tensor<1x8x5x7xf32>, tensor<6x8x1x1xf32>, tensor<6x1x1xf32>, tensor<1x6x5x7xf32>) -> (tensor<1x6x5x7xf32>) {
  ^bb0(%a: tensor<1x8x5x7xf32>, %v: tensor<6x8x1x1xf32>, %c: tensor<6x1x1xf32>, %d: tensor<1x6x5x7xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x5x7xf32>, tensor<6x8x1x1xf32>) -> tensor<1x6x5x7xf32>
    %1 = graph.add %0, %c : (tensor<1x6x5x7xf32>, tensor<6x1x1xf32>) -> tensor<1x6x5x7xf32>
    %2 = graph.add %1, %d : (tensor<1x6x5x7xf32>, tensor<1x6x5x7xf32>) -> tensor<1x6x5x7xf32>
    graph.yield %2 : tensor<1x6x5x7xf32>
  }
  func.return %y : tensor<1x6x5x7xf32>
}

// Between two such kernels there is no view; parts of a concatenation are made in their places, a part of an image is
// read in its own, whatever the batch.
// CHECK-LABEL: func.func @parts
// CHECK:         graph.slice
// CHECK-NEXT:    graph.reshape {{.*}} -> tensor<?x4x1x15xf32
// CHECK-NEXT:    [[A:%[a-z0-9_]+]] = graph.fused
// CHECK:         [[B:%[a-z0-9_]+]] = graph.fused "conv" ([[A]], %
// CHECK:         graph.concat
// TE-LABEL:   func.func @parts
// TE:           memref.reinterpret_cast %{{.*}} to offset: [60]
// TE-NOT:       memref.alloc
// TE:           loop.call
func.func @parts(%x: tensor<?x8x3x5xf32, #graph.dims<[N, 8, 3, 5]>>) -> tensor<?x8x3x5xf32, #graph.dims<[N, 8, 3, 5]>> {
  %w = graph.parameter @square : tensor<4x4x1x1xf32>
  %s = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 4>, stops = array<i64: 8>, steps = array<i64: 1>, graph.view} : (tensor<?x8x3x5xf32, #graph.dims<[N, 8, 3, 5]>>) -> tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>
  %y = graph.fused "conv" (%s, %w) : (tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>, tensor<4x4x1x1xf32>) -> (tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>) {
  ^bb0(%a: tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>, %v: tensor<4x4x1x1xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>, tensor<4x4x1x1xf32>) -> tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>
    graph.yield %0 : tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>
  }
  %z = graph.fused "conv" (%y, %w) : (tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>, tensor<4x4x1x1xf32>) -> (tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>) {
  ^bb0(%a: tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>, %v: tensor<4x4x1x1xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>, tensor<4x4x1x1xf32>) -> tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>
    graph.yield %0 : tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>
  }
  %c = graph.concat %y, %z {axis = 1 : i64, graph.view} : (tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>, tensor<?x4x3x5xf32, #graph.dims<[N, 4, 3, 5]>>) -> tensor<?x8x3x5xf32, #graph.dims<[N, 8, 3, 5]>>
  func.return %c : tensor<?x8x3x5xf32, #graph.dims<[N, 8, 3, 5]>>
}

// Windows, strides, rows of one point, and operators that know rows keep both axes.
// CHECK-LABEL: func.func @stay
// CHECK-NOT:     graph.reshape
// CHECK:         func.return
func.func @stay(%x: tensor<1x4x3x5xf32>, %r: tensor<1x4x1x5xf32>, %row: tensor<5xf32>) -> (tensor<1x4x2x3xf32>, tensor<1x4x1x5xf32>, tensor<1x4x3x5xf32>) {
  %w = graph.parameter @square : tensor<4x4x1x1xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x4x3x5xf32>, tensor<4x4x1x1xf32>) -> (tensor<1x4x2x3xf32>) {
  ^bb0(%a: tensor<1x4x3x5xf32>, %v: tensor<4x4x1x1xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x3x5xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x2x3xf32>
    graph.yield %0 : tensor<1x4x2x3xf32>
  }
  %z = graph.fused "conv" (%r, %w) : (tensor<1x4x1x5xf32>, tensor<4x4x1x1xf32>) -> (tensor<1x4x1x5xf32>) {
  ^bb0(%a: tensor<1x4x1x5xf32>, %v: tensor<4x4x1x1xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x1x5xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x1x5xf32>
    graph.yield %0 : tensor<1x4x1x5xf32>
  }
  %u = graph.fused "conv" (%x, %w, %row) : (tensor<1x4x3x5xf32>, tensor<4x4x1x1xf32>, tensor<5xf32>) -> (tensor<1x4x3x5xf32>) {
  ^bb0(%a: tensor<1x4x3x5xf32>, %v: tensor<4x4x1x1xf32>, %q: tensor<5xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x3x5xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x5xf32>
    %1 = graph.add %0, %q : (tensor<1x4x3x5xf32>, tensor<5xf32>) -> tensor<1x4x3x5xf32>
    graph.yield %1 : tensor<1x4x3x5xf32>
  }
  func.return %y, %z, %u : tensor<1x4x2x3xf32>, tensor<1x4x1x5xf32>, tensor<1x4x3x5xf32>
}

// Nor where rows are parts of longer ones: of a sliced image, or in a concatenation along the rows, perhaps inside another.
// CHECK-LABEL: func.func @parts_of_rows
// CHECK-NOT:     graph.reshape
// CHECK:         func.return
func.func @parts_of_rows(%x: tensor<1x4x3x9xf32>, %r: tensor<1x4x3x5xf32>) -> (tensor<1x4x3x5xf32>, tensor<1x8x3x10xf32>) {
  %w = graph.parameter @square : tensor<4x4x1x1xf32>
  %s = graph.slice %x {axes = array<i64: 3>, starts = array<i64: 1>, stops = array<i64: 6>, steps = array<i64: 1>, graph.view} : (tensor<1x4x3x9xf32>) -> tensor<1x4x3x5xf32>
  %h = graph.slice %s {axes = array<i64: 2>, starts = array<i64: 0>, stops = array<i64: 3>, steps = array<i64: 1>, graph.view} : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
  %y = graph.fused "conv" (%h, %w) : (tensor<1x4x3x5xf32>, tensor<4x4x1x1xf32>) -> (tensor<1x4x3x5xf32>) {
  ^bb0(%a: tensor<1x4x3x5xf32>, %v: tensor<4x4x1x1xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x3x5xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x5xf32>
    graph.yield %0 : tensor<1x4x3x5xf32>
  }
  %z:4 = graph.fused "convs" (%r, %w) : (tensor<1x4x3x5xf32>, tensor<4x4x1x1xf32>) -> (tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>) {
  ^bb0(%a: tensor<1x4x3x5xf32>, %v: tensor<4x4x1x1xf32>):
    %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x3x5xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x3x5xf32>
    %1 = graph.neg %0 : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
    %2 = graph.relu %0 : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
    %3 = graph.abs %0 : (tensor<1x4x3x5xf32>) -> tensor<1x4x3x5xf32>
    graph.yield %0, %1, %2, %3 : tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>
  }
  %b = graph.concat %z#0, %z#1 {axis = 1 : i64, graph.view} : (tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>) -> tensor<1x8x3x5xf32>
  %c = graph.concat %z#2, %z#3 {axis = 1 : i64, graph.view} : (tensor<1x4x3x5xf32>, tensor<1x4x3x5xf32>) -> tensor<1x8x3x5xf32>
  %d = graph.concat %b, %c {axis = 3 : i64, graph.view} : (tensor<1x8x3x5xf32>, tensor<1x8x3x5xf32>) -> tensor<1x8x3x10xf32>
  func.return %y, %d : tensor<1x4x3x5xf32>, tensor<1x8x3x10xf32>
}
