// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p optimize-graph,lower-to-te --check-semantics | filecheck %s --check-prefix=TE

// Each row is a heap: filled with the first elements, put in order, and then the worst of it gives way to better ones.
// Rows run in parallel where they are many.

// CHECK-LABEL: func.func @largest
// TE-LABEL: te.kernel @top_k(
// TE:         te.extern "top_k"
// TE:           loop.for [[R:%i0[_0-9]*]] = 0 to %N "i0" parallel when [9 * %N - 32768 >= 0] {
// TE:             loop.for [[I:%i0[_0-9]*]] = 0 to 3 "i0" {
// TE-NEXT:          [[X:%\d+]] = loop.load [[IN:%\w+]][[[R]], [[I]]] : memref<?x9xf32>
// TE:               loop.store [[X]], [[V:%\w+]][[[R]], [[I]]] : memref<?x3xf32>
// TE:             loop.for [[J:%i0[_0-9]*]] = 0 to 6 "i0" {
// TE-NEXT:          [[NEW:%\d+]] = loop.load [[IN]][[[R]], [[J]] + 3] : memref<?x9xf32>
// TE-NEXT:          [[TOP:%\d+]] = loop.load [[V]][[[R]], 0] : memref<?x3xf32>
// TE-NEXT:          [[LE:%\d+]] = arith.cmpf ole, [[NEW]], [[TOP]] : f32
// TE:               loop.if
// TE:                 loop.store [[NEW]], [[V]][[[R]], 0] : memref<?x3xf32>
func.func @largest(%x: tensor<?x9xf32, #graph.dims<[N, 9]>>) -> (tensor<?x3xf32, #graph.dims<[N, 3]>>, tensor<?x3xi64, #graph.dims<[N, 3]>>) {
  // CHECK: %v, %i = graph.top_k %x {axis = 1 : i64, count = 3 : i64, largest = true} : (tensor<?x9xf32, #graph.dims<[N, 9]>>) -> (tensor<?x3xf32, #graph.dims<[N, 3]>>, tensor<?x3xi64, #graph.dims<[N, 3]>>)
  %v, %i = graph.top_k %x {axis = 1 : i64, count = 3 : i64, largest = true} : (tensor<?x9xf32, #graph.dims<[N, 9]>>) -> (tensor<?x3xf32, #graph.dims<[N, 3]>>, tensor<?x3xi64, #graph.dims<[N, 3]>>)
  func.return %v, %i : tensor<?x3xf32, #graph.dims<[N, 3]>>, tensor<?x3xi64, #graph.dims<[N, 3]>>
}

// Of all elements of an only row nothing is left to replace; the order is by the bits without a sign, and only the
// indices are asked for.
// CHECK-LABEL: func.func @smallest
// TE-LABEL: te.kernel @top_k_1(
// TE-NOT:     parallel
// TE:         arith.cmpi ugt
func.func @smallest(%x: tensor<7x1xui8>) -> tensor<7x1xi64> {
  %v, %i = graph.top_k %x {axis = 0 : i64, count = 7 : i64, largest = false} : (tensor<7x1xui8>) -> (tensor<7x1xui8>, tensor<7x1xi64>)
  func.return %i : tensor<7x1xi64>
}

// CHECK-LABEL: func.func @one
// TE-LABEL: te.kernel @top_k_2(
func.func @one(%x: tensor<1x5x2xf16>) -> tensor<1x1x2xf16> {
  %v, %i = graph.top_k %x {axis = 1 : i64, count = 1 : i64, largest = true} : (tensor<1x5x2xf16>) -> (tensor<1x1x2xf16>, tensor<1x1x2xi64>)
  func.return %v : tensor<1x1x2xf16>
}

// All of an open axis are sorted: blocks count the last digit of each key, the counts tell where the keys go, blocks
// move them there, and so on with the next digit; then the elements are taken from where they are.
// CHECK-LABEL: func.func @all
// TE-LABEL: te.kernel @top_k_3(
// TE:         loop.for {{.*}} = 0 to max(1, min(16, %N floordiv 16384)) "i0" parallel {
// TE:           arith.cmpi sgt, {{.*}} : i32
// TE:           arith.constant 0 : i32
// TE-NEXT:      arith.shrui
// TE:         loop.for {{.*}} = 0 to 256 "i0" {
// TE-NEXT:      loop.for {{.*}} = 0 to max(1, min(16, %N floordiv 16384)) "i1" {
// TE:         loop.for {{.*}} = 0 to max(1, min(16, %N floordiv 16384)) "i0" parallel {
// TE:         arith.constant 8 : i32
// TE-NEXT:    arith.shrui
// TE:         arith.constant 24 : i32
// TE-NEXT:    arith.shrui
// TE:         loop.for [[I:%i0[_0-9]*]] = 0 to %N "i0" parallel when [%N - 32768 >= 0] {
// TE-NEXT:      loop.load {{.*}}[[[I]]] : memref<?xi64>
func.func @all(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xi64, #graph.dims<[N]>> {
  // CHECK: %v, %i = graph.top_k %x {axis = 0 : i64, count = #graph.dims<[N]>, largest = false} : (tensor<?xf32, #graph.dims<[N]>>) -> (tensor<?xf32, #graph.dims<[N]>>, tensor<?xi64, #graph.dims<[N]>>)
  %v, %i = graph.top_k %x {axis = 0 : i64, count = #graph.dims<[N]>, largest = false} : (tensor<?xf32, #graph.dims<[N]>>) -> (tensor<?xf32, #graph.dims<[N]>>, tensor<?xi64, #graph.dims<[N]>>)
  func.return %i : tensor<?xi64, #graph.dims<[N]>>
}

// Of a row of which not all are chosen, only those elements are sorted whose first digit may be that of a chosen one.
// Bytes have one digit, and those without a sign are their own keys.
// CHECK-LABEL: func.func @many
// TE-LABEL: te.kernel @top_k_4(
// TE:         arith.cmpi slt, {{.*}} : i64
// TE:         arith.cmpi sle, {{.*}} : i64
// TE-NOT:     arith.constant 8 : i8
// TE:         loop.for {{.*}} = 0 to 16 "i0" parallel
func.func @many(%x: tensor<3x40xui8>) -> (tensor<3x16xui8>, tensor<3x16xi64>) {
  %v, %i = graph.top_k %x {axis = 1 : i64, count = 16 : i64, largest = true} : (tensor<3x40xui8>) -> (tensor<3x16xui8>, tensor<3x16xi64>)
  func.return %v, %i : tensor<3x16xui8>, tensor<3x16xi64>
}

// Of so few of so many a heap passes over nearly every element.
// CHECK-LABEL: func.func @few
// TE-LABEL: te.kernel @top_k_5(
// TE-NOT:     arith.shrui
// TE:         arith.cmpi sgt, {{.*}} : i8
func.func @few(%x: tensor<32768xi8>) -> tensor<16xi64> {
  %v, %i = graph.top_k %x {axis = 0 : i64, count = 16 : i64, largest = true} : (tensor<32768xi8>) -> (tensor<16xi8>, tensor<16xi64>)
  func.return %i : tensor<16xi64>
}

// How few they are of an open axis is asked at run time.
// CHECK-LABEL: func.func @open
// TE-LABEL: te.kernel @top_k_6(
// TE:         loop.if [%N - 32768 >= 0] {
// TE:         loop.if [-%N + 32767 >= 0] {
// TE:           arith.shrui
func.func @open(%x: tensor<?xi8, #graph.dims<[N]>>) -> tensor<16xi64> {
  %v, %i = graph.top_k %x {axis = 0 : i64, count = 16 : i64, largest = true} : (tensor<?xi8, #graph.dims<[N]>>) -> (tensor<16xi8>, tensor<16xi64>)
  func.return %i : tensor<16xi64>
}
