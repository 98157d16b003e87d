// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s
// RUN: opt-tool %s -p optimize-graph,lower-to-te | filecheck %s --check-prefix=TE
// RUN: opt-tool %s --target='llvm -mcpu=icelake-server' -p optimize-graph,lower-to-te,compile-kernel --check-semantics -o /dev/null
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p optimize-graph,lower-to-te,compile-kernel --check-semantics -o /dev/null

// Planes of bits, and products of numbers whose bits they are.

// CHECK-LABEL: func.func @planes
func.func @planes(%x: tensor<1x64x7x6xui8>) -> tensor<2x1x2x7x6xi32> {
  // CHECK: graph.bits %x {axis = 1 : i64, planes = 2 : i64} : (tensor<1x64x7x6xui8>) -> tensor<2x1x2x7x6xi32>
  // TE-LABEL: te.kernel @bits(
  // TE:         te.compute "fields" [part: 2, i0: 1, i1: 2, i2: 7, i3: 6] reduce [number: 16]
  // TE:           te.read %input[i0, 32 * i1 + 16 * part + number, i2, i3]
  %0 = graph.bits %x {axis = 1 : i64, planes = 2 : i64} : (tensor<1x64x7x6xui8>) -> tensor<2x1x2x7x6xi32>
  func.return %0 : tensor<2x1x2x7x6xi32>
}

// Zeros fill the last word. A field of one plane is a bit.
// CHECK-LABEL: func.func @rest
func.func @rest(%x: tensor<3x40xi8>) -> tensor<1x3x2xi32> {
  // CHECK: graph.bits %x {axis = 1 : i64, planes = 1 : i64} : (tensor<3x40xi8>) -> tensor<1x3x2xi32>
  // TE-LABEL: te.kernel @bits_{{[0-9]+}}(
  // TE:         te.if_then_else [-32 * i1 - 32 * part - number + 39 >= 0]
  %0 = graph.bits %x {axis = 1 : i64, planes = 1 : i64} : (tensor<3x40xi8>) -> tensor<1x3x2xi32>
  func.return %0 : tensor<1x3x2xi32>
}

// A single channel, and no other axis. Three planes lie in fields of four bits.
// CHECK-LABEL: func.func @single
func.func @single(%x: tensor<1xi32>) -> tensor<3x1xi32> {
  // CHECK: graph.bits %x {axis = 0 : i64, planes = 3 : i64} : (tensor<1xi32>) -> tensor<3x1xi32>
  %0 = graph.bits %x {axis = 0 : i64, planes = 3 : i64} : (tensor<1xi32>) -> tensor<3x1xi32>
  func.return %0 : tensor<3x1xi32>
}

// The bits of weights are 0 and 1.
// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<2x1x2x7x6xi32>, %w: tensor<1x5x2x3x3xi32>) -> tensor<1x5x4x3xi32> {
  // CHECK: graph.bit_serial_conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>}
  // TE-LABEL: te.kernel @bit_serial_conv(
  // TE:         te.compute "pad"
  // TE:         te.compute "conv" [n: 1, o: 5, y: 4, x: 3] reduce [rc: 2, ry: 3, rx: 3]
  // TE-DAG:       te.read %pad[0, n, rc, 2 * y + ry, 2 * x + rx]
  // TE-DAG:       te.read %pad[1, n, rc, 2 * y + ry, 2 * x + rx]
  // TE:           te.call_intrinsic @bits.dot
  // TE:           te.call_intrinsic @bits.dot
  // TE-NOT:     te.compute
  // TE:         te.return %conv
  %0 = graph.bit_serial_conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x1x2x7x6xi32>, tensor<1x5x2x3x3xi32>) -> tensor<1x5x4x3xi32>
  func.return %0 : tensor<1x5x4x3xi32>
}

// They are -1 and 1: what is multiplied with is summed up, too, once for all filters.
// CHECK-LABEL: func.func @bipolar
func.func @bipolar(%x: tensor<2x1x2x7x6xi32>, %w: tensor<2x5x2x3x3xi32>) -> tensor<1x5x4x3xi32> {
  // CHECK: graph.bit_serial_conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, bipolar}
  // TE-LABEL: te.kernel @bit_serial_conv_{{[0-9]+}}(
  // TE:         te.compute "conv"
  // TE-COUNT-4:   te.call_intrinsic @bits.dot
  // TE:         te.compute "ones" [n: 1, y: 4, x: 3] reduce [rc: 2, ry: 3, rx: 3]
  // TE-COUNT-2:   math.ctpop
  // TE:         te.compute "bipolar" [n: 1, o: 5, y: 4, x: 3]
  %0 = graph.bit_serial_conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, bipolar} : (tensor<2x1x2x7x6xi32>, tensor<2x5x2x3x3xi32>) -> tensor<1x5x4x3xi32>
  func.return %0 : tensor<1x5x4x3xi32>
}

// One word, one filter, one position, and no axis along which windows slide.
// CHECK-LABEL: func.func @least
func.func @least(%x: tensor<1x1x1xi32>, %w: tensor<1x1x1xi32>) -> tensor<1x1xi32> {
  // CHECK: graph.bit_serial_conv %x, %w {strides = array<i64>, pads = array<i64>, dilations = array<i64>, bipolar}
  %0 = graph.bit_serial_conv %x, %w {strides = array<i64>, pads = array<i64>, dilations = array<i64>, bipolar} : (tensor<1x1x1xi32>, tensor<1x1x1xi32>) -> tensor<1x1xi32>
  func.return %0 : tensor<1x1xi32>
}

// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<2x?x4xi32, #graph.dims<[2, N, 4]>>, %w: tensor<2x19x4xi32>) -> tensor<?x19xi32, #graph.dims<[N, 19]>> {
  // CHECK: graph.bit_serial_dense %x, %w : (tensor<2x?x4xi32, #graph.dims<[2, N, 4]>>, tensor<2x19x4xi32>)
  // TE-LABEL: te.kernel @bit_serial_dense(
  // TE:         te.compute "dense" [i: N, j: 19] reduce [k: 4]
  %0 = graph.bit_serial_dense %x, %w : (tensor<2x?x4xi32, #graph.dims<[2, N, 4]>>, tensor<2x19x4xi32>) -> tensor<?x19xi32, #graph.dims<[N, 19]>>
  func.return %0 : tensor<?x19xi32, #graph.dims<[N, 19]>>
}

// One row, without an axis of rows.
// CHECK-LABEL: func.func @row
func.func @row(%x: tensor<2x4xi32>, %w: tensor<1x19x4xi32>) -> tensor<19xi32> {
  // CHECK: graph.bit_serial_dense %x, %w {bipolar} : (tensor<2x4xi32>, tensor<1x19x4xi32>) -> tensor<19xi32>
  %0 = graph.bit_serial_dense %x, %w {bipolar} : (tensor<2x4xi32>, tensor<1x19x4xi32>) -> tensor<19xi32>
  func.return %0 : tensor<19xi32>
}
