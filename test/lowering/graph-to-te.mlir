// RUN: opt-tool %s --split-input-file --graph-fuse-operators --graph-to-te | filecheck %s

// Two layers that compute the same share a kernel; the second writes into the output.
// CHECK-LABEL: "memref.global"() <{sym_name = "w", type = memref<64x64xf32>, initial_value, sym_visibility = "private"}>
// CHECK:       te.kernel @dense_relu(%input: tensor<?x64xf32, #graph.dims<[N, 64]>>, %weight: tensor<64x64xf32>)
// CHECK:         te.compute "dense" [i: N, j: 64] reduce [k: 64]
// CHECK:         te.compute "relu" [i0: N, i1: 64]
// CHECK-NOT:   te.kernel
// CHECK:       func.func @main(%image: memref<?x64xf32> {tilework.name = "image", tilework.dims = #graph.dims<[N, 64]>}, %other: memref<?x64xf32> {tilework.name = "other", tilework.dims = #graph.dims<[N, 64]>}, %scores: memref<?x64xf32> {tilework.name = "scores", tilework.output, tilework.dims = #graph.dims<[N, 64]>}) {
// CHECK:         %N = memref.dim %image, %c0
// CHECK:         [[M:%[a-z0-9]+]] = memref.dim %other, %c0
// CHECK:         [[OK:%[a-z0-9]+]] = arith.cmpi eq, [[M]], %N : index
// CHECK:         cf.assert [[OK]], "dimension 0 of input 'other' is not N, where N is dimension 0 of input 'image'"
// CHECK:         [[T:%[a-z0-9]+]] = memref.alloc(%N) : memref<?x64xf32>
// CHECK-NEXT:    loop.call @dense_relu ins(%image, %w) outs([[T]]) symbols(%N)
// CHECK-NEXT:    loop.call @dense_relu ins([[T]], %w) outs(%scores) symbols(%N)
// CHECK-NEXT:    func.return
!rows = tensor<?x64xf32, #graph.dims<[N, 64]>>
func.func @main(%x: !rows {tilework.name = "image"}, %y: !rows {tilework.name = "other"}) -> (!rows {tilework.name = "scores"}) {
  %w = graph.parameter @w : tensor<64x64xf32>
  %0 = graph.dense %x, %w : (!rows, tensor<64x64xf32>) -> !rows
  %1 = graph.relu %0 : (!rows) -> !rows
  %2 = graph.dense %1, %w : (!rows, tensor<64x64xf32>) -> !rows
  %3 = graph.relu %2 : (!rows) -> !rows
  func.return %3 : !rows
}

// -----

// Kernels write into the parts of a concatenation; with batch 1 those have no gaps, with batch 2 they have.
// CHECK-LABEL: te.kernel @relu(
// CHECK-NOT:     te.layouts
// CHECK:       func.func @one(
// CHECK:         [[WHOLE:%[a-z0-9]+]] = memref.alloc() : memref<1x5x4xf32>
// CHECK:         [[A:%[a-z0-9]+]] = memref.subview [[WHOLE]][0, 0, 0] [1, 2, 4] [1, 1, 1] : memref<1x5x4xf32> to memref<1x2x4xf32, strided<[20, 4, 1]>>
// CHECK-NEXT:    loop.call @relu ins(%a) outs([[A]])
// CHECK:         [[B:%[a-z0-9]+]] = memref.subview [[WHOLE]][0, 2, 0] [1, 3, 4] [1, 1, 1] : memref<1x5x4xf32> to memref<1x3x4xf32, strided<[20, 4, 1], offset: 8>>
// CHECK-NEXT:    loop.call @exp ins(%b) outs([[B]])
// CHECK-NEXT:    loop.call @tanh ins([[WHOLE]]) outs(%output0)
func.func @one(%a: tensor<1x2x4xf32> {tilework.name = "a"}, %b: tensor<1x3x4xf32> {tilework.name = "b"}) -> tensor<1x5x4xf32> {
  %0 = graph.relu %a : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %1 = graph.exp %b : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64, graph.view} : (tensor<1x2x4xf32>, tensor<1x3x4xf32>) -> tensor<1x5x4xf32>
  %3 = graph.tanh %2 : (tensor<1x5x4xf32>) -> tensor<1x5x4xf32>
  func.return %3 : tensor<1x5x4xf32>
}

// -----

// Parts of parts; the whole is the output. A kernel that is called with another layout is another kernel.
// CHECK-LABEL: te.kernel @relu(%input: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {te.layouts = [unit, strided<[6, 1]>]}
// CHECK:       te.kernel @relu_1(%input: tensor<2x2xf32>) -> tensor<2x2xf32> {
// CHECK:       te.kernel @exp(%input: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {te.layouts = [strided<[6, 1]>, strided<[6, 1]>]}
// CHECK:       func.func @nested
// CHECK:         [[INNER:%[a-z0-9]+]] = memref.subview %output0[0, 2] [2, 4] [1, 1] : memref<2x6xf32> to memref<2x4xf32, strided<[6, 1], offset: 2>>
// CHECK-NEXT:    [[A:%[a-z0-9]+]] = memref.subview [[INNER]][0, 0] [2, 2] [1, 1] : {{.*}} to memref<2x2xf32, strided<[6, 1], offset: 2>>
// CHECK-NEXT:    loop.call @relu ins(%a) outs([[A]])
// CHECK-NEXT:    [[T:%[a-z0-9]+]] = memref.alloc()
// CHECK-NEXT:    loop.call @relu_1 ins(%a) outs([[T]])
// CHECK:         loop.call @exp ins([[A]]) outs(
// CHECK:         loop.call @tanh ins(%s) outs(
func.func @nested(%a: tensor<2x2xf32> {tilework.name = "a"}) -> tensor<2x6xf32> {
  %0 = graph.relu %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = graph.relu %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = graph.exp %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = graph.concat %0, %2 {axis = 1 : i64, graph.view} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %s = graph.softmax %1 {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = graph.tanh %s : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = graph.concat %4, %3 {axis = 1 : i64, graph.view} : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x6xf32>
  func.return %5 : tensor<2x6xf32>
}

// -----

// What is returned through a reshape is made in the output; what lies elsewhere already is copied.
// CHECK-LABEL: func.func @results
// CHECK:         [[FLAT:%[a-z0-9]+]] = memref.reinterpret_cast %output0 to offset: [0], sizes: [%N, 3, 4], strides: [12, 4, 1] : memref<?x12xf32> to memref<?x3x4xf32>
// CHECK-NEXT:    loop.call @relu ins(%x) outs([[FLAT]]) symbols(%N)
// CHECK-NEXT:    [[BACK:%[a-z0-9]+]] = memref.reinterpret_cast [[FLAT]] to
// CHECK-NEXT:    "memref.copy"([[BACK]], %output1)
// CHECK-NEXT:    "memref.copy"(%x, %output2)
// CHECK-NEXT:    "memref.copy"(%w, %output3)
!cube = tensor<?x3x4xf32, #graph.dims<[N, 3, 4]>>
!flat = tensor<?x12xf32, #graph.dims<[N, 12]>>
func.func @results(%x: !cube {tilework.name = "x"}) -> (!flat, !flat, !cube, tensor<2xf32>) {
  %w = graph.parameter @w : tensor<2xf32>
  %0 = graph.relu %x : (!cube) -> !cube
  %1 = graph.reshape %0 {shape = #graph.dims<[N, 12]>, graph.view} : (!cube) -> !flat
  func.return %1, %1, %x, %w : !flat, !flat, !cube, tensor<2xf32>
}

// -----

// A slice is a view; its kernel reads with strides.
// CHECK-LABEL: te.kernel @relu(%input: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {te.layouts = [strided<[16, 1]>, unit]}
// CHECK:         memref.subview %x[1, 2] [2, 3] [2, 1] : memref<4x8xf32> to memref<2x3xf32, strided<[16, 1], offset: 10>>
func.func @slice(%x: tensor<4x8xf32> {tilework.name = "x"}) -> tensor<2x3xf32> {
  %0 = graph.slice %x {axes = array<i64: 0, 1>, starts = array<i64: 1, 2>, stops = array<i64: 4, 5>, steps = array<i64: 2, 1>, graph.view} : (tensor<4x8xf32>) -> tensor<2x3xf32>
  %1 = graph.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}

// -----

// A dimension that is an expression is checked; the operators' own checks need no help.
// CHECK-LABEL: func.func @expression
// CHECK:         [[E:%[a-z0-9]+]] = memref.dim %y, %c0
// CHECK:         %N = memref.dim %x, %c0
// CHECK:         [[WANT:%[a-z0-9]+]] = loop.apply 2 * %N
// CHECK:         arith.cmpi eq, [[E]], [[WANT]]
// CHECK:         cf.assert {{.*}}, "dimension 0 of input 'y' is not 2 * N, where N is dimension 0 of input 'x'"
func.func @expression(%y: tensor<?xf32, #graph.dims<[2 * N]>> {tilework.name = "y"}, %x: tensor<?xf32, #graph.dims<[N]>> {tilework.name = "x"}) -> tensor<?xf32, #graph.dims<[2 * N]>> {
  %0 = graph.relu %y : (tensor<?xf32, #graph.dims<[2 * N]>>) -> tensor<?xf32, #graph.dims<[2 * N]>>
  func.return %0 : tensor<?xf32, #graph.dims<[2 * N]>>
}

// -----

// @prepare stays what it is.
// CHECK-LABEL: func.func @prepare
// CHECK:         graph.neg
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func @prepare() {
  %w = graph.parameter @w : tensor<2xf32>
  %v = graph.neg %w : (tensor<2xf32>) -> tensor<2xf32>
  graph.define_parameter @v, %v : tensor<2xf32>
  func.return
}

// -----

// Kernels serve all functions.
// CHECK-LABEL: te.kernel @relu(
// CHECK-NOT:   te.kernel
// CHECK:       func.func @f
// CHECK:         loop.call @relu
// CHECK:       func.func @g
// CHECK:         loop.call @relu
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
