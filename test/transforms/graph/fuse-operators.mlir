// RUN: opt-tool %s --graph-fuse-operators | filecheck %s
// RUN: opt-tool %s --pass-pipeline='builtin.module(graph-fuse-operators{explain})' | filecheck %s --check-prefix=EXPLAIN
// RUN: opt-tool %s --pass-pipeline='builtin.module(graph-fuse-operators{explain})' | opt-tool - | filecheck %s --check-prefix=EXPLAIN
// RUN: opt-tool %s --graph-fuse-operators --graph-fuse-operators | filecheck %s

// A convolution takes bias, activation and a residual with it; the constant moves inside.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT:    %w = graph.parameter @w
// CHECK-NEXT:    %b = graph.parameter @b
// CHECK-NEXT:    %c = arith.constant
// CHECK-NEXT:    [[Y:%[a-z0-9]+]] = graph.fused "conv_add_add_relu_mul" (%x, %w, %b) : (
// CHECK-NEXT:    ^bb0(
// CHECK-NEXT:      arith.constant dense<2.0{{.*}}> : tensor<f32>
// CHECK-NEXT:      graph.conv
// CHECK:           graph.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return [[Y]]
func.func @residual(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %w = graph.parameter @w : tensor<8x8x1x1xf32>
  %b = graph.parameter @b : tensor<8x1x1xf32>
  %c = arith.constant dense<2.0> : tensor<f32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = graph.add %0, %b : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %2 = graph.add %1, %x : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %3 = graph.relu %2 : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %4 = graph.mul %3, %c : (tensor<1x8x4x4xf32>, tensor<f32>) -> tensor<1x8x4x4xf32>
  func.return %4 : tensor<1x8x4x4xf32>
}

// One product a kernel; what stands in front of one is not computed inside it.
// CHECK-LABEL: func.func @two_products
// CHECK:         graph.fused "relu"
// CHECK:         graph.fused "dense_tanh"
// CHECK:         graph.fused "dense"
// EXPLAIN-LABEL: func.func @two_products
// EXPLAIN:       graph.fused "dense_tanh"
// EXPLAIN-SAME:  attributes {tilework.not_fused = "with relu: dense needs its operand whole, not element by element"}
// EXPLAIN:       graph.fused "dense"
// EXPLAIN-SAME:  attributes {tilework.not_fused = "with tanh: only what reads its result element by element is fused behind tanh"}
func.func @two_products(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x8xf32> {
  %0 = graph.relu %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = graph.dense %0, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %2 = graph.tanh %1 : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %3 = graph.dense %2, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  func.return %3 : tensor<1x8xf32>
}

// A view stays outside and ends the groups on both sides.
// CHECK-LABEL: func.func @view
// CHECK:         [[A:%[a-z0-9]+]] = graph.fused "relu" (%x)
// CHECK:         [[B:%[a-z0-9]+]] = graph.reshape [[A]]
// CHECK:         graph.fused "exp" ([[B]])
func.func @view(%x: tensor<2x4xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<[8]>, graph.view} : (tensor<2x4xf32>) -> tensor<8xf32>
  %2 = graph.exp %1 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %2 : tensor<8xf32>
}

// @prepare runs once.
// CHECK-LABEL: func.func @prepare
// CHECK-NOT:     graph.fused
func.func @prepare() {
  %w = graph.parameter @w : tensor<8x8x1x1xf32>
  %v = graph.neg %w : (tensor<8x8x1x1xf32>) -> tensor<8x8x1x1xf32>
  graph.define_parameter @v, %v : tensor<8x8x1x1xf32>
  func.return
}

// The operators of a scan's body are fused among themselves, and why others are not is told there.
// CHECK-LABEL: func.func @scan
// CHECK:         graph.fused "exp" (%x)
// CHECK:         graph.scan from (%h) over
// CHECK-NEXT:    ^bb0(
// CHECK-NEXT:      [[N:%[a-z0-9]+]] = graph.fused "dense_add_tanh" (%s, %k, %e)
// CHECK:           graph.yield [[N]]
// CHECK:         graph.fused "relu"
// EXPLAIN-LABEL: func.func @scan
// EXPLAIN:         graph.scan
// EXPLAIN:           graph.fused "neg"
// EXPLAIN:           graph.fused "dense"
// EXPLAIN-SAME:      attributes {tilework.not_fused = "with neg: dense needs its operand whole, not element by element"}
func.func @scan(%h: tensor<1x4xf32>, %x: tensor<5x1x4xf32>, %w: tensor<4x4xf32>) -> tensor<1x4xf32> {
  %0 = graph.exp %x : (tensor<5x1x4xf32>) -> tensor<5x1x4xf32>
  %end, %ys = graph.scan from (%h) over (%0) with (%w) : from (tensor<1x4xf32>) over (tensor<5x1x4xf32>) with (tensor<4x4xf32>) -> (tensor<1x4xf32>, tensor<5x1x4xf32>) {
  ^bb0(%s: tensor<1x4xf32>, %e: tensor<1x4xf32>, %k: tensor<4x4xf32>):
    %1 = graph.dense %s, %k : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %2 = graph.add %1, %e : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %3 = graph.tanh %2 : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %4 = graph.neg %e : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %5 = graph.dense %4, %k : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    graph.yield %3, %5 : tensor<1x4xf32>, tensor<1x4xf32>
  }
  %6 = graph.relu %end : (tensor<1x4xf32>) -> tensor<1x4xf32>
  func.return %6 : tensor<1x4xf32>
}

// What elements are gathered of is fused into a gather. The numbers that say which are not: they are read again for each
// element of a row.
// CHECK-LABEL: func.func @gather
// CHECK:         [[I:%[a-z0-9_]+]] = graph.fused "add" (%i)
// CHECK:         graph.fused "exp_gather_relu" (%x, [[I]])
// EXPLAIN-LABEL: func.func @gather
// EXPLAIN:       graph.fused "exp_gather_relu"
// EXPLAIN-SAME:  attributes {tilework.not_fused = "with add: gather needs its operand whole, not element by element"}
func.func @gather(%x: tensor<9x4xf32>, %i: tensor<6xi64>) -> tensor<6x4xf32> {
  %one = arith.constant dense<1> : tensor<i64>
  %0 = graph.exp %x : (tensor<9x4xf32>) -> tensor<9x4xf32>
  %1 = graph.add %i, %one : (tensor<6xi64>, tensor<i64>) -> tensor<6xi64>
  %2 = graph.gather %0, %1 {axis = 0 : i64} : (tensor<9x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %3 = graph.relu %2 : (tensor<6x4xf32>) -> tensor<6x4xf32>
  func.return %3 : tensor<6x4xf32>
}
