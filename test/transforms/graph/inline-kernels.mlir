// RUN: opt-tool %s --split-input-file --verify-diagnostics -p graph-inline-kernels | filecheck %s

// Each operator holds a copy, also inside of a group and in @prepare; the definition leaves the module.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:  func.func @main
// CHECK:         graph.kernel (%x) : (tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:      te.kernel @twice(%{{.*}}: tensor<?xf32, #graph.dims<[N]>>)
// CHECK:         graph.fused "twice"
// CHECK:           graph.kernel (%{{.*}}) : (tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT:        te.kernel @twice
// CHECK:       func.func @prepare
// CHECK:         graph.kernel (%w) : (tensor<3xf32>) -> tensor<3xf32> {
// CHECK-NEXT:      te.kernel @twice
// CHECK:         graph.define_parameter @v
te.kernel @twice(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %y = te.compute "twice" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %0 = te.read %x[i] : tensor<?xf32, #graph.dims<[N]>>
    %1 = arith.addf %0, %0 : f32
    te.yield %1 : f32
  }
  te.return %y : tensor<?xf32, #graph.dims<[N]>>
}

func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<3xf32>) {
  %v = graph.parameter @v : tensor<3xf32>
  %y = graph.kernel @twice (%x) : (tensor<8xf32>) -> tensor<8xf32>
  %z = graph.fused "twice" (%v) : (tensor<3xf32>) -> (tensor<3xf32>) {
  ^bb0(%a: tensor<3xf32>):
    %b = graph.kernel @twice (%a) : (tensor<3xf32>) -> tensor<3xf32>
    graph.yield %b : tensor<3xf32>
  }
  func.return %y, %z : tensor<8xf32>, tensor<3xf32>
}

func.func @prepare() {
  %w = graph.parameter @w : tensor<3xf32>
  %v = graph.kernel @twice (%w) : (tensor<3xf32>) -> tensor<3xf32>
  graph.define_parameter @v, %v : tensor<3xf32>
  func.return
}

// -----

// A kernel that a program on buffers calls stays; one that no operator names stays, and keeps its schedule.
// CHECK-LABEL: builtin.module
// CHECK-NEXT:  te.kernel @one
// CHECK:       te.kernel @other
// CHECK:       schedule.sequence @other
// CHECK:         graph.kernel () : () -> tensor<2xf32> {
// CHECK-NEXT:      te.kernel @one
te.kernel @one() -> tensor<2xf32> {
  %y = te.compute "one" [i: 2] : tensor<2xf32> {
    %0 = arith.constant 1.0 : f32
    te.yield %0 : f32
  }
  te.return %y : tensor<2xf32>
}
te.kernel @other() -> tensor<2xf32> {
  %y = te.compute "one" [i: 2] : tensor<2xf32> {
    %0 = arith.constant 1.0 : f32
    te.yield %0 : f32
  }
  te.return %y : tensor<2xf32>
}
schedule.sequence @other {
  %y, %i = schedule.stage "one" [i]
  schedule.unroll %i
}
func.func @graph() -> tensor<2xf32> {
  %y = graph.kernel @one () : () -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
func.func @host(%y: memref<2xf32>) {
  loop.call @one ins() outs(%y) : memref<2xf32>
  func.return
}

// -----

te.kernel @one() -> tensor<2xf32> {
  %y = te.compute "one" [i: 2] : tensor<2xf32> {
    %0 = arith.constant 1.0 : f32
    te.yield %0 : f32
  }
  te.return %y : tensor<2xf32>
}
// expected-error@+1 {{te.kernel @one has a schedule, but it is a part of the kernels that operators make, which rules schedule: take the schedule out}}
schedule.sequence @one {
  %y, %i = schedule.stage "one" [i]
  schedule.unroll %i
}
func.func @main() -> tensor<2xf32> {
  %y = graph.kernel @one () : () -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

builtin.module attributes {tilework.targets = {host = "llvm -mcpu=haswell", npu0 = "llvm -mcpu=haswell"}} {
  // expected-error@+1 {{te.kernel @one names a device; as a part of other kernels it runs where these do}}
  te.kernel @one() -> tensor<2xf32> attributes {device = "npu0"} {
    %y = te.compute "one" [i: 2] : tensor<2xf32> {
      %0 = arith.constant 1.0 : f32
      te.yield %0 : f32
    }
    te.return %y : tensor<2xf32>
  }
  func.func @main() -> tensor<2xf32> {
    %y = graph.kernel @one () : () -> tensor<2xf32>
    func.return %y : tensor<2xf32>
  }
}
