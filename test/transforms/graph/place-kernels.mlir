// RUN: opt-tool %s -p graph-place-kernels --split-input-file | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-place-kernels.place-kernel --split-input-file | filecheck %s

// A GPU takes every kernel; one that is on another device stays there.
// CHECK-LABEL: func.func @main
// CHECK:         graph.fused "relu" {{.*}} attributes {device = "gpu0"}
// CHECK:         graph.fused "neg" {{.*}} attributes {device = "npu0"}
builtin.module attributes {tilework.targets = {host = "llvm -mcpu=haswell", gpu0 = "opencl", npu0 = "vdla"}} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = graph.fused "relu" (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>):
      %r = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %r : tensor<4xf32>
    }
    %z = graph.fused "neg" (%y) : (tensor<4xf32>) -> (tensor<4xf32>) attributes {device = "npu0"} {
    ^bb0(%a: tensor<4xf32>):
      %r = graph.neg %a : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %r : tensor<4xf32>
    }
    func.return %z : tensor<4xf32>
  }
}

// -----

// A scatter is a statement as a whole, without axes that threads could share: it stays on the host.
// CHECK-LABEL: func.func @main
// CHECK:         graph.fused "scatter"
// CHECK-NOT:     device
builtin.module attributes {tilework.targets = {host = "llvm -mcpu=haswell", gpu0 = "opencl"}} {
  func.func @main(%x: tensor<9x4xf32>, %i: tensor<5x1xi64>, %u: tensor<5x4xf32>) -> tensor<9x4xf32> {
    %y = graph.fused "scatter" (%x, %i, %u) : (tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>) -> (tensor<9x4xf32>) {
    ^bb0(%a: tensor<9x4xf32>, %b: tensor<5x1xi64>, %c: tensor<5x4xf32>):
      %r = graph.scatter %a, %b, %c {axis = 0 : i64, combine = "add"} : (tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<9x4xf32>
      graph.yield %r : tensor<9x4xf32>
    }
    func.return %y : tensor<9x4xf32>
  }
}

// -----

// A program without such a device stays as it is.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     device
builtin.module attributes {tilework.targets = {host = "llvm -mcpu=haswell", npu0 = "vdla"}} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = graph.fused "relu" (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>):
      %r = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %r : tensor<4xf32>
    }
    func.return %y : tensor<4xf32>
  }
}
