// RUN: opt-tool %s --target='llvm -mcpu=haswell' --target=npu=vdla -p optimize-graph,apply-rules,lower-to-te,te-to-schedule | filecheck %s

// A convolution of bytes on the accelerator, and what makes bytes of its sums, tile by tile: sums and what follows live in
// the memory of sums, images and weights in memories of their own, and the innermost loops are the machine's product.

// CHECK-LABEL: schedule.sequence @conv
// CHECK:         schedule.compute_inline %unpack
// CHECK:         %[[SUMS:\w+]], {{.*}} = schedule.cache_write %conv "vdla.acc"
// CHECK:         schedule.cache_write %pad "vdla.inp"
// CHECK:         schedule.cache_read %{{.*}} "vdla.wgt" readers(%[[SUMS]])
// CHECK:         schedule.compute_at %[[SUMS]], %{{.*}}
// CHECK:         schedule.tensorize %{{.*}} @vdla.gemm
func.func @two(%x: tensor<1x16x5x5xi8>) -> tensor<1x16x5x5xi8> {
  %scale = arith.constant dense<0.25> : tensor<f32>
  %four = arith.constant dense<4.0> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<1x16x5x5xi8>) -> tensor<1x16x5x5xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<1x16x5x5xi32>) -> tensor<1x16x5x5xf32>
  %2 = graph.mul %1, %scale : (tensor<1x16x5x5xf32>, tensor<f32>) -> tensor<1x16x5x5xf32>
  %w = graph.parameter @w : tensor<16x16x3x3xi8>
  %3 = graph.cast %w {to = i32} : (tensor<16x16x3x3xi8>) -> tensor<16x16x3x3xi32>
  %4 = graph.cast %3 {to = f32} : (tensor<16x16x3x3xi32>) -> tensor<16x16x3x3xf32>
  %5 = graph.mul %4, %scale : (tensor<16x16x3x3xf32>, tensor<f32>) -> tensor<16x16x3x3xf32>
  %6 = graph.conv %2, %5 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x5x5xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x5x5xf32>
  %7 = graph.relu %6 : (tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xf32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %8 = graph.div %7, %one : (tensor<1x16x5x5xf32>, tensor<f32>) -> tensor<1x16x5x5xf32>
  %9 = graph.round %8 : (tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xf32>
  %10 = graph.clip %9 {low = -128.0 : f32, high = 127.0 : f32} : (tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xf32>
  %11 = graph.cast %10 {to = i8} : (tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xi8>
  %12 = graph.cast %11 {to = i32} : (tensor<1x16x5x5xi8>) -> tensor<1x16x5x5xi32>
  %13 = graph.cast %12 {to = f32} : (tensor<1x16x5x5xi32>) -> tensor<1x16x5x5xf32>
  %14 = graph.mul %13, %one : (tensor<1x16x5x5xf32>, tensor<f32>) -> tensor<1x16x5x5xf32>
  %15 = graph.conv %14, %5 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x5x5xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x5x5xf32>
  %16 = graph.div %15, %four : (tensor<1x16x5x5xf32>, tensor<f32>) -> tensor<1x16x5x5xf32>
  %17 = graph.round %16 : (tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xf32>
  %18 = graph.clip %17 {low = -128.0 : f32, high = 127.0 : f32} : (tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xf32>
  %19 = graph.cast %18 {to = i8} : (tensor<1x16x5x5xf32>) -> tensor<1x16x5x5xi8>
  func.return %19 : tensor<1x16x5x5xi8>
}
