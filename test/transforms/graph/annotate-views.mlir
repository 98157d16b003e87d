// RUN: opt-tool %s --graph-annotate-views | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-annotate-views.concat-in-place | filecheck %s --check-prefix=CONCAT
// RUN: opt-tool %s --apply-pattern graph-annotate-views.slice-in-place | filecheck %s --check-prefix=SLICE
// RUN: opt-tool %s --apply-pattern graph-annotate-views.reshape-in-place | filecheck %s --check-prefix=RESHAPE

// CONCAT-LABEL: func.func @nested
// CONCAT-COUNT-2: {axis = 1 : i64, graph.view}
// CONCAT-NEXT:    graph.reshape {{.*}} {shape = #graph.dims<[1, 32]>} :
// CONCAT-LABEL: func.func @no_parts
// CONCAT-NOT:     graph.view
// CONCAT-LABEL: func.func @one_part

// SLICE-LABEL: func.func @nested
// SLICE-COUNT-2:  {axis = 1 : i64} :
// SLICE-LABEL: func.func @slices
// SLICE:          graph.slice {{.*}} steps = array<i64: 2, 1>, graph.view}
// SLICE:          graph.slice {{.*}} steps = array<i64: 1, 2>} :

// A tensor that no concatenation holds yet has no gaps, so that this pattern runs last.
// RESHAPE-LABEL: func.func @nested
// RESHAPE-COUNT-2: {axis = 1 : i64} :
// RESHAPE:         graph.reshape {{.*}} {shape = #graph.dims<[1, 32]>, graph.view}
// RESHAPE-LABEL: func.func @one_part
// RESHAPE:         graph.reshape {{.*}} {shape = #graph.dims<[6]>, graph.view}
// RESHAPE-LABEL: func.func @images
// RESHAPE:         graph.reshape {{.*}} {shape = #graph.dims<[4, 8, 3, 3]>} :

// Parts of parts (as in a DenseNet), and a flattening at the end.
// CHECK-LABEL: func.func @nested
// CHECK:         graph.concat {{.*}} {axis = 1 : i64, graph.view}
// CHECK:         graph.concat {{.*}} {axis = 1 : i64, graph.view}
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[1, 32]>, graph.view}
func.func @nested(%x: tensor<1x2x2x2xf32>, %w: tensor<4x2x1x1xf32>) -> tensor<1x32xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x2x2xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x2x2xf32>
  %1 = graph.relu %0 : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %2 = graph.tanh %x : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %3 = graph.concat %1, %2 {axis = 1 : i64} : (tensor<1x4x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x6x2x2xf32>
  %4 = graph.exp %3 : (tensor<1x6x2x2xf32>) -> tensor<1x6x2x2xf32>
  %5 = graph.slice %4 {axes = array<i64: 1>, starts = array<i64: 0>, stops = array<i64: 2>, steps = array<i64: 1>} : (tensor<1x6x2x2xf32>) -> tensor<1x2x2x2xf32>
  %6 = graph.neg %5 : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %7 = graph.concat %3, %6 {axis = 1 : i64} : (tensor<1x6x2x2xf32>, tensor<1x2x2x2xf32>) -> tensor<1x8x2x2xf32>
  %8 = graph.reshape %7 {shape = #graph.dims<[1, 32]>} : (tensor<1x8x2x2xf32>) -> tensor<1x32xf32>
  func.return %8 : tensor<1x32xf32>
}

// Not in place: the function's arguments, results, one tensor twice, parts of another concatenation, distances that
// depend on a symbol.
// CHECK-LABEL: func.func @no_parts
// CHECK-NOT:     graph.view
// CHECK:         func.return
func.func @no_parts(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>, %y: tensor<2x?xf32, #graph.dims<[2, N]>>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x?xf32, #graph.dims<[4, N]>>) {
  %0 = graph.dense %x, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %1 = graph.concat %0, %x {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %2 = graph.concat %0, %0 {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %3 = graph.dense %0, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %4 = graph.concat %0, %3 {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %5 = graph.softmax %y {axis = 1 : i64} : (tensor<2x?xf32, #graph.dims<[2, N]>>) -> tensor<2x?xf32, #graph.dims<[2, N]>>
  %6 = graph.softmax %5 {axis = 1 : i64} : (tensor<2x?xf32, #graph.dims<[2, N]>>) -> tensor<2x?xf32, #graph.dims<[2, N]>>
  %7 = graph.concat %5, %6 {axis = 0 : i64} : (tensor<2x?xf32, #graph.dims<[2, N]>>, tensor<2x?xf32, #graph.dims<[2, N]>>) -> tensor<4x?xf32, #graph.dims<[4, N]>>
  func.return %1, %2, %4, %3, %7 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x?xf32, #graph.dims<[4, N]>>
}

// Each tensor is part of one concatenation at most: the first. What is part of one has gaps and is not reshaped in place.
// CHECK-LABEL: func.func @one_part
// CHECK:         graph.concat {{.*}} {axis = 1 : i64, graph.view}
// CHECK:         graph.concat {{.*}} {axis = 0 : i64} :
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[6]>} :
func.func @one_part(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> (tensor<2x6xf32>, tensor<4x3xf32>, tensor<6xf32>) {
  %0 = graph.dense %x, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %3 = graph.concat %1, %0 {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %4 = graph.reshape %1 {shape = #graph.dims<[6]>} : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %2, %3, %4 : tensor<2x6xf32>, tensor<4x3xf32>, tensor<6xf32>
}

// Slices: forwards, in steps of 1 along the last axis, not returned.
// CHECK-LABEL: func.func @slices
// CHECK:         graph.slice {{.*}} steps = array<i64: 2, 1>, graph.view}
// CHECK:         graph.slice {{.*}} steps = array<i64: 1, 2>} :
// CHECK:         graph.slice {{.*}} steps = array<i64: -1>} :
// CHECK:         graph.slice {{.*}} steps = array<i64: 1>} :
func.func @slices(%x: tensor<4x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<4x4xf32>, tensor<2x4xf32>) {
  %0 = graph.slice %x {axes = array<i64: 0, 1>, starts = array<i64: 0, 1>, stops = array<i64: 4, 3>, steps = array<i64: 2, 1>} : (tensor<4x4xf32>) -> tensor<2x2xf32>
  %1 = graph.slice %x {axes = array<i64: 0, 1>, starts = array<i64: 0, 0>, stops = array<i64: 2, 4>, steps = array<i64: 1, 2>} : (tensor<4x4xf32>) -> tensor<2x2xf32>
  %2 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 3>, stops = array<i64: -1>, steps = array<i64: -1>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 0>, stops = array<i64: 2>, steps = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %4 = graph.relu %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = graph.relu %1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = graph.relu %2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %4, %5, %6, %3 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<4x4xf32>, tensor<2x4xf32>
}

// Between cheap operators fusion saves more; behind a product, before one, or on an argument, a view does. An argument
// returned under another shape must be copied, by a kernel.
// CHECK-LABEL: func.func @fusion_first
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[4]>} :
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[4, 1]>, graph.view}
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[1, 4]>, graph.view}
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[2, 2]>, graph.view}
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[4, 1, 1]>} :
// CHECK:         graph.concat {{.*}} {axis = 0 : i64} :
func.func @fusion_first(%x: tensor<2x2xf32>, %w: tensor<4x1xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4x1x1xf32>, tensor<4x2xf32>) {
  %0 = graph.exp %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<[4]>} : (tensor<2x2xf32>) -> tensor<4xf32>
  %2 = graph.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.reshape %x {shape = #graph.dims<[4, 1]>} : (tensor<2x2xf32>) -> tensor<4x1xf32>
  %4 = graph.tanh %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = graph.reshape %4 {shape = #graph.dims<[1, 4]>} : (tensor<4x1xf32>) -> tensor<1x4xf32>
  %6 = graph.matmul %5, %w : (tensor<1x4xf32>, tensor<4x1xf32>) -> tensor<1x1xf32>
  %7 = graph.dense %w, %w : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %8 = graph.matmul %6, %5 : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %9 = graph.reshape %8 {shape = #graph.dims<[2, 2]>} : (tensor<1x4xf32>) -> tensor<2x2xf32>
  %10 = graph.relu %9 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %11 = graph.reshape %w {shape = #graph.dims<[4, 1, 1]>} : (tensor<4x1xf32>) -> tensor<4x1x1xf32>
  %12 = graph.neg %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %13 = graph.abs %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %14 = graph.concat %12, %13 {axis = 0 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  func.return %2, %10, %11, %14 : tensor<4xf32>, tensor<2x2xf32>, tensor<4x1x1xf32>, tensor<4x2xf32>
}

// In the body of a scan as outside: parts are made in place; what a step yields is not, as it lies where its sequence is.
// CHECK-LABEL: func.func @scan
// CHECK:         graph.scan
// CHECK:           graph.concat {{.*}} {axis = 1 : i64, graph.view}
// CHECK:           graph.slice {{.*}} steps = array<i64: 1>, graph.view}
// CHECK:           graph.slice {{.*}} steps = array<i64: 1>} :
// CHECK:           graph.yield
func.func @scan(%h: tensor<1x3xf32>, %xs: tensor<5x1x3xf32>, %w: tensor<3x3xf32>) -> (tensor<1x3xf32>, tensor<5x1x3xf32>) {
  %end, %ys = graph.scan from (%h) over (%xs) with (%w) : from (tensor<1x3xf32>) over (tensor<5x1x3xf32>) with (tensor<3x3xf32>) -> (tensor<1x3xf32>, tensor<5x1x3xf32>) {
  ^bb0(%s: tensor<1x3xf32>, %x: tensor<1x3xf32>, %k: tensor<3x3xf32>):
    %0 = graph.dense %s, %k : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<1x3xf32>
    %1 = graph.dense %x, %k : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<1x3xf32>
    %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x6xf32>
    %3 = graph.softmax %2 {axis = 1 : i64} : (tensor<1x6xf32>) -> tensor<1x6xf32>
    %4 = graph.slice %3 {axes = array<i64: 1>, starts = array<i64: 0>, stops = array<i64: 3>, steps = array<i64: 1>} : (tensor<1x6xf32>) -> tensor<1x3xf32>
    %5 = graph.dense %4, %k : (tensor<1x3xf32>, tensor<3x3xf32>) -> tensor<1x3xf32>
    %6 = graph.slice %3 {axes = array<i64: 1>, starts = array<i64: 3>, stops = array<i64: 6>, steps = array<i64: 1>} : (tensor<1x6xf32>) -> tensor<1x3xf32>
    graph.yield %5, %6 : tensor<1x3xf32>, tensor<1x3xf32>
  }
  func.return %end, %ys : tensor<1x3xf32>, tensor<5x1x3xf32>
}

// Images that a transpose moves: what makes a batch of them, or takes it or channels apart, is part of that; not where
// rows are put together, or where another operator reads the batch as it is.
// CHECK-LABEL: func.func @images
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[4, 8, 3, 3]>} :
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[1, 2, 2, 8, 3, 3]>} :
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[1, 8, 6, 6]>, graph.view}
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[2, 4, 6, 6]>, graph.view}
func.func @images(%x: tensor<1x8x3x2x3x2xf32>, %w: tensor<8x8x1x1xf32>) -> (tensor<1x8x6x6xf32>, tensor<2x4x6x6xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 0, 3, 5, 1, 2, 4>} : (tensor<1x8x3x2x3x2xf32>) -> tensor<1x2x2x8x3x3xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<[4, 8, 3, 3]>} : (tensor<1x2x2x8x3x3xf32>) -> tensor<4x8x3x3xf32>
  %2 = graph.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<4x8x3x3xf32>, tensor<8x8x1x1xf32>) -> tensor<4x8x3x3xf32>
  %3 = graph.reshape %2 {shape = #graph.dims<[1, 2, 2, 8, 3, 3]>} : (tensor<4x8x3x3xf32>) -> tensor<1x2x2x8x3x3xf32>
  %4 = graph.transpose %3 {permutation = array<i64: 0, 3, 4, 1, 5, 2>} : (tensor<1x2x2x8x3x3xf32>) -> tensor<1x8x3x2x3x2xf32>
  %5 = graph.reshape %4 {shape = #graph.dims<[1, 8, 6, 6]>} : (tensor<1x8x3x2x3x2xf32>) -> tensor<1x8x6x6xf32>
  %6 = graph.conv %5, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x6x6xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x6x6xf32>
  %7 = graph.relu %6 : (tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %8 = graph.reshape %7 {shape = #graph.dims<[2, 4, 6, 6]>} : (tensor<1x8x6x6xf32>) -> tensor<2x4x6x6xf32>
  %9 = graph.softmax %8 {axis = 1 : i64} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  func.return %6, %9 : tensor<1x8x6x6xf32>, tensor<2x4x6x6xf32>
}

// CHECK-LABEL: func.func @phases
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[1, 2, 2, 4, 3, 3]>} :
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[1, 4, 6, 6]>, graph.view}
func.func @phases(%x: tensor<1x8x3x3xf32>, %w: tensor<16x8x1x1xf32>, %v: tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x3x3xf32>, tensor<16x8x1x1xf32>) -> tensor<1x16x3x3xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<[1, 2, 2, 4, 3, 3]>} : (tensor<1x16x3x3xf32>) -> tensor<1x2x2x4x3x3xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 3, 4, 1, 5, 2>} : (tensor<1x2x2x4x3x3xf32>) -> tensor<1x4x3x2x3x2xf32>
  %3 = graph.reshape %2 {shape = #graph.dims<[1, 4, 6, 6]>} : (tensor<1x4x3x2x3x2xf32>) -> tensor<1x4x6x6xf32>
  %4 = graph.conv %3, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x6x6xf32>
  func.return %4 : tensor<1x4x6x6xf32>
}

// Between cheap operators a reshape is part of their kernel, unless that had to divide by open sizes again and again.
// CHECK-LABEL: func.func @open
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[N floordiv 7, 7, M]>, checked} :
// CHECK:         graph.reshape {{.*}} {shape = #graph.dims<[4, (M * N) floordiv 12, 3]>, checked, graph.view}
func.func @open(%x: tensor<?x?xf32, #graph.dims<[N, M]>>) -> (tensor<?x7x?xf32, #graph.dims<[N floordiv 7, 7, M]>>, tensor<4x?x3xf32, #graph.dims<[4, (N * M) floordiv 12, 3]>>) {
  %0 = graph.exp %x : (tensor<?x?xf32, #graph.dims<[N, M]>>) -> tensor<?x?xf32, #graph.dims<[N, M]>>
  %1 = graph.reshape %0 {shape = #graph.dims<[N floordiv 7, 7, M]>, checked} : (tensor<?x?xf32, #graph.dims<[N, M]>>) -> tensor<?x7x?xf32, #graph.dims<[N floordiv 7, 7, M]>>
  %2 = graph.relu %1 : (tensor<?x7x?xf32, #graph.dims<[N floordiv 7, 7, M]>>) -> tensor<?x7x?xf32, #graph.dims<[N floordiv 7, 7, M]>>
  %3 = graph.tanh %x : (tensor<?x?xf32, #graph.dims<[N, M]>>) -> tensor<?x?xf32, #graph.dims<[N, M]>>
  %4 = graph.reshape %3 {shape = #graph.dims<[4, (N * M) floordiv 12, 3]>, checked} : (tensor<?x?xf32, #graph.dims<[N, M]>>) -> tensor<4x?x3xf32, #graph.dims<[4, (N * M) floordiv 12, 3]>>
  %5 = graph.relu %4 : (tensor<4x?x3xf32, #graph.dims<[4, (N * M) floordiv 12, 3]>>) -> tensor<4x?x3xf32, #graph.dims<[4, (N * M) floordiv 12, 3]>>
  func.return %2, %5 : tensor<?x7x?xf32, #graph.dims<[N floordiv 7, 7, M]>>, tensor<4x?x3xf32, #graph.dims<[4, (N * M) floordiv 12, 3]>>
}
