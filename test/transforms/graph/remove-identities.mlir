// RUN: opt-tool %s --graph-remove-identities | filecheck %s

// RUN: opt-tool %s --apply-pattern graph-remove-identities.drop-dropout | filecheck %s --check-prefix=DROPOUT
// DROPOUT-LABEL: func.func @identities
// DROPOUT-NEXT:    graph.reshape %x

// RUN: opt-tool %s --apply-pattern graph-remove-identities.drop-same-type | filecheck %s --check-prefix=SAME
// SAME-LABEL: func.func @identities
// SAME-NEXT:    [[D:%[a-z0-9]+]] = graph.dropout %x
// SAME-NEXT:    graph.transpose [[D]]
// SAME-NEXT:    graph.concat
// SAME-NEXT:    [[S:%[a-z0-9]+]] = graph.slice
// SAME-NEXT:    graph.reshape [[S]] {shape = #graph.dims<[3, 4]>}
// SAME-LABEL: func.func @needed
// SAME:         graph.cast %x {to = f16}

// RUN: opt-tool %s --apply-pattern graph-remove-identities.drop-whole-slice | filecheck %s --check-prefix=SLICE
// SLICE-LABEL: func.func @identities
// SLICE:         [[C:%[a-z0-9]+]] = graph.concat
// SLICE-NEXT:    graph.pad [[C]]
// SLICE-LABEL: func.func @reversed
// SLICE-NEXT:    graph.slice

// RUN: opt-tool %s --apply-pattern graph-remove-identities.drop-single-concat | filecheck %s --check-prefix=CONCAT
// CONCAT-LABEL: func.func @identities
// CONCAT:         [[T:%[a-z0-9]+]] = graph.transpose
// CONCAT-NEXT:    graph.slice [[T]]
// CONCAT-LABEL: func.func @needed
// CONCAT-NEXT:    graph.concat %x, %x

// RUN: opt-tool %s --apply-pattern graph-remove-identities.reshape-ones | filecheck %s --check-prefix=ONES
// ONES-LABEL: func.func @needed
// ONES:         graph.transpose %x
// ONES-LABEL: func.func @ones
// ONES-NEXT:    [[A:%[a-z0-9]+]] = graph.reshape %x {shape = #graph.dims<[N, 1, 1, 8]>}
// ONES-NEXT:    graph.reshape [[A]] {shape = #graph.dims<[N, 8]>}
// ONES-LABEL: func.func @equal_ones
// ONES-NEXT:    func.return %x :

// RUN: opt-tool %s --apply-pattern graph-remove-identities.drop-sorted-transpose | filecheck %s --check-prefix=SORTED
// SORTED-LABEL: func.func @identities
// SORTED:         [[R:%[a-z0-9]+]] = graph.reshape
// SORTED-NEXT:    graph.concat [[R]]
// SORTED-LABEL: func.func @needed
// SORTED:         graph.transpose %x

// RUN: opt-tool %s --apply-pattern graph-remove-identities.join-transposes | filecheck %s --check-prefix=TRANSPOSES
// TRANSPOSES-LABEL: func.func @identities
// TRANSPOSES:         [[R:%[a-z0-9]+]] = graph.reshape %{{.*}} {shape = #graph.dims<[2, 6]>} : (tensor<3x4xf32>)
// TRANSPOSES-NEXT:    func.return [[R]]
// TRANSPOSES-LABEL: func.func @ones
// TRANSPOSES-NEXT:    graph.transpose

// RUN: opt-tool %s --apply-pattern graph-remove-identities.join-reshapes | filecheck %s --check-prefix=RESHAPES
// RESHAPES-LABEL: func.func @joined
// RESHAPES:         [[T:%[a-z0-9]+]] = graph.transpose {{.*}} : (tensor<3x2x4xf32>)
// RESHAPES-NEXT:    graph.reshape [[T]] {shape = #graph.dims<[12, 2]>}
// RESHAPES-LABEL: func.func @ones
// RESHAPES-NEXT:    graph.transpose

// RUN: opt-tool %s --apply-pattern graph-remove-identities.drop-repeated-bound | filecheck %s --check-prefix=BOUND
// RUN: opt-tool %s --apply-pattern graph-remove-identities.drop-neutral-operand | filecheck %s --check-prefix=NEUTRAL
// BOUND-LABEL: func.func @arithmetic
// BOUND-NEXT:    [[R:%[a-z0-9]+]] = graph.relu %x
// BOUND-NEXT:    [[Z:%[a-z0-9]+]] = arith.constant
// BOUND-NEXT:    graph.sub [[R]], [[Z]]
// BOUND-NEXT:    graph.sub [[Z]], %x
// NEUTRAL-LABEL: func.func @arithmetic
// NEUTRAL-COUNT-2: graph.relu
// NEUTRAL-NOT:     graph.sub %{{[0-9]}}
// NEUTRAL:         graph.sub %{{.*}}, %x

// CHECK-LABEL: func.func @identities(%x: tensor<2x6xf32>)
// CHECK-NEXT:    func.return %x :
func.func @identities(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %0 = graph.dropout %x {ratio = 0.5 : f32} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<[2, 6]>} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %2 = graph.transpose %1 {permutation = array<i64: 0, 1>} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %3 = graph.concat %2 {axis = 0 : i64} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %4 = graph.slice %3 {axes = array<i64: 1>, starts = array<i64: 0>, stops = array<i64: 6>, steps = array<i64: 1>} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %5 = graph.pad %4 {pads = array<i64: 0, 0, 0, 0>, value = 1.0 : f32} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %6 = graph.broadcast %5 {shape = #graph.dims<[2, 6]>} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %7 = graph.cast %6 {to = f32} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %8 = graph.reshape %7 {shape = #graph.dims<[3, 4]>} : (tensor<2x6xf32>) -> tensor<3x4xf32>
  %9 = graph.reshape %8 {shape = #graph.dims<[2, 6]>} : (tensor<3x4xf32>) -> tensor<2x6xf32>
  %10 = graph.transpose %9 {permutation = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %11 = graph.transpose %10 {permutation = array<i64: 1, 0>} : (tensor<6x2xf32>) -> tensor<2x6xf32>
  func.return %11 : tensor<2x6xf32>
}

// A slice that walks backwards over everything is no identity.
// CHECK-LABEL: func.func @reversed
// CHECK-NEXT:    graph.slice
func.func @reversed(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %0 = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 5>, stops = array<i64: -1>, steps = array<i64: -1>} : (tensor<2x6xf32>) -> tensor<2x6xf32>
  func.return %0 : tensor<2x6xf32>
}

// What is needed in between stays.
// CHECK-LABEL: func.func @joined
// CHECK-NEXT:    [[A:%[a-z0-9]+]] = graph.transpose %x {permutation = array<i64: 1, 0, 2>}
// CHECK-NEXT:    [[B:%[a-z0-9]+]] = graph.transpose %x {permutation = array<i64: 1, 2, 0>}
// CHECK-NEXT:    [[C:%[a-z0-9]+]] = graph.reshape [[B]] {shape = #graph.dims<[12, 2]>}
// CHECK-NEXT:    func.return [[A]], [[C]]
func.func @joined(%x: tensor<2x3x4xf32>) -> (tensor<3x2x4xf32>, tensor<12x2xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
  %2 = graph.reshape %1 {shape = #graph.dims<[6, 4]>} : (tensor<3x4x2xf32>) -> tensor<6x4xf32>
  %3 = graph.reshape %2 {shape = #graph.dims<[12, 2]>} : (tensor<6x4xf32>) -> tensor<12x2xf32>
  func.return %0, %3 : tensor<3x2x4xf32>, tensor<12x2xf32>
}

// Two parts, another type, and axes that change places.
// CHECK-LABEL: func.func @needed
// CHECK-NEXT:    graph.concat
// CHECK-NEXT:    graph.cast
// CHECK-NEXT:    graph.transpose
func.func @needed(%x: tensor<2x6xf32>) -> (tensor<4x6xf32>, tensor<2x6xf16>, tensor<6x2xf32>) {
  %0 = graph.concat %x, %x {axis = 0 : i64} : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  %1 = graph.cast %x {to = f16} : (tensor<2x6xf32>) -> tensor<2x6xf16>
  %2 = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  func.return %0, %1, %2 : tensor<4x6xf32>, tensor<2x6xf16>, tensor<6x2xf32>
}

// CHECK-LABEL: func.func @ones
// CHECK-NEXT:    graph.reshape %x {shape = #graph.dims<[N, 8]>}
// CHECK-NEXT:    func.return
func.func @ones(%x: tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>) -> tensor<?x8xf32, #graph.dims<[N, 8]>> {
  %0 = graph.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x8x1x1xf32, #graph.dims<[N, 8, 1, 1]>>) -> tensor<?x1x1x8xf32, #graph.dims<[N, 1, 1, 8]>>
  %1 = graph.reshape %0 {shape = #graph.dims<[N, 8]>} : (tensor<?x1x1x8xf32, #graph.dims<[N, 1, 1, 8]>>) -> tensor<?x8xf32, #graph.dims<[N, 8]>>
  func.return %1 : tensor<?x8xf32, #graph.dims<[N, 8]>>
}

// CHECK-LABEL: func.func @equal_ones
// CHECK-NEXT:    func.return %x :
func.func @equal_ones(%x: tensor<1x1x4xf32>) -> tensor<1x1x4xf32> {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  func.return %0 : tensor<1x1x4xf32>
}

// CHECK-LABEL: func.func @arithmetic
// CHECK-NEXT:    [[R:%[a-z0-9]+]] = graph.relu %x
// CHECK-NEXT:    [[Z:%[a-z0-9]+]] = arith.constant
// CHECK-NEXT:    [[S:%[a-z0-9]+]] = graph.sub [[Z]], %x
// CHECK-NEXT:    func.return [[R]], [[S]]
func.func @arithmetic(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.relu %0 : (tensor<8xf32>) -> tensor<8xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %2 = graph.sub %1, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.sub %zero, %x : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %2, %3 : tensor<8xf32>, tensor<8xf32>
}
