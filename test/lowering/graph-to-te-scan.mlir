// RUN: opt-tool %s --split-input-file --graph-fuse-operators --graph-to-te | filecheck %s

// A loop of calls. The states' buffer is that of the result; elements are views, a new one is made where it will lie.
// CHECK-LABEL: func.func @forward(
// CHECK:         "memref.copy"(%h, %output0)
// CHECK-NEXT:    loop.for %step = 0 to 5 "step" {
// CHECK-NEXT:      [[AT:%[0-9]+]] = loop.apply 4 * %step
// CHECK-NEXT:      %y = memref.reinterpret_cast %output1 to offset: {{.}}[[AT]]], sizes: [1, 4], strides: [4, 1] : memref<5x1x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
// CHECK-NEXT:      %x = memref.reinterpret_cast %xs to offset: {{.}}[[AT]]], sizes: [1, 4]
// CHECK-NEXT:      %n = memref.alloc() : memref<1x4xf32>
// CHECK-NEXT:      loop.call @add ins(%output0, %x) outs(%n)
// CHECK-NEXT:      loop.call @relu ins(%n) outs(%y)
// CHECK-NEXT:      "memref.copy"(%n, %output0)
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @forward(%h: tensor<1x4xf32> {tilework.name = "h"}, %xs: tensor<5x1x4xf32> {tilework.name = "xs"}) -> (tensor<1x4xf32>, tensor<5x1x4xf32>) {
  %end, %ys = graph.scan from (%h) over (%xs) : from (tensor<1x4xf32>) over (tensor<5x1x4xf32>) -> (tensor<1x4xf32>, tensor<5x1x4xf32>) {
  ^bb0(%s: tensor<1x4xf32>, %x: tensor<1x4xf32>):
    %n = graph.add %s, %x : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %y = graph.relu %n : (tensor<1x4xf32>) -> tensor<1x4xf32>
    graph.yield %n, %y : tensor<1x4xf32>, tensor<1x4xf32>
  }
  func.return %end, %ys : tensor<1x4xf32>, tensor<5x1x4xf32>
}

// -----

// From the last element to the first, of unknown many. A state that stays is copied once, before the loop; a sequence
// that nobody reads is not made.
// CHECK-LABEL: func.func @reverse(
// CHECK:         %T = memref.dim %xs
// CHECK:         "memref.copy"(%h, %output0)
// CHECK-NEXT:    "memref.copy"(%g, %same)
// CHECK-NEXT:    loop.for %step = 0 to %T "step" {
// CHECK-NEXT:      [[AT:%[0-9]+]] = loop.apply 4 * %T - 4 * %step - 4
// CHECK-NEXT:      %x = memref.reinterpret_cast %xs to offset: {{.}}[[AT]]]
// CHECK-NEXT:      %n = memref.alloc()
// CHECK-NEXT:      loop.call @add_mul ins(%output0, %x, %same) outs(%n)
// CHECK-NEXT:      "memref.copy"(%n, %output0)
// CHECK-NEXT:    }
!row = tensor<4xf32>
!rows = tensor<?x4xf32, #graph.dims<[T, 4]>>
func.func @reverse(%h: !row {tilework.name = "h"}, %g: !row {tilework.name = "g"}, %xs: !rows {tilework.name = "xs"}) -> !row {
  %end, %same, %ys = graph.scan reverse from (%h, %g) over (%xs) : from (!row, !row) over (!rows) -> (!row, !row, !rows) {
  ^bb0(%s: !row, %t: !row, %x: !row):
    %0 = graph.add %s, %x : (!row, !row) -> !row
    %n = graph.mul %0, %t : (!row, !row) -> !row
    graph.yield %n, %t, %n : !row, !row, !row
  }
  func.return %end : !row
}

// -----

// Nothing of the scan is read: no loop.
// CHECK-LABEL: func.func @dead(
// CHECK-NOT:     loop.for
// CHECK:         func.return
func.func @dead(%h: tensor<4xf32> {tilework.name = "h"}, %xs: tensor<3x4xf32> {tilework.name = "xs"}) -> tensor<4xf32> {
  %end = graph.scan from (%h) over (%xs) : from (tensor<4xf32>) over (tensor<3x4xf32>) -> (tensor<4xf32>) {
  ^bb0(%s: tensor<4xf32>, %x: tensor<4xf32>):
    %n = graph.add %s, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %n : tensor<4xf32>
  }
  func.return %h : tensor<4xf32>
}

// -----

// States that change places go through buffers of their own. Elements of any batch: where one begins is computed.
// CHECK-LABEL: func.func @swapped(
// CHECK:         loop.for %step = 0 to 6 "step" {
// CHECK-NEXT:      [[AT:%[0-9]+]] = loop.apply 4 * (%N * %step)
// CHECK-NEXT:      %y = memref.reinterpret_cast %output2 to offset: {{.}}[[AT]]], sizes: [%N, 4], strides: [4, 1]
// CHECK:           loop.call @add ins(%output0, %x) outs(%y) symbols(%N)
// CHECK-NEXT:      [[B:%[0-9]+]] = memref.alloc(%N)
// CHECK-NEXT:      "memref.copy"(%output1, [[B]])
// CHECK-NEXT:      [[A:%[0-9]+]] = memref.alloc(%N)
// CHECK-NEXT:      "memref.copy"(%output0, [[A]])
// CHECK-NEXT:      "memref.copy"([[B]], %output0)
// CHECK-NEXT:      "memref.copy"([[A]], %output1)
// CHECK-NEXT:    }
!s = tensor<?x4xf32, #graph.dims<[N, 4]>>
!q = tensor<6x?x4xf32, #graph.dims<[6, N, 4]>>
func.func @swapped(%h: !s {tilework.name = "h"}, %g: !s {tilework.name = "g"}, %xs: !q {tilework.name = "xs"}) -> (!s, !s, !q) {
  %a, %b, %ys = graph.scan from (%h, %g) over (%xs) : from (!s, !s) over (!q) -> (!s, !s, !q) {
  ^bb0(%s: !s, %t: !s, %x: !s):
    %y = graph.add %s, %x : (!s, !s) -> !s
    graph.yield %t, %s, %y : !s, !s, !s
  }
  func.return %a, %b, %ys : !s, !s, !q
}

// -----

// What a step of the outer loop makes by an inner one lies in its element; the inner elements are parts of the whole.
// CHECK-LABEL: func.func @nested(
// CHECK:         %end = memref.alloc()
// CHECK:         loop.for %step = 0 to 5 "step" {
// CHECK:           %inner = memref.alloc()
// CHECK-NEXT:      "memref.copy"(%end, %inner)
// CHECK-NEXT:      loop.for [[I:%[a-z0-9_]+]] = 0 to 3 "step" {
// CHECK-NEXT:        [[AT:%[0-9]+]] = loop.apply 12 * %step - 4 * [[I]] + 8
// CHECK-NEXT:        %sum = memref.reinterpret_cast %output0 to offset: {{.}}[[AT]]], sizes: [4], strides: [1] : memref<5x3x4xf32>
// CHECK-NEXT:        %row = memref.reinterpret_cast %xs to offset: {{.}}[[AT]]]
// CHECK-NEXT:        loop.call @add ins(%inner, %row) outs(%sum)
// CHECK-NEXT:        "memref.copy"(%sum, %inner)
// CHECK-NEXT:      }
// CHECK-NEXT:      "memref.copy"(%inner, %end)
// CHECK-NEXT:    }
func.func @nested(%h: tensor<4xf32> {tilework.name = "h"}, %xs: tensor<5x3x4xf32> {tilework.name = "xs"}) -> tensor<5x3x4xf32> {
  %end, %ys = graph.scan from (%h) over (%xs) : from (tensor<4xf32>) over (tensor<5x3x4xf32>) -> (tensor<4xf32>, tensor<5x3x4xf32>) {
  ^bb0(%s: tensor<4xf32>, %x: tensor<3x4xf32>):
    %inner, %zs = graph.scan reverse from (%s) over (%x) : from (tensor<4xf32>) over (tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
    ^bb1(%t: tensor<4xf32>, %row: tensor<4xf32>):
      %sum = graph.add %t, %row : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %sum, %sum : tensor<4xf32>, tensor<4xf32>
    }
    graph.yield %inner, %zs : tensor<4xf32>, tensor<3x4xf32>
  }
  func.return %ys : tensor<5x3x4xf32>
}

// -----

// A parameter that the body names is a global; one that it hands on as a state is copied.
// CHECK-LABEL: "memref.global"() <{sym_name = "w"
// CHECK:       func.func @parameters(
// CHECK:         loop.for
// CHECK:           [[W:%[a-z0-9_]+]] = memref.get_global @w
// CHECK:           loop.call @mul ins(%x, [[W]])
// CHECK:           [[C:%[a-z0-9_]+]] = memref.alloc()
// CHECK-NEXT:      "memref.copy"([[W]], [[C]])
// CHECK-NEXT:      "memref.copy"([[C]], %output0)
func.func @parameters(%h: tensor<4xf32> {tilework.name = "h"}, %xs: tensor<3x4xf32> {tilework.name = "xs"}) -> (tensor<4xf32>, tensor<3x4xf32>) {
  %end, %ys = graph.scan from (%h) over (%xs) : from (tensor<4xf32>) over (tensor<3x4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%s: tensor<4xf32>, %x: tensor<4xf32>):
    %w = graph.parameter @w : tensor<4xf32>
    %y = graph.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %w, %y : tensor<4xf32>, tensor<4xf32>
  }
  func.return %end, %ys : tensor<4xf32>, tensor<3x4xf32>
}
