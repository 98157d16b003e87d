// RUN: opt-tool %s -p graph-insert-copies | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-insert-copies.copy-operands | filecheck %s
// RUN: opt-tool %s -p graph-insert-copies --check-semantics
// RUN: opt-tool %s -p graph-insert-copies,graph-to-te --check-semantics | filecheck %s --check-prefix=HOST

// What two kernels of a device read is copied to it once, and what stays there is not copied at all.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %x_1 = graph.copy %x to "npu0" : tensor<4xf32>
// CHECK-NEXT:    %a = graph.fused "relu" (%x_1)
// CHECK:         %b = graph.fused "add" (%a, %x_1)
// CHECK:         %b_1 = graph.copy %b to "host" : tensor<4xf32>
// CHECK-NEXT:    %c = graph.fused "relu" (%b_1)
// HOST-LABEL: func.func @main
// HOST-NEXT:    %x = memref.alloc() : memref<4xf32, #tilework.device<"npu0">>
// HOST-NEXT:    "memref.copy"(%input0, %x)
// HOST:         loop.call @relu ins(%x) outs(%a) : memref<4xf32, #tilework.device<"npu0">>, memref<4xf32, #tilework.device<"npu0">>
// HOST:         loop.call @relu_1 ins(%b_1) outs(%output0) : memref<4xf32>, memref<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.fused "relu" (%x) : (tensor<4xf32>) -> (tensor<4xf32>) attributes {device = "npu0"} {
  ^bb0(%p: tensor<4xf32>):
    %q = graph.relu %p : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %q : tensor<4xf32>
  }
  %b = graph.fused "add" (%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) attributes {device = "npu0"} {
  ^bb0(%p: tensor<4xf32>, %r: tensor<4xf32>):
    %q = graph.add %p, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %q : tensor<4xf32>
  }
  %c = graph.fused "relu" (%b) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%p: tensor<4xf32>):
    %q = graph.relu %p : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %q : tensor<4xf32>
  }
  func.return %c : tensor<4xf32>
}

// A parameter is in the memory of the device before the program runs; the host has it too where it reads it.
// CHECK-LABEL: func.func @parameter
// CHECK-NEXT:    %w = graph.parameter @w : tensor<4xf32>
// CHECK:         graph.parameter @w {device = "npu0"} : tensor<4xf32>
// CHECK-NOT:     graph.copy %w
// HOST-LABEL: func.func @parameter
// HOST:         memref.get_global @w.npu0 : memref<4xf32, #tilework.device<"npu0">>
func.func @parameter(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = graph.parameter @w : tensor<4xf32>
  %a = graph.fused "add" (%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) attributes {device = "npu0"} {
  ^bb0(%p: tensor<4xf32>, %r: tensor<4xf32>):
    %q = graph.add %p, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %q : tensor<4xf32>
  }
  %b = graph.fused "sub" (%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%p: tensor<4xf32>, %r: tensor<4xf32>):
    %q = graph.sub %p, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %q : tensor<4xf32>
  }
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// From one device to another a tensor goes by way of the host.
// CHECK-LABEL: func.func @two_devices
// CHECK:         %a = graph.fused {{.*}} attributes {device = "npu0"}
// CHECK:         %a_1 = graph.copy %a to "host"
// CHECK-NEXT:    %a_2 = graph.copy %a_1 to "npu1"
func.func @two_devices(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %a = graph.fused "relu" (%x) : (tensor<2x3xf32>) -> (tensor<2x3xf32>) attributes {device = "npu0"} {
  ^bb0(%p: tensor<2x3xf32>):
    %q = graph.relu %p : (tensor<2x3xf32>) -> tensor<2x3xf32>
    graph.yield %q : tensor<2x3xf32>
  }
  %b = graph.fused "relu" (%a) : (tensor<2x3xf32>) -> (tensor<2x3xf32>) attributes {device = "npu1"} {
  ^bb0(%p: tensor<2x3xf32>):
    %q = graph.relu %p : (tensor<2x3xf32>) -> tensor<2x3xf32>
    graph.yield %q : tensor<2x3xf32>
  }
  // A view stays where its operand is.
  // CHECK: %v = graph.reshape %b
  // CHECK-NEXT: graph.copy %v to "host"
  %v = graph.reshape %b {graph.view, shape = #graph.dims<[6]>} : (tensor<2x3xf32>) -> tensor<6xf32>
  func.return %v : tensor<6xf32>
}

// A program of the host alone is as it was.
// CHECK-LABEL: func.func @host
// CHECK-NOT:     graph.copy
func.func @host(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.fused "relu" (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%p: tensor<4xf32>):
    %q = graph.relu %p : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %q : tensor<4xf32>
  }
  func.return %a : tensor<4xf32>
}
