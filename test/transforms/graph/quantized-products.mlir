// RUN: opt-tool %s --target='llvm -mcpu=icelake-server' -p graph-quantized-products,cse,dce | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=icelake-server' -p graph-quantized-products,cse,dce --check-semantics | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p graph-quantized-products | filecheck %s --check-prefix=NONE

// RUN: opt-tool %s --target='llvm -mcpu=icelake-server' --apply-pattern graph-quantized-products.take-sign-off | filecheck %s --check-prefix=SIGN
// SIGN-LABEL: func.func @signed
// SIGN:         [[B:%[a-z0-9]+]] = graph.cast %{{.*}} {to = ui8} : (tensor<7x6xf32>)
// SIGN-NEXT:    [[I:%[a-z0-9]+]] = graph.cast [[B]] {to = i32}
// SIGN-NEXT:    [[N:%[a-z0-9]+]] = arith.constant dense<128>
// SIGN-NEXT:    [[D:%[a-z0-9]+]] = graph.sub [[I]], [[N]]
// SIGN:         graph.matmul [[D]],
// SIGN-LABEL: func.func @moved
// SIGN-NOT:     graph.add

// RUN: opt-tool %s --target='llvm -mcpu=icelake-server' --apply-pattern graph-quantized-products.dequantize-last | filecheck %s --check-prefix=LAST
// LAST-LABEL: func.func @moved
// LAST:         [[B:%[a-z0-9]+]] = graph.reshape %{{.*}} : (tensor<3x3x4xui8>) -> tensor<9x4x1xui8>
// LAST-NEXT:    graph.cast [[B]] {to = i32}
// LAST:         [[W:%[a-z0-9]+]] = graph.mul %{{.*}} : (tensor<9x4x1xf32>, tensor<9x1x1xf32>)
// LAST-NEXT:    graph.conv %{{.*}}, [[W]]
// LAST-LABEL: func.func @not_moved
// LAST:         graph.transpose %{{.*}} -> tensor<4x6xf32>
// LAST:         graph.pad %{{.*}} value = 200 : i32

// RUN: opt-tool %s --target='llvm -mcpu=icelake-server' --apply-pattern graph-quantized-products.multiply-bytes | filecheck %s --check-prefix=BYTES
// BYTES-LABEL: func.func @conv
// BYTES:         graph.conv %{{.*}} : (tensor<1x8x7x7xui8>, tensor<6x8x3x3xi8>)
// BYTES-LABEL: func.func @moved
// BYTES:         graph.conv %{{.*}} : (tensor<1x4x5xf32>, tensor<9x4x1xf32>)

// A processor without products of bytes multiplies floats.
// NONE-NOT: ui8>, tensor<{{[0-9x]*}}xi8>)

// Padding is with the zero point; what that adds to a sum, the filter's sum times it, is taken off behind.
// CHECK-LABEL: func.func @conv
// CHECK-SAME:    (%x: tensor<1x8x5x5xui8>)
// CHECK:         %[[W:.*]] = graph.parameter @conv_w
// CHECK:         %[[P:.*]] = graph.pad %x {pads = array<i64: 0, 0, 1, 1, 0, 0, 1, 1>, value = 3 : ui8}
// CHECK:         %[[S:.*]] = graph.conv %[[P]], %[[W]] {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}} : (tensor<1x8x7x7xui8>, tensor<6x8x3x3xi8>) -> tensor<1x6x5x5xi32>
// CHECK:         %[[F:.*]] = graph.reduce_sum %{{.*}} {axes = array<i64: 1, 2, 3>, keep_dims = false} : (tensor<6x8x3x3xi32>) -> tensor<6xi32>
// CHECK:         %[[T:.*]] = graph.sub %[[S]], %{{.*}} : (tensor<1x6x5x5xi32>, tensor<6x1x1xi32>)
// CHECK:         %[[D:.*]] = graph.cast %[[T]] {to = f32}
// CHECK:         graph.mul %[[D]], %{{.*}} : (tensor<1x6x5x5xf32>, tensor<6x1x1xf32>)
func.func @conv(%x: tensor<1x8x5x5xui8>) -> tensor<1x6x5x5xf32> {
  %zero = arith.constant dense<3> : tensor<i32>
  %scale = arith.constant dense<0.5> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<1x8x5x5xui8>) -> tensor<1x8x5x5xi32>
  %1 = graph.sub %0, %zero : (tensor<1x8x5x5xi32>, tensor<i32>) -> tensor<1x8x5x5xi32>
  %2 = graph.cast %1 {to = f32} : (tensor<1x8x5x5xi32>) -> tensor<1x8x5x5xf32>
  %3 = graph.mul %2, %scale : (tensor<1x8x5x5xf32>, tensor<f32>) -> tensor<1x8x5x5xf32>
  %w = graph.parameter @conv_w : tensor<6x8x3x3xi8>
  %scales = graph.parameter @conv_scales : tensor<6x1x1x1xf32>
  %4 = graph.cast %w {to = i32} : (tensor<6x8x3x3xi8>) -> tensor<6x8x3x3xi32>
  %5 = graph.cast %4 {to = f32} : (tensor<6x8x3x3xi32>) -> tensor<6x8x3x3xf32>
  %6 = graph.mul %5, %scales : (tensor<6x8x3x3xf32>, tensor<6x1x1x1xf32>) -> tensor<6x8x3x3xf32>
  %y = graph.conv %3, %6 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x5x5xf32>, tensor<6x8x3x3xf32>) -> tensor<1x6x5x5xf32>
  func.return %y : tensor<1x6x5x5xf32>
}

// A zero point that the program computes: where it is padding, it adds nothing.
// CHECK-LABEL: func.func @open_zero
// CHECK:         %[[Z:.*]] = graph.cast %zero {to = i32}
// CHECK:         %[[S:.*]] = graph.conv %x, %[[W:.*]] {{.*}} : (tensor<2x4x6xui8>, tensor<5x4x3xi8>) -> tensor<2x5x6xi32>
// CHECK:         %[[ONES:.*]] = arith.constant dense<1> : tensor<1x4x6xui8>
// CHECK:         %[[I:.*]] = graph.conv %[[ONES]], %[[W]] {{.*}} -> tensor<1x5x6xi32>
// CHECK:         %[[M:.*]] = graph.mul %[[I]], %{{.*}} : (tensor<1x5x6xi32>, tensor<i32>)
// CHECK:         graph.sub %[[S]], %[[M]]
func.func @open_zero(%x: tensor<2x4x6xui8>, %zero: tensor<ui8>) -> tensor<2x5x6xi32> {
  %0 = graph.cast %x {to = i32} : (tensor<2x4x6xui8>) -> tensor<2x4x6xi32>
  %1 = graph.cast %zero {to = i32} : (tensor<ui8>) -> tensor<i32>
  %2 = graph.sub %0, %1 : (tensor<2x4x6xi32>, tensor<i32>) -> tensor<2x4x6xi32>
  %w = graph.parameter @open_w : tensor<5x4x3xi8>
  %3 = graph.cast %w {to = i32} : (tensor<5x4x3xi8>) -> tensor<5x4x3xi32>
  %y = graph.conv %2, %3 {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<2x4x6xi32>, tensor<5x4x3xi32>) -> tensor<2x5x6xi32>
  func.return %y : tensor<2x5x6xi32>
}

// Floats that are made bytes with a sign are made such without, 128 more. A matrix on the right becomes a layer's weight,
// its own zero point 128 taken off when the program is compiled.
// CHECK-LABEL: func.func @signed
// CHECK:         %[[MORE:.*]] = graph.add %{{.*}}, %{{.*}} : (tensor<7x6xf32>, tensor<f32>)
// CHECK:         %[[U:.*]] = graph.cast %[[MORE]] {to = ui8}
// CHECK:         %[[W:.*]] = graph.cast %{{.*}} {to = i8} : (tensor<6x3xi32>) -> tensor<6x3xi8>
// CHECK:         %[[R:.*]] = graph.transpose %[[W]] {permutation = array<i64: 1, 0>}
// CHECK:         graph.dense %[[U]], %[[R]] : (tensor<7x6xui8>, tensor<3x6xi8>) -> tensor<7x3xi32>
func.func @signed(%x: tensor<7x6xf32>) -> tensor<7x3xi32> {
  %r = graph.round %x : (tensor<7x6xf32>) -> tensor<7x6xf32>
  %c = graph.clip %r {low = -128.0 : f32, high = 127.0 : f32} : (tensor<7x6xf32>) -> tensor<7x6xf32>
  %q = graph.cast %c {to = i8} : (tensor<7x6xf32>) -> tensor<7x6xi8>
  %0 = graph.cast %q {to = i32} : (tensor<7x6xi8>) -> tensor<7x6xi32>
  %w = graph.parameter @signed_w : tensor<6x3xui8>
  %zero = arith.constant dense<128> : tensor<i32>
  %1 = graph.cast %w {to = i32} : (tensor<6x3xui8>) -> tensor<6x3xi32>
  %2 = graph.sub %1, %zero : (tensor<6x3xi32>, tensor<i32>) -> tensor<6x3xi32>
  %y = graph.matmul %0, %2 : (tensor<7x6xi32>, tensor<6x3xi32>) -> tensor<7x3xi32>
  func.return %y : tensor<7x3xi32>
}

// Bytes that are there already, with a sign: 128 is added to them.
// CHECK-LABEL: func.func @given
// CHECK:         graph.dense %{{.*}}, %{{.*}} : (tensor<7x6xui8>, tensor<3x6xi8>) -> tensor<7x3xi32>
func.func @given(%x: tensor<7x6xi8>) -> tensor<7x3xi32> {
  %0 = graph.cast %x {to = i32} : (tensor<7x6xi8>) -> tensor<7x6xi32>
  %w = graph.parameter @given_w : tensor<3x6xi8>
  %1 = graph.cast %w {to = i32} : (tensor<3x6xi8>) -> tensor<3x6xi32>
  %y = graph.dense %0, %1 : (tensor<7x6xi32>, tensor<3x6xi32>) -> tensor<7x3xi32>
  func.return %y : tensor<7x3xi32>
}

// Left as they are: weights whose distances do not fit into a byte, zero points for each row, scales along what is
// summed, a sum of two bytes, weights that are no parameters.
// CHECK-LABEL: func.func @left
// CHECK-NOT:     ui8>, tensor<{{[0-9x]*}}xi8>)
// CHECK:         func.return
func.func @left(%x: tensor<7x6xui8>, %zeros: tensor<7x1xi32>, %short: tensor<7x2xui8>, %v: tensor<3x6xi8>) -> (tensor<7x3xi32>, tensor<7x3xi32>, tensor<7x3xf32>, tensor<7x3xi32>, tensor<7x3xi32>) {
  %0 = graph.cast %x {to = i32} : (tensor<7x6xui8>) -> tensor<7x6xi32>
  %w = graph.parameter @left_w : tensor<3x6xi8>
  %1 = graph.cast %w {to = i32} : (tensor<3x6xi8>) -> tensor<3x6xi32>
  %one = arith.constant dense<1> : tensor<i32>
  %far = graph.sub %1, %one : (tensor<3x6xi32>, tensor<i32>) -> tensor<3x6xi32>
  %a = graph.dense %0, %far : (tensor<7x6xi32>, tensor<3x6xi32>) -> tensor<7x3xi32>
  %rows = graph.sub %0, %zeros : (tensor<7x6xi32>, tensor<7x1xi32>) -> tensor<7x6xi32>
  %b = graph.dense %rows, %1 : (tensor<7x6xi32>, tensor<3x6xi32>) -> tensor<7x3xi32>
  %scale = arith.constant dense<0.5> : tensor<f32>
  %scales = graph.parameter @left_scales : tensor<6xf32>
  %2 = graph.cast %0 {to = f32} : (tensor<7x6xi32>) -> tensor<7x6xf32>
  %3 = graph.mul %2, %scale : (tensor<7x6xf32>, tensor<f32>) -> tensor<7x6xf32>
  %4 = graph.cast %1 {to = f32} : (tensor<3x6xi32>) -> tensor<3x6xf32>
  %5 = graph.mul %4, %scales : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  %c = graph.dense %3, %5 : (tensor<7x6xf32>, tensor<3x6xf32>) -> tensor<7x3xf32>
  %two = graph.parameter @left_two : tensor<3x2xi8>
  %6 = graph.cast %short {to = i32} : (tensor<7x2xui8>) -> tensor<7x2xi32>
  %7 = graph.cast %two {to = i32} : (tensor<3x2xi8>) -> tensor<3x2xi32>
  %d = graph.dense %6, %7 : (tensor<7x2xi32>, tensor<3x2xi32>) -> tensor<7x3xi32>
  %8 = graph.cast %v {to = i32} : (tensor<3x6xi8>) -> tensor<3x6xi32>
  %e = graph.dense %0, %8 : (tensor<7x6xi32>, tensor<3x6xi32>) -> tensor<7x3xi32>
  func.return %a, %b, %c, %d, %e : tensor<7x3xi32>, tensor<7x3xi32>, tensor<7x3xf32>, tensor<7x3xi32>, tensor<7x3xi32>
}

// Fractions are cut off towards zero, which 128 more would change: the sign goes once they are integers.
// CHECK-LABEL: func.func @fractions
// CHECK:         %[[Q:.*]] = graph.cast %x {to = i8}
// CHECK:         graph.cast %[[Q]] {to = i32}
// CHECK:         graph.dense %{{.*}}, %{{.*}} : (tensor<7x6xui8>, tensor<3x6xi8>) -> tensor<7x3xi32>
func.func @fractions(%x: tensor<7x6xf32>) -> tensor<7x3xi32> {
  %q = graph.cast %x {to = i8} : (tensor<7x6xf32>) -> tensor<7x6xi8>
  %0 = graph.cast %q {to = i32} : (tensor<7x6xi8>) -> tensor<7x6xi32>
  %w = graph.parameter @fractions_w : tensor<3x6xi8>
  %1 = graph.cast %w {to = i32} : (tensor<3x6xi8>) -> tensor<3x6xi32>
  %y = graph.dense %0, %1 : (tensor<7x6xi32>, tensor<3x6xi32>) -> tensor<7x3xi32>
  func.return %y : tensor<7x3xi32>
}

// Zero points that are no bytes, and one that makes more rows of what there is.
// CHECK-LABEL: func.func @no_bytes
// CHECK-NOT:     ui8>, tensor<{{[0-9x]*}}xi8>)
// CHECK:         func.return
func.func @no_bytes(%x: tensor<1x6xui8>, %z: tensor<i32>) -> (tensor<1x3xi32>, tensor<1x3xi32>, tensor<8x3xi32>) {
  %0 = graph.cast %x {to = i32} : (tensor<1x6xui8>) -> tensor<1x6xi32>
  %w = graph.parameter @no_bytes_w : tensor<3x6xi8>
  %1 = graph.cast %w {to = i32} : (tensor<3x6xi8>) -> tensor<3x6xi32>
  %many = arith.constant dense<300> : tensor<i32>
  %2 = graph.sub %0, %many : (tensor<1x6xi32>, tensor<i32>) -> tensor<1x6xi32>
  %a = graph.dense %2, %1 : (tensor<1x6xi32>, tensor<3x6xi32>) -> tensor<1x3xi32>
  %3 = graph.sub %0, %z : (tensor<1x6xi32>, tensor<i32>) -> tensor<1x6xi32>
  %b = graph.dense %3, %1 : (tensor<1x6xi32>, tensor<3x6xi32>) -> tensor<1x3xi32>
  %rows = arith.constant dense<3> : tensor<8x6xi32>
  %4 = graph.sub %0, %rows : (tensor<1x6xi32>, tensor<8x6xi32>) -> tensor<8x6xi32>
  %c = graph.dense %4, %1 : (tensor<8x6xi32>, tensor<3x6xi32>) -> tensor<8x3xi32>
  func.return %a, %b, %c : tensor<1x3xi32>, tensor<1x3xi32>, tensor<8x3xi32>
}

// What is chosen from bytes with a sign is chosen from those without.
// CHECK-LABEL: func.func @pooled
// CHECK-NOT:     {to = i8} : (tensor<1x4x6x6xf32>)
// CHECK:         %[[U:.*]] = graph.cast %{{.*}} {to = ui8} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xui8>
// CHECK:         %[[P:.*]] = graph.max_pool %[[U]] {{.*}} -> tensor<1x4x3x3xui8>
// CHECK:         graph.conv %[[P]], %{{.*}} : (tensor<1x4x3x3xui8>, tensor<5x4x1x1xi8>) -> tensor<1x5x3x3xi32>
func.func @pooled(%x: tensor<1x4x6x6xf32>) -> tensor<1x5x3x3xi32> {
  %r = graph.round %x : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %c = graph.clip %r {low = -128.0 : f32, high = 127.0 : f32} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %q = graph.cast %c {to = i8} : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xi8>
  %m = graph.max_pool %q {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>, dilations = array<i64: 1, 1>, ceil_mode = false} : (tensor<1x4x6x6xi8>) -> tensor<1x4x3x3xi8>
  %0 = graph.cast %m {to = i32} : (tensor<1x4x3x3xi8>) -> tensor<1x4x3x3xi32>
  %w = graph.parameter @pooled_w : tensor<5x4x1x1xi8>
  %1 = graph.cast %w {to = i32} : (tensor<5x4x1x1xi8>) -> tensor<5x4x1x1xi32>
  %y = graph.conv %0, %1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x3x3xi32>, tensor<5x4x1x1xi32>) -> tensor<1x5x3x3xi32>
  func.return %y : tensor<1x5x3x3xi32>
}

// A zero point that is another number once it is a byte is not known here.
// CHECK-LABEL: func.func @narrowed
// CHECK:         %[[Z:.*]] = graph.cast %{{.*}} {to = i32} : (tensor<i8>) -> tensor<i32>
// CHECK:         graph.dense %x, %{{.*}} : (tensor<7x6xui8>, tensor<3x6xi8>) -> tensor<7x3xi32>
// CHECK:         graph.reshape %[[Z]]
func.func @narrowed(%x: tensor<7x6xui8>) -> tensor<7x3xi32> {
  %far = arith.constant dense<300> : tensor<i32>
  %zero = graph.cast %far {to = i8} : (tensor<i32>) -> tensor<i8>
  %z = graph.cast %zero {to = i32} : (tensor<i8>) -> tensor<i32>
  %0 = graph.cast %x {to = i32} : (tensor<7x6xui8>) -> tensor<7x6xi32>
  %1 = graph.sub %0, %z : (tensor<7x6xi32>, tensor<i32>) -> tensor<7x6xi32>
  %w = graph.parameter @narrowed_w : tensor<3x6xi8>
  %2 = graph.cast %w {to = i32} : (tensor<3x6xi8>) -> tensor<3x6xi32>
  %y = graph.dense %1, %2 : (tensor<7x6xi32>, tensor<3x6xi32>) -> tensor<7x3xi32>
  func.return %y : tensor<7x3xi32>
}

// What is done to dequantized weights is done to their bytes; each output keeps its scale. What is put around them is
// their zero point, and any scale fits an output of nothing else.
// CHECK-LABEL: func.func @moved
// CHECK-DAG:     %[[W:.*]] = graph.parameter @moved_w : tensor<4x3x2xui8>
// CHECK-DAG:     %[[S:.*]] = graph.parameter @moved_scales
// CHECK:         %[[P:.*]] = graph.pad %[[W]] {pads = array<i64: 0, 0, 1, 0, 0, 0>, value = 128 : ui8}
// CHECK:         %[[T:.*]] = graph.transpose %[[P]] {permutation = array<i64: 1, 2, 0>} : (tensor<4x3x3xui8>) -> tensor<3x3x4xui8>
// CHECK:         graph.reshape %[[T]] {{.*}} -> tensor<9x4x1xui8>
// CHECK:         %[[I:.*]] = arith.constant dense<[0, 0, 0, 0, 1, 1, 0, 2, 2]> : tensor<9xi64>
// CHECK:         graph.gather %{{.*}}, %[[I]] {axis = 0 : i64} : (tensor<3xf32>, tensor<9xi64>) -> tensor<9xf32>
// CHECK:         graph.conv %x, %{{.*}} : (tensor<1x4x5xui8>, tensor<9x4x1xi8>) -> tensor<1x9x5xi32>
func.func @moved(%x: tensor<1x4x5xui8>) -> tensor<1x9x5xf32> {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<1x4x5xui8>) -> tensor<1x4x5xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<1x4x5xi32>) -> tensor<1x4x5xf32>
  %2 = graph.mul %1, %scale : (tensor<1x4x5xf32>, tensor<f32>) -> tensor<1x4x5xf32>
  %w = graph.parameter @moved_w : tensor<4x3x2xui8>
  %scales = graph.parameter @moved_scales : tensor<1x3x1xf32>
  %zero = arith.constant dense<128> : tensor<i32>
  %3 = graph.cast %w {to = i32} : (tensor<4x3x2xui8>) -> tensor<4x3x2xi32>
  %4 = graph.sub %3, %zero : (tensor<4x3x2xi32>, tensor<i32>) -> tensor<4x3x2xi32>
  %5 = graph.cast %4 {to = f32} : (tensor<4x3x2xi32>) -> tensor<4x3x2xf32>
  %6 = graph.mul %5, %scales : (tensor<4x3x2xf32>, tensor<1x3x1xf32>) -> tensor<4x3x2xf32>
  %7 = graph.pad %6 {pads = array<i64: 0, 0, 1, 0, 0, 0>, value = 0.0 : f32} : (tensor<4x3x2xf32>) -> tensor<4x3x3xf32>
  %8 = graph.transpose %7 {permutation = array<i64: 1, 2, 0>} : (tensor<4x3x3xf32>) -> tensor<3x3x4xf32>
  %9 = graph.reshape %8 {shape = #graph.dims<[9, 4, 1]>} : (tensor<3x3x4xf32>) -> tensor<9x4x1xf32>
  %y = graph.conv %2, %9 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x5xf32>, tensor<9x4x1xf32>) -> tensor<1x9x5xf32>
  func.return %y : tensor<1x9x5xf32>
}

// Scales that come to lie along what is summed, and numbers around distances that make no bytes.
// CHECK-LABEL: func.func @not_moved
// CHECK-NOT:     ui8>, tensor<{{[0-9x]*}}xi8>)
// CHECK:         func.return
func.func @not_moved(%x: tensor<7x6xui8>) -> (tensor<7x4xf32>, tensor<7x4xi32>) {
  %scale = arith.constant dense<0.5> : tensor<f32>
  %0 = graph.cast %x {to = i32} : (tensor<7x6xui8>) -> tensor<7x6xi32>
  %1 = graph.cast %0 {to = f32} : (tensor<7x6xi32>) -> tensor<7x6xf32>
  %2 = graph.mul %1, %scale : (tensor<7x6xf32>, tensor<f32>) -> tensor<7x6xf32>
  %w = graph.parameter @not_moved_w : tensor<6x4xi8>
  %scales = graph.parameter @not_moved_scales : tensor<6x1xf32>
  %3 = graph.cast %w {to = i32} : (tensor<6x4xi8>) -> tensor<6x4xi32>
  %4 = graph.cast %3 {to = f32} : (tensor<6x4xi32>) -> tensor<6x4xf32>
  %5 = graph.mul %4, %scales : (tensor<6x4xf32>, tensor<6x1xf32>) -> tensor<6x4xf32>
  %6 = graph.transpose %5 {permutation = array<i64: 1, 0>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %a = graph.dense %2, %6 : (tensor<7x6xf32>, tensor<4x6xf32>) -> tensor<7x4xf32>
  %v = graph.parameter @not_moved_v : tensor<4x5xi8>
  %7 = graph.cast %v {to = i32} : (tensor<4x5xi8>) -> tensor<4x5xi32>
  %8 = graph.pad %7 {pads = array<i64: 0, 0, 0, 1>, value = 200 : i32} : (tensor<4x5xi32>) -> tensor<4x6xi32>
  %b = graph.dense %0, %8 : (tensor<7x6xi32>, tensor<4x6xi32>) -> tensor<7x4xi32>
  func.return %a, %b : tensor<7x4xf32>, tensor<7x4xi32>
}

// Two layers with one matrix.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-2: graph.dense %{{.*}}, %{{.*}} : (tensor<7x6xui8>, tensor<3x6xi8>) -> tensor<7x3xi32>
func.func @shared(%x: tensor<7x6xui8>, %z: tensor<7x6xui8>) -> (tensor<7x3xi32>, tensor<7x3xi32>) {
  %w = graph.parameter @shared_w : tensor<6x3xi8>
  %1 = graph.cast %w {to = i32} : (tensor<6x3xi8>) -> tensor<6x3xi32>
  %t = graph.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<6x3xi32>) -> tensor<3x6xi32>
  %0 = graph.cast %x {to = i32} : (tensor<7x6xui8>) -> tensor<7x6xi32>
  %a = graph.dense %0, %t : (tensor<7x6xi32>, tensor<3x6xi32>) -> tensor<7x3xi32>
  %2 = graph.cast %z {to = i32} : (tensor<7x6xui8>) -> tensor<7x6xi32>
  %b = graph.dense %2, %t : (tensor<7x6xi32>, tensor<3x6xi32>) -> tensor<7x3xi32>
  func.return %a, %b : tensor<7x3xi32>, tensor<7x3xi32>
}
