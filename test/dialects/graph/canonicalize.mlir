// RUN: opt-tool %s -p canonicalize | filecheck %s
// RUN: opt-tool %s -p canonicalize --check-semantics

// RUN: opt-tool %s --apply-pattern canonicalize.join-reshapes | filecheck %s --check-prefix=RESHAPES
// RESHAPES-LABEL: func.func @reshapes
// RESHAPES-NEXT:    [[A:%[a-z0-9]+]] = graph.reshape %x {shape = #graph.dims<[4, 3]>}
// RESHAPES-NEXT:    func.return [[A]], %x :
// RESHAPES-LABEL: func.func @transposes
// RESHAPES-COUNT-3: graph.transpose
// RESHAPES-LABEL: func.func @views
// RESHAPES-COUNT-2: graph.view

// CHECK-LABEL: func.func @reshapes
// CHECK-NEXT:    [[A:%[a-z0-9]+]] = graph.reshape %x {shape = #graph.dims<[4, 3]>}
// CHECK-NEXT:    func.return [[A]], %x :
func.func @reshapes(%x: tensor<2x6xf32>) -> (tensor<4x3xf32>, tensor<2x6xf32>) {
  %0 = graph.reshape %x {shape = #graph.dims<[12]>} : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<[4, 3]>} : (tensor<12xf32>) -> tensor<4x3xf32>
  %2 = graph.reshape %0 {shape = #graph.dims<[2, 6]>} : (tensor<12xf32>) -> tensor<2x6xf32>
  func.return %1, %2 : tensor<4x3xf32>, tensor<2x6xf32>
}

// RUN: opt-tool %s --apply-pattern canonicalize.join-transposes | filecheck %s --check-prefix=TRANSPOSES
// TRANSPOSES-LABEL: func.func @reshapes
// TRANSPOSES-COUNT-3: graph.reshape
// TRANSPOSES-LABEL: func.func @transposes
// TRANSPOSES-NEXT:    [[A:%[a-z0-9]+]] = graph.transpose %x {permutation = array<i64: 1, 2, 0>}
// TRANSPOSES-NEXT:    graph.transpose %x {permutation = array<i64: 0, 1, 2>}

// RUN: opt-tool %s --apply-pattern canonicalize.drop-sorted-transpose | filecheck %s --check-prefix=SORTED
// SORTED-LABEL: func.func @transposes
// SORTED-COUNT-2: graph.transpose
// SORTED-NEXT:    func.return %{{.*}}, %x :

// CHECK-LABEL: func.func @transposes
// CHECK-NEXT:    [[A:%[a-z0-9]+]] = graph.transpose %x {permutation = array<i64: 1, 2, 0>}
// CHECK-NEXT:    func.return [[A]], %x :
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2xf32>, tensor<2x3x4xf32>) {
  %0 = graph.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
  %2 = graph.transpose %x {permutation = array<i64: 0, 1, 2>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %1, %2 : tensor<3x4x2xf32>, tensor<2x3x4xf32>
}

// Of two clips only equal ones are joined.
// RUN: opt-tool %s --apply-pattern canonicalize.drop-repeated-bound | filecheck %s --check-prefix=BOUNDS
// BOUNDS-LABEL: func.func @bounds
// BOUNDS-COUNT-1: graph.relu
// BOUNDS-COUNT-2: graph.clip
// BOUNDS-NEXT:    func.return

// CHECK-LABEL: func.func @bounds
// CHECK-NEXT:    [[A:%[a-z0-9]+]] = graph.relu %x
// CHECK-NEXT:    [[B:%[a-z0-9]+]] = graph.clip [[A]] {low = 0.{{0*e?\+?0*}} : f32, high = 6.{{.*}} : f32}
// CHECK-NEXT:    [[C:%[a-z0-9]+]] = graph.clip [[B]] {low = 1.{{.*}} : f32}
// CHECK-NEXT:    func.return [[C]]
func.func @bounds(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.relu %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.clip %1 {low = 0.0 : f32, high = 6.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = graph.clip %2 {low = 0.0 : f32, high = 6.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %4 = graph.clip %3 {low = 1.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  func.return %4 : tensor<8xf32>
}

// RUN: opt-tool %s --apply-pattern canonicalize.drop-neutral-operand | filecheck %s --check-prefix=NEUTRAL
// NEUTRAL-LABEL: func.func @neutral
// NEUTRAL:         func.return %x, %n :
// NEUTRAL-LABEL: func.func @not_neutral
// NEUTRAL:         graph.add
// NEUTRAL-NEXT:    graph.div
// NEUTRAL-NEXT:    graph.mul

// CHECK-LABEL: func.func @neutral
// CHECK-NEXT:    func.return %x, %n :
func.func @neutral(%x: tensor<2x4xf32>, %n: tensor<4xi32>) -> (tensor<2x4xf32>, tensor<4xi32>) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %minus_zero = arith.constant dense<-0.0> : tensor<4xf32>
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %none = arith.constant dense<0> : tensor<i32>
  %0 = graph.add %x, %minus_zero : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = graph.sub %0, %zero : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = graph.mul %one, %1 : (tensor<1x1xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = graph.div %2, %one : (tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
  %4 = graph.add %none, %n : (tensor<i32>, tensor<4xi32>) -> tensor<4xi32>
  func.return %3, %4 : tensor<2x4xf32>, tensor<4xi32>
}

// -0.0 + 0.0 is 0.0; 1 / x is no x; and a product that broadcasts makes a larger tensor.
// CHECK-LABEL: func.func @not_neutral
// CHECK:         graph.add
// CHECK-NEXT:    graph.div
// CHECK-NEXT:    graph.mul
func.func @not_neutral(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %ones = arith.constant dense<1.0> : tensor<2x1xf32>
  %0 = graph.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.div %one, %0 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.mul %1, %ones : (tensor<4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  func.return %2 : tensor<2x4xf32>
}

// Scales of quantized tensors tell what these are.
// CHECK-LABEL: func.func @scales_of_one
// CHECK:         graph.mul
// CHECK:         graph.div
func.func @scales_of_one(%x: tensor<4xi32>) -> tensor<4xf32> {
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = graph.cast %x {to = f32} : (tensor<4xi32>) -> tensor<4xf32>
  %1 = graph.mul %0, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.div %2, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.round %3 : (tensor<4xf32>) -> tensor<4xf32>
  func.return %4 : tensor<4xf32>
}

// A constant without elements is no number.
// CHECK-LABEL: func.func @constant_of_nothing
// CHECK:         graph.add
func.func @constant_of_nothing(%x: tensor<2x0xf32>) -> tensor<2x0xf32> {
  %nothing = arith.constant dense<> : tensor<0xf32>
  %0 = graph.add %x, %nothing : (tensor<2x0xf32>, tensor<0xf32>) -> tensor<2x0xf32>
  func.return %0 : tensor<2x0xf32>
}

// What graph-annotate-views marked stays what it is.
// CHECK-LABEL: func.func @views
// CHECK-NEXT:    [[A:%[a-z0-9]+]] = graph.reshape %x {shape = #graph.dims<[8]>, graph.view}
// CHECK-NEXT:    graph.reshape [[A]] {shape = #graph.dims<[2, 4]>, graph.view}
func.func @views(%x: tensor<8xf32>) -> tensor<2x4xf32> {
  %0 = graph.reshape %x {shape = #graph.dims<[8]>, graph.view} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.reshape %0 {shape = #graph.dims<[2, 4]>, graph.view} : (tensor<8xf32>) -> tensor<2x4xf32>
  func.return %1 : tensor<2x4xf32>
}
