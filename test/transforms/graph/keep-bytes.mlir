// RUN: opt-tool %s -p graph-keep-bytes | filecheck %s
// RUN: opt-tool %s -p graph-keep-bytes --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-keep-bytes.quantize-parts | filecheck %s --check-prefix=PARTS
// RUN: opt-tool %s --apply-pattern graph-keep-bytes.move-bytes | filecheck %s --check-prefix=MOVE

// PARTS-LABEL: func.func @pool
// PARTS:         graph.max_pool {{.*}} -> tensor<1x4x3x3xf32>
// PARTS-LABEL: func.func @concat
// PARTS-COUNT-2: graph.round
// PARTS:         graph.concat {{.*}} (tensor<2x3xui8>, tensor<2x5xui8>)
// PARTS-LABEL: func.func @floats
// PARTS:         graph.concat {{.*}} (tensor<2x3xf32>, tensor<2x5xf32>)

// MOVE-LABEL: func.func @pool
// MOVE:         graph.max_pool %x {{.*}} -> tensor<1x4x3x3xui8>
// MOVE-LABEL: func.func @others
// MOVE-COUNT-3: graph.round
// MOVE-LABEL: func.func @concat
// MOVE:         graph.concat {{.*}} (tensor<2x3xf32>, tensor<2x5xf32>)

// The largest byte stands for the largest float. What nothing else reads is gone.
// CHECK-LABEL: func.func @pool
// CHECK-NOT:     graph.mul
// CHECK:         %[[Y:.*]] = graph.max_pool %x {kernel = array<i64: 2, 2>{{.*}} : (tensor<1x4x6x6xui8>) -> tensor<1x4x3x3xui8>
// CHECK-NEXT:    func.return %[[Y]]
func.func @pool(%x: tensor<1x4x6x6xui8>) -> tensor<1x4x3x3xui8> {
  %scale = arith.constant dense<0.3> : tensor<f32>
  %zero = arith.constant dense<7> : tensor<ui8>
  %0 = graph.cast %x {to = i32} : (tensor<1x4x6x6xui8>) -> tensor<1x4x6x6xi32>
  %1 = graph.cast %zero {to = i32} : (tensor<ui8>) -> tensor<i32>
  %2 = graph.sub %0, %1 : (tensor<1x4x6x6xi32>, tensor<i32>) -> tensor<1x4x6x6xi32>
  %3 = graph.cast %2 {to = f32} : (tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xf32>
  %4 = graph.mul %3, %scale : (tensor<1x4x6x6xf32>, tensor<f32>) -> tensor<1x4x6x6xf32>
  %5 = graph.max_pool %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x4x6x6xf32>) -> tensor<1x4x3x3xf32>
  %6 = graph.div %5, %scale : (tensor<1x4x3x3xf32>, tensor<f32>) -> tensor<1x4x3x3xf32>
  %7 = graph.round %6 : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %8 = graph.cast %zero {to = f32} : (tensor<ui8>) -> tensor<f32>
  %9 = graph.add %7, %8 : (tensor<1x4x3x3xf32>, tensor<f32>) -> tensor<1x4x3x3xf32>
  %10 = graph.clip %9 {low = 0.0 : f32, high = 255.0 : f32} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %y = graph.cast %10 {to = ui8} : (tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xui8>
  func.return %y : tensor<1x4x3x3xui8>
}

// Shapes, and nothing between, of bytes with a sign; floats that something else reads stay.
// CHECK-LABEL: func.func @shapes
// CHECK:         %[[F:.*]] = graph.mul
// CHECK:         %[[T:.*]] = graph.transpose %x {{.*}} -> tensor<6x4xi8>
// CHECK:         %[[R:.*]] = graph.reshape %[[T]] {{.*}} -> tensor<24xi8>
// CHECK:         func.return %[[R]], %[[F]], %x
func.func @shapes(%x: tensor<4x6xi8>) -> (tensor<24xi8>, tensor<4x6xf32>, tensor<4x6xi8>) {
  %scale = arith.constant dense<0.3> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<4x6xi8>) -> tensor<4x6xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<4x6xi32>) -> tensor<4x6xf32>
  %2 = graph.mul %1, %scale : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %3 = graph.transpose %2 {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %4 = graph.reshape %3 {shape = #graph.dims<[24]>} : (tensor<6x4xf32>) -> tensor<24xf32>
  %5 = graph.div %4, %scale : (tensor<24xf32>, tensor<f32>) -> tensor<24xf32>
  %6 = graph.round %5 : (tensor<24xf32>) -> tensor<24xf32>
  %7 = graph.clip %6 {low = -128.0 : f32, high = 127.0 : f32} : (tensor<24xf32>) -> tensor<24xf32>
  %y = graph.cast %7 {to = i8} : (tensor<24xf32>) -> tensor<24xi8>
  %8 = graph.div %2, %scale : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  %9 = graph.round %8 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %10 = graph.clip %9 {low = -128.0 : f32, high = 127.0 : f32} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %z = graph.cast %10 {to = i8} : (tensor<4x6xf32>) -> tensor<4x6xi8>
  func.return %y, %2, %z : tensor<24xi8>, tensor<4x6xf32>, tensor<4x6xi8>
}

// Another scale, another type, another range: floats are quantized anew.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: graph.round
// CHECK-NOT:     func.return %x
func.func @others(%x: tensor<8xui8>) -> (tensor<8xui8>, tensor<8xi8>, tensor<8xui8>) {
  %scale = arith.constant dense<0.3> : tensor<f32>
  %other = arith.constant dense<0.4> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<8xui8>) -> tensor<8xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<8xi32>) -> tensor<8xf32>
  %2 = graph.mul %1, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.div %2, %other : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = graph.round %3 : (tensor<8xf32>) -> tensor<8xf32>
  %5 = graph.clip %4 {low = 0.0 : f32, high = 255.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %a = graph.cast %5 {to = ui8} : (tensor<8xf32>) -> tensor<8xui8>
  %6 = graph.div %2, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %7 = graph.round %6 : (tensor<8xf32>) -> tensor<8xf32>
  %8 = graph.clip %7 {low = -128.0 : f32, high = 127.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %b = graph.cast %8 {to = i8} : (tensor<8xf32>) -> tensor<8xi8>
  %9 = graph.div %2, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %10 = graph.round %9 : (tensor<8xf32>) -> tensor<8xf32>
  %11 = graph.clip %10 {low = 0.0 : f32, high = 15.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %c = graph.cast %11 {to = ui8} : (tensor<8xf32>) -> tensor<8xui8>
  func.return %a, %b, %c : tensor<8xui8>, tensor<8xi8>, tensor<8xui8>
}

// Parts of a concatenation are quantized one by one: one of them is bytes of that scale already.
// CHECK-LABEL: func.func @concat
// CHECK-COUNT-1: graph.round
// CHECK:         %[[B:.*]] = graph.cast %{{.*}} {to = ui8} : (tensor<2x5xf32>) -> tensor<2x5xui8>
// CHECK-NEXT:    %[[C:.*]] = graph.concat %x, %[[B]] {axis = 1 : i64} : (tensor<2x3xui8>, tensor<2x5xui8>) -> tensor<2x8xui8>
// CHECK-NEXT:    func.return %[[C]]
func.func @concat(%x: tensor<2x3xui8>, %f: tensor<2x5xf32>) -> tensor<2x8xui8> {
  %scale = arith.constant dense<0.3> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %2 = graph.mul %1, %scale : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = graph.concat %2, %f {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %4 = graph.div %3, %scale : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %5 = graph.round %4 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %6 = graph.clip %5 {low = 0.0 : f32, high = 255.0 : f32} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = graph.cast %6 {to = ui8} : (tensor<2x8xf32>) -> tensor<2x8xui8>
  func.return %y : tensor<2x8xui8>
}

// A concatenation that is read as floats, too, stays one of floats.
// CHECK-LABEL: func.func @floats
// CHECK:         %[[C:.*]] = graph.concat %f, %g {{.*}} -> tensor<2x8xf32>
// CHECK:         func.return %{{.*}}, %[[C]]
func.func @floats(%f: tensor<2x3xf32>, %g: tensor<2x5xf32>) -> (tensor<2x8xui8>, tensor<2x8xf32>) {
  %scale = arith.constant dense<0.3> : tensor<f32>
  %0 = graph.concat %f, %g {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  %1 = graph.div %0, %scale : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %2 = graph.round %1 : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %3 = graph.clip %2 {low = 0.0 : f32, high = 255.0 : f32} : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %y = graph.cast %3 {to = ui8} : (tensor<2x8xf32>) -> tensor<2x8xui8>
  func.return %y, %0 : tensor<2x8xui8>, tensor<2x8xf32>
}

// A zero point between two bytes, and one that makes more rows of what there is.
// CHECK-LABEL: func.func @zeros
// CHECK-COUNT-2: graph.round
// CHECK-NOT:     func.return %x
func.func @zeros(%x: tensor<8xui8>) -> (tensor<8xui8>, tensor<1x8xui8>) {
  %scale = arith.constant dense<0.3> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<8xui8>) -> tensor<8xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<8xi32>) -> tensor<8xf32>
  %2 = graph.mul %1, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %half = arith.constant dense<0.5> : tensor<f32>
  %3 = graph.div %2, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = graph.round %3 : (tensor<8xf32>) -> tensor<8xf32>
  %5 = graph.add %4, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = graph.clip %5 {low = 0.0 : f32, high = 255.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %a = graph.cast %6 {to = ui8} : (tensor<8xf32>) -> tensor<8xui8>
  %row = arith.constant dense<0.0> : tensor<1x1xf32>
  %7 = graph.div %2, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %8 = graph.round %7 : (tensor<8xf32>) -> tensor<8xf32>
  %9 = graph.add %8, %row : (tensor<8xf32>, tensor<1x1xf32>) -> tensor<1x8xf32>
  %10 = graph.clip %9 {low = 0.0 : f32, high = 255.0 : f32} : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %b = graph.cast %10 {to = ui8} : (tensor<1x8xf32>) -> tensor<1x8xui8>
  func.return %a, %b : tensor<8xui8>, tensor<1x8xui8>
}

// Around bytes is the one that stands for 0; a number other than 0 is left to be quantized.
// CHECK-LABEL: func.func @padded
// CHECK:         %[[P:.*]] = graph.pad %x {pads = array<i64: 1, 2>, value = 7 : ui8} : (tensor<4xui8>) -> tensor<7xui8>
// CHECK:         graph.pad %{{.*}} {pads = array<i64: 1, 2>, value = 3.0{{.*}} : f32}
// CHECK:         func.return %[[P]]
func.func @padded(%x: tensor<4xui8>) -> (tensor<7xui8>, tensor<7xui8>) {
  %scale = arith.constant dense<0.3> : tensor<f32>
  %zero = arith.constant dense<7> : tensor<i32>
  %0 = graph.cast %x {to = i32} : (tensor<4xui8>) -> tensor<4xi32>
  %1 = graph.sub %0, %zero : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %2 = graph.cast %1 {to = f32} : (tensor<4xi32>) -> tensor<4xf32>
  %3 = graph.mul %2, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %seven = arith.constant dense<7.0> : tensor<f32>
  %4 = graph.pad %3 {pads = array<i64: 1, 2>, value = 0.0 : f32} : (tensor<4xf32>) -> tensor<7xf32>
  %5 = graph.div %4, %scale : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %6 = graph.round %5 : (tensor<7xf32>) -> tensor<7xf32>
  %7 = graph.add %6, %seven : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %8 = graph.clip %7 {low = 0.0 : f32, high = 255.0 : f32} : (tensor<7xf32>) -> tensor<7xf32>
  %y = graph.cast %8 {to = ui8} : (tensor<7xf32>) -> tensor<7xui8>
  %9 = graph.pad %3 {pads = array<i64: 1, 2>, value = 3.0 : f32} : (tensor<4xf32>) -> tensor<7xf32>
  %10 = graph.div %9, %scale : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %11 = graph.round %10 : (tensor<7xf32>) -> tensor<7xf32>
  %12 = graph.add %11, %seven : (tensor<7xf32>, tensor<f32>) -> tensor<7xf32>
  %13 = graph.clip %12 {low = 0.0 : f32, high = 255.0 : f32} : (tensor<7xf32>) -> tensor<7xf32>
  %z = graph.cast %13 {to = ui8} : (tensor<7xf32>) -> tensor<7xui8>
  func.return %y, %z : tensor<7xui8>, tensor<7xui8>
}
