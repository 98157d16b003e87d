// RUN: opt-tool %s --allow-unregistered-dialect -p cse | filecheck %s
// RUN: opt-tool %s --allow-unregistered-dialect -p 'builtin.module(func.func(cse))' | filecheck %s

// Operations with equal bodies are one; of a body that computes something else they are not.
// CHECK-LABEL: func.func @bodies
// CHECK:         %a = graph.fused "exp"
// CHECK-NOT:     %b = graph.fused
// CHECK:         %c = graph.fused "exp"
// CHECK:           graph.neg
// CHECK:         func.return %a, %a, %c
func.func @bodies(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %a = graph.fused "exp" (%x) : (tensor<3xf32>) -> (tensor<3xf32>) {
  ^bb0(%x1: tensor<3xf32>):
    %e = graph.exp %x1 : (tensor<3xf32>) -> tensor<3xf32>
    graph.yield %e : tensor<3xf32>
  }
  %b = graph.fused "exp" (%x) : (tensor<3xf32>) -> (tensor<3xf32>) {
  ^bb0(%other: tensor<3xf32>):
    %e = graph.exp %other : (tensor<3xf32>) -> tensor<3xf32>
    graph.yield %e : tensor<3xf32>
  }
  %c = graph.fused "exp" (%x) : (tensor<3xf32>) -> (tensor<3xf32>) {
  ^bb0(%x1: tensor<3xf32>):
    %n = graph.neg %x1 : (tensor<3xf32>) -> tensor<3xf32>
    graph.yield %n : tensor<3xf32>
  }
  func.return %a, %b, %c : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// What stands before a loop may be used in it, not what stands in a loop before; a write ends what was read.
// CHECK-LABEL: func.func @scopes
// CHECK:         %s = arith.addi %i, %i
// CHECK:         scf.for
// CHECK-NEXT:      "test.use"(%s)
// CHECK-NEXT:      %m = arith.muli
// CHECK:         scf.for
// CHECK-NEXT:      %m_1 = arith.muli
// CHECK:         %r = memref.load
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    %t = memref.load
// CHECK-NEXT:    func.return %r, %t, %t
func.func @scopes(%i: index, %buffer: memref<4xf32>) -> (f32, f32, f32) {
  %s = arith.addi %i, %i : index
  scf.for %j = %i to %s step %i {
    %u = arith.addi %i, %i : index
    "test.use"(%u) : (index) -> ()
    %m = arith.muli %i, %i : index
    "test.use"(%m) : (index) -> ()
  }
  scf.for %k = %i to %s step %i {
    %m = arith.muli %i, %i : index
    "test.use"(%m) : (index) -> ()
  }
  %r = memref.load %buffer[%i] : memref<4xf32>
  memref.store %r, %buffer[%s] : memref<4xf32>
  %t = memref.load %buffer[%i] : memref<4xf32>
  %v = memref.load %buffer[%i] : memref<4xf32>
  func.return %r, %t, %v : f32, f32, f32
}
