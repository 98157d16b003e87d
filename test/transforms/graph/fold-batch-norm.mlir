// RUN: opt-tool %s --split-input-file --graph-fold-batch-norm --graph-fold-parameters | filecheck %s
// RUN: opt-tool %s --split-input-file --graph-fold-batch-norm --graph-fold-parameters --graph-fold-batch-norm --graph-fold-parameters | filecheck %s

// The pattern alone refuses to scale weights of bytes, as the pass does.
// RUN: opt-tool %s --split-input-file --apply-pattern graph-fold-batch-norm.fold-affine-chain | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: func.func @after_convolution
// ALONE:         [[W:%[a-z0-9]+]] = graph.mul %w, %{{.*}} : (tensor<8x4x3x3xf32>, tensor<8x1x1x1xf32>)
// ALONE-NEXT:    [[Y:%[a-z0-9]+]] = graph.conv %x, [[W]]
// ALONE-NEXT:    [[Z:%[a-z0-9]+]] = graph.add [[Y]], %{{.*}} : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>)
// ALONE-NEXT:    graph.relu [[Z]]
// ALONE-LABEL: func.func @of_bytes
// ALONE:         [[Y:%[a-z0-9]+]] = graph.dense %x, %w
// ALONE-NEXT:    graph.mul [[Y]], %c

// Bias, normalization and Caffe's scale and shift behind a convolution: a weight and a bias.
// CHECK-LABEL: func.func @after_convolution
// CHECK-NEXT:    [[S:%[a-z0-9]+]] = graph.parameter @b.add : tensor<8x1x1xf32>
// CHECK-NEXT:    [[W:%[a-z0-9]+]] = graph.parameter @w.mul : tensor<8x4x3x3xf32>
// CHECK-NEXT:    [[Y:%[a-z0-9]+]] = graph.conv %x, [[W]]
// CHECK-NEXT:    [[Z:%[a-z0-9]+]] = graph.add [[Y]], [[S]]
// CHECK-NEXT:    graph.relu [[Z]]
// CHECK:       func.func @prepare
// CHECK:         graph.define_parameter @w.mul, {{%.*}} : tensor<8x4x3x3xf32>
func.func @after_convolution(%x: tensor<1x4x6x6xf32>) -> tensor<1x8x4x4xf32> {
  %w = graph.parameter @w : tensor<8x4x3x3xf32>
  %b = graph.parameter @b : tensor<8x1x1xf32>
  %s = graph.parameter @scale : tensor<8xf32>
  %m = graph.parameter @mean : tensor<8xf32>
  %p = graph.parameter @p : tensor<8xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x4x4xf32>
  %1 = graph.add %0, %b : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %2 = graph.batch_norm %1, %s, %m, %m, %s {epsilon = 1.0e-5 : f32} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  %3 = graph.reshape %p {shape = #graph.dims<[8, 1, 1]>} : (tensor<8xf32>) -> tensor<8x1x1xf32>
  %4 = graph.mul %2, %3 : (tensor<1x8x4x4xf32>, tensor<8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %5 = graph.add %3, %4 : (tensor<8x1x1xf32>, tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %6 = graph.relu %5 : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  func.return %6 : tensor<1x8x4x4xf32>
}

// -----

// Not behind a convolution, or behind one whose result is read elsewhere: one multiplication, one addition.
// CHECK-LABEL: func.func @elsewhere
// CHECK-NOT:     graph.batch_norm
// CHECK:         [[F:%[a-z0-9]+]] = graph.parameter @scale.reshape : tensor<8x1x1xf32>
// CHECK:         [[S:%[a-z0-9]+]] = graph.parameter @mean.reshape : tensor<8x1x1xf32>
// CHECK:         [[A:%[a-z0-9]+]] = graph.mul %x, [[F]]
// CHECK:         [[B:%[a-z0-9]+]] = graph.add [[A]], [[S]]
// CHECK:         [[C:%[a-z0-9]+]] = graph.conv [[B]], %w
// CHECK:         [[D:%[a-z0-9]+]] = graph.mul [[C]],
// CHECK:         [[E:%[a-z0-9]+]] = graph.add [[D]],
// CHECK:         func.return [[E]], [[C]]
func.func @elsewhere(%x: tensor<1x8x4x4xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) {
  %w = graph.parameter @w : tensor<8x8x1x1xf32>
  %s = graph.parameter @scale : tensor<8xf32>
  %m = graph.parameter @mean : tensor<8xf32>
  %0 = graph.batch_norm %x, %s, %m, %m, %s {epsilon = 1.0e-5 : f32} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %2 = graph.batch_norm %1, %s, %m, %m, %s {epsilon = 1.0e-5 : f32} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  func.return %2, %1 : tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>
}

// -----

// A dense layer has its channels last. A factor that differs along another axis stays outside of the weight.
// CHECK-LABEL: func.func @dense
// CHECK:         [[W:%[a-z0-9]+]] = graph.parameter @w.mul
// CHECK-NEXT:    graph.dense %x, [[W]] : (tensor<3x4xf32>, tensor<5x4xf32>)
// CHECK-NEXT:    [[Y:%[a-z0-9]+]] = graph.dense %x, %w
// CHECK-NEXT:    graph.mul [[Y]], %r
// CHECK:       func.func @prepare
// CHECK:         graph.reshape %f {shape = #graph.dims<[5, 1]>}
// CHECK:         graph.mul %w, {{%.*}} : (tensor<5x4xf32>, tensor<5x1xf32>)
func.func @dense(%x: tensor<3x4xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %w = graph.parameter @w : tensor<5x4xf32>
  %f = graph.parameter @f : tensor<5xf32>
  %r = graph.parameter @r : tensor<3x1xf32>
  %0 = graph.dense %x, %w : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %1 = graph.mul %f, %0 : (tensor<5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = graph.dense %x, %w : (tensor<3x4xf32>, tensor<5x4xf32>) -> tensor<3x5xf32>
  %3 = graph.mul %2, %r : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32>
  func.return %1, %3 : tensor<3x5xf32>, tensor<3x5xf32>
}

// -----

// A bias, or one multiplication and one addition, are as short as can be. What comes from inputs is not touched, nor is
// what a broadcast makes larger.
// CHECK-LABEL: func.func @short
// CHECK:         [[A:%[a-z0-9]+]] = graph.mul %x, %f
// CHECK-NEXT:    [[B:%[a-z0-9]+]] = graph.add [[A]], %f
// CHECK-NEXT:    [[C:%[a-z0-9]+]] = graph.mul [[B]], %y
// CHECK-NEXT:    [[D:%[a-z0-9]+]] = graph.mul %x, %y
// CHECK-NEXT:    graph.mul %z, %f
// CHECK-NOT:   @prepare
func.func @short(%x: tensor<3x5xf32>, %y: tensor<5xf32>, %z: tensor<1x1xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<1x5xf32>) {
  %f = graph.parameter @f : tensor<5xf32>
  %0 = graph.mul %x, %f : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %1 = graph.add %0, %f : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %2 = graph.mul %1, %y : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %3 = graph.mul %x, %y : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %4 = graph.mul %z, %f : (tensor<1x1xf32>, tensor<5xf32>) -> tensor<1x5xf32>
  func.return %2, %3, %4 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<1x5xf32>
}

// -----

// Weights of bytes could not hold the product.
// CHECK-LABEL: func.func @of_bytes
// CHECK:         [[Y:%[a-z0-9]+]] = graph.dense %x, %w : (tensor<2x4xui8>, tensor<3x4xi8>) -> tensor<2x3xi32>
// CHECK-NEXT:    graph.mul [[Y]],
func.func @of_bytes(%x: tensor<2x4xui8>) -> tensor<2x3xi32> {
  %w = graph.parameter @w : tensor<3x4xi8>
  %c = graph.parameter @c : tensor<3xi32>
  %0 = graph.dense %x, %w : (tensor<2x4xui8>, tensor<3x4xi8>) -> tensor<2x3xi32>
  %1 = graph.mul %0, %c : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %1 : tensor<2x3xi32>
}
