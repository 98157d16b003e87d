// RUN: opt-tool %s --graph-hoist-elementwise | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-hoist-elementwise.hoist-over-movement | filecheck %s

// x * sigmoid(x) is read as one result: both operators move, for every part.
// CHECK-LABEL: func.func @concat
// CHECK:         [[A:%.*]] = graph.conv %x, %w
// CHECK-NEXT:    [[B:%.*]] = graph.conv %x, %v
// CHECK:         [[P:%.*]] = graph.slice %p {axes = array<i64: 0>, starts = array<i64: 0>, stops = array<i64: 2>, steps = array<i64: 1>}
// CHECK-NEXT:    [[C:%.*]] = graph.mul [[A]], [[P]]
// CHECK-NEXT:    [[Q:%.*]] = graph.slice %p {axes = array<i64: 0>, starts = array<i64: 2>, stops = array<i64: 5>, steps = array<i64: 1>}
// CHECK-NEXT:    [[D:%.*]] = graph.mul [[B]], [[Q]]
// CHECK-NEXT:    [[E:%.*]] = graph.sigmoid [[C]]
// CHECK-NEXT:    [[F:%.*]] = graph.sigmoid [[D]]
// CHECK-NEXT:    [[G:%.*]] = graph.mul [[C]], [[E]]
// CHECK-NEXT:    [[H:%.*]] = graph.mul [[D]], [[F]]
// CHECK-NEXT:    graph.concat [[G]], [[H]] {axis = 1 : i64}
// CHECK-NEXT:    func.return
func.func @concat(%x: tensor<1x2x4x4xf32>) -> tensor<1x5x4x4xf32> {
  %w = graph.parameter @w : tensor<2x2x1x1xf32>
  %v = graph.parameter @v : tensor<3x2x1x1xf32>
  %p = graph.parameter @p : tensor<5x1x1xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.conv %x, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x5x4x4xf32>
  %3 = graph.mul %2, %p : (tensor<1x5x4x4xf32>, tensor<5x1x1xf32>) -> tensor<1x5x4x4xf32>
  %4 = graph.sigmoid %3 : (tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
  %5 = graph.mul %3, %4 : (tensor<1x5x4x4xf32>, tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
  func.return %5 : tensor<1x5x4x4xf32>
}

// In front of one movement after the other; a bias for the last axis stands beside the axis that it comes from.
// CHECK-LABEL: func.func @transpose
// CHECK:         [[A:%.*]] = graph.conv
// CHECK-NEXT:    [[R:%.*]] = graph.reshape [[A]]
// CHECK-NEXT:    [[P:%.*]] = graph.reshape %p {shape = #graph.dims<[1, 1, 3]>}
// CHECK-NEXT:    [[Q:%.*]] = graph.transpose [[P]] {permutation = array<i64: 0, 2, 1>} : (tensor<1x1x3xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT:    [[S:%.*]] = graph.add [[R]], [[Q]]
// CHECK-NEXT:    [[T:%.*]] = graph.relu [[S]]
// CHECK-NEXT:    graph.transpose [[T]]
func.func @transpose(%x: tensor<1x2x4x4xf32>) -> tensor<1x16x3xf32> {
  %w = graph.parameter @w : tensor<3x2x1x1xf32>
  %p = graph.parameter @p : tensor<3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<[1, 3, 16]>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x16xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<1x3x16xf32>) -> tensor<1x16x3xf32>
  %3 = graph.add %2, %p : (tensor<1x16x3xf32>, tensor<3xf32>) -> tensor<1x16x3xf32>
  %4 = graph.relu %3 : (tensor<1x16x3xf32>) -> tensor<1x16x3xf32>
  func.return %4 : tensor<1x16x3xf32>
}

// What is beside every element of a reshaped tensor is reshaped too; one number stays one number.
// CHECK-LABEL: func.func @reshape
// CHECK:         [[A:%.*]] = graph.dense
// CHECK-NEXT:    [[N:%.*]] = graph.reshape %n {shape = #graph.dims<[]>}
// CHECK-NEXT:    [[B:%.*]] = graph.mul [[A]], [[N]]
// CHECK-NEXT:    [[P:%.*]] = graph.reshape %p {shape = #graph.dims<[2, 4]>}
// CHECK-NEXT:    [[C:%.*]] = graph.add [[B]], [[P]]
// CHECK-NEXT:    graph.reshape [[C]]
func.func @reshape(%x: tensor<2x3xf32>) -> tensor<2x2x2xf32> {
  %w = graph.parameter @w : tensor<4x3xf32>
  %n = graph.parameter @n : tensor<1x1x1xf32>
  %p = graph.parameter @p : tensor<2x2x2xf32>
  %0 = graph.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<[2, 2, 2]>} : (tensor<2x4xf32>) -> tensor<2x2x2xf32>
  %2 = graph.mul %1, %n : (tensor<2x2x2xf32>, tensor<1x1x1xf32>) -> tensor<2x2x2xf32>
  %3 = graph.add %2, %p : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2x2xf32>
  func.return %3 : tensor<2x2x2xf32>
}

// Not if something else reads what is moved, before or behind the movement, nor what no operator computes.
// CHECK-LABEL: func.func @kept
// CHECK:         graph.dense
// CHECK-NEXT:    graph.transpose
// CHECK-NEXT:    graph.relu
// CHECK-NEXT:    graph.dense
// CHECK-NEXT:    graph.transpose
// CHECK-NEXT:    graph.tanh
// CHECK-NEXT:    graph.transpose
// CHECK-NEXT:    graph.relu
func.func @kept(%x: tensor<2x3xf32>, %y: tensor<5x3xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<3x2xf32>) {
  %w = graph.parameter @w : tensor<4x3xf32>
  %0 = graph.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %2 = graph.relu %1 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %3 = graph.dense %y, %w : (tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<5x4xf32>
  %4 = graph.transpose %3 {permutation = array<i64: 1, 0>} : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %5 = graph.tanh %4 : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %6 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %7 = graph.relu %6 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %0, %2, %4, %5, %7 : tensor<2x4xf32>, tensor<4x2xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<3x2xf32>
}
