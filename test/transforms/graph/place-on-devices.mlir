// RUN: opt-tool %s --target='llvm -mcpu=haswell' --target=npu=vdla -p graph-place-on-devices,cse,dce | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --target=npu=vdla -p graph-place-on-devices,cse,dce --check-semantics -o /dev/null
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p graph-place-on-devices | filecheck %s --check-prefix=NONE
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --target=npu=vdla --apply-pattern graph-place-on-devices.place-product | filecheck %s --check-prefix=ALONE

// RUN: opt-tool %s --target='llvm -mcpu=haswell' --target='npu=vdla -block-in=8' -p graph-place-on-devices | filecheck %s --check-prefix=NONE

// Without devices, nothing moves; nor where no rule schedules what would, such as products in tiles of 8 channels.
// NONE-NOT: graph.fused
// ALONE: graph.fused "conv" {{.*}} attributes {device = "npu"}

// A convolution whose sums become bytes by a shift of 4 bits goes to the device with all of that. What another group has
// made in blocks is read in blocks.
// CHECK-LABEL: func.func @two
// CHECK:         %[[X:.*]] = graph.pack %x {axis = 1 : i64, block = 16 : i64}
// CHECK:         %[[Y:.*]] = graph.fused "conv" (%[[X]], %{{.*}}) : (tensor<1x1x5x5x16xi8>, tensor<16x16x3x3xi8>) -> (tensor<1x1x5x5x16xi8>) attributes {device = "npu"}
// CHECK:           graph.unpack
// CHECK:           %[[S:.*]] = graph.conv {{.*}} : (tensor<1x16x5x5xi8>, tensor<16x16x3x3xi8>) -> tensor<1x16x5x5xi32>
// CHECK:           %[[HALF:.*]] = arith.constant dense<8>
// CHECK:           %[[T:.*]] = graph.add %[[S]], %[[HALF]]
// CHECK:           %[[FOUR:.*]] = arith.constant dense<4>
// CHECK:           graph.shift_right %{{.*}}, %[[FOUR]]
// CHECK:           %[[LOW:.*]] = arith.constant dense<0>
// CHECK:           graph.max %{{.*}}, %[[LOW]]
// CHECK:           graph.cast %{{.*}} {to = i8}
// CHECK:           graph.pack
// CHECK:         %[[Z:.*]] = graph.fused "conv" (%[[Y]], %{{.*}}) {{.*}} attributes {device = "npu"}
// CHECK:         graph.unpack %[[Z]] {axis = 1 : i64, size = 16 : i64}
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

// With other scales the device makes the four bytes of the sums, and the host words, and floats of these. 12 outputs
// are 16 there.
// CHECK-LABEL: func.func @dense
// CHECK:         %[[W:[0-9]+]] = graph.pad %w {pads = array<i64: 0, 0, 4, 0>, value = 0 : i8}
// CHECK:         %[[B:[0-9]+]] = graph.fused "dense" (%x, %[[W]]) : (tensor<2x16xi8>, tensor<16x16xi8>) -> (tensor<4x2x16xui8>) attributes {device = "npu"}
// CHECK:           graph.bytes
// CHECK:         %[[S:.*]] = graph.slice %[[B]] {axes = array<i64: 2>, {{.*}}stops = array<i64: 12>
// CHECK:         graph.words %[[S]] {axis = 0 : i64}
// CHECK:         %[[F:.*]] = graph.cast %{{.*}} {to = f32} : (tensor<2x12xi32>)
// CHECK:         graph.mul %[[F]]
func.func @dense(%x: tensor<2x16xi8>) -> tensor<2x12xf32> {
  %scale = arith.constant dense<0.3> : tensor<f32>
  %scales = graph.parameter @scales : tensor<12x1xf32>
  %0 = graph.cast %x {to = i32} : (tensor<2x16xi8>) -> tensor<2x16xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<2x16xi32>) -> tensor<2x16xf32>
  %2 = graph.mul %1, %scale : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %w = graph.parameter @v : tensor<12x16xi8>
  %3 = graph.cast %w {to = i32} : (tensor<12x16xi8>) -> tensor<12x16xi32>
  %4 = graph.cast %3 {to = f32} : (tensor<12x16xi32>) -> tensor<12x16xf32>
  %5 = graph.mul %4, %scales : (tensor<12x16xf32>, tensor<12x1xf32>) -> tensor<12x16xf32>
  %y = graph.dense %2, %5 : (tensor<2x16xf32>, tensor<12x16xf32>) -> tensor<2x12xf32>
  func.return %y : tensor<2x12xf32>
}

// The weight is no parameter, the channels fill no tile, or filters are in groups: the host computes it.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     graph.fused
func.func @others(%x: tensor<2x16xi8>, %v: tensor<12x16xi8>, %few: tensor<2x8xi8>) -> (tensor<2x12xf32>, tensor<2x12xf32>) {
  %scale = arith.constant dense<0.25> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<2x16xi8>) -> tensor<2x16xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<2x16xi32>) -> tensor<2x16xf32>
  %2 = graph.mul %1, %scale : (tensor<2x16xf32>, tensor<f32>) -> tensor<2x16xf32>
  %3 = graph.cast %v {to = i32} : (tensor<12x16xi8>) -> tensor<12x16xi32>
  %4 = graph.cast %3 {to = f32} : (tensor<12x16xi32>) -> tensor<12x16xf32>
  %5 = graph.mul %4, %scale : (tensor<12x16xf32>, tensor<f32>) -> tensor<12x16xf32>
  %y = graph.dense %2, %5 : (tensor<2x16xf32>, tensor<12x16xf32>) -> tensor<2x12xf32>
  %6 = graph.cast %few {to = i32} : (tensor<2x8xi8>) -> tensor<2x8xi32>
  %7 = graph.cast %6 {to = f32} : (tensor<2x8xi32>) -> tensor<2x8xf32>
  %8 = graph.mul %7, %scale : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %w = graph.parameter @u : tensor<12x8xi8>
  %9 = graph.cast %w {to = i32} : (tensor<12x8xi8>) -> tensor<12x8xi32>
  %10 = graph.cast %9 {to = f32} : (tensor<12x8xi32>) -> tensor<12x8xf32>
  %11 = graph.mul %10, %scale : (tensor<12x8xf32>, tensor<f32>) -> tensor<12x8xf32>
  %z = graph.dense %8, %11 : (tensor<2x8xf32>, tensor<12x8xf32>) -> tensor<2x12xf32>
  func.return %y, %z : tensor<2x12xf32>, tensor<2x12xf32>
}
