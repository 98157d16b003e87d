// RUN: opt-tool %s -p graph-share-kernels --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-share-kernels.take-numbers-out | filecheck %s
// RUN: opt-tool %s -p 'graph-share-kernels,graph-fold-parameters,graph-to-te' | filecheck %s --check-prefix=TE

// Kernels that differ in a number take it as an argument; what is the same in all of them they hold themselves.
// CHECK-LABEL: func.func @scales
// CHECK-NEXT:    %[[A:.*]] = arith.constant dense<2.000000e-02> : tensor<f32>
// CHECK-NEXT:    %[[Y:.*]] = graph.fused "mul_add" (%x, %[[A]])
// CHECK:           %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK:           graph.mul
// CHECK:           graph.add %{{.*}}, %[[ONE]]
// CHECK:         %[[B:.*]] = arith.constant dense<3.000000e-02> : tensor<f32>
// CHECK-NEXT:    graph.fused "mul_add" (%[[Y]], %[[B]])
// CHECK:           arith.constant dense<1.000000e+00> : tensor<f32>

// One kernel is left, whose numbers are parameters.
// TE:         te.kernel @mul_add
// TE-NOT:     te.kernel @mul_add
// TE-LABEL:   func.func @scales
// TE:           %[[A:.*]] = memref.get_global @constant
// TE:           loop.call @mul_add ins(%{{.*}}, %[[A]])
// TE:           %[[B:.*]] = memref.get_global @constant.1
// TE:           loop.call @mul_add ins(%{{.*}}, %[[B]])
func.func @scales(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = graph.fused "mul_add" (%x) : (tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    %c = arith.constant dense<0.02> : tensor<f32>
    %one = arith.constant dense<1.0> : tensor<f32>
    %m = graph.mul %a, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %s = graph.add %m, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    graph.yield %s : tensor<8xf32>
  }
  %z = graph.fused "mul_add" (%y) : (tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    %c = arith.constant dense<0.03> : tensor<f32>
    %one = arith.constant dense<1.0> : tensor<f32>
    %m = graph.mul %a, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %s = graph.add %m, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    graph.yield %s : tensor<8xf32>
  }
  func.return %z : tensor<8xf32>
}

// Kernels on other shapes are others, and numbers repeated stay.
// CHECK-LABEL: func.func @others
// CHECK-NEXT:    graph.fused "mul" (%x)
// CHECK:         graph.fused "mul" (%y)
// CHECK:         graph.fused "add" (%x)
// CHECK:         graph.fused "add" (%x)
func.func @others(%x: tensor<8xf32>, %y: tensor<9xf32>) -> (tensor<8xf32>, tensor<9xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.fused "mul" (%x) : (tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    %c = arith.constant dense<0.02> : tensor<f32>
    %m = graph.mul %a, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    graph.yield %m : tensor<8xf32>
  }
  %1 = graph.fused "mul" (%y) : (tensor<9xf32>) -> (tensor<9xf32>) {
  ^bb0(%a: tensor<9xf32>):
    %c = arith.constant dense<0.03> : tensor<f32>
    %m = graph.mul %a, %c : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
    graph.yield %m : tensor<9xf32>
  }
  %2 = graph.fused "add" (%x) : (tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    %c = arith.constant dense<2.0> : tensor<8xf32>
    %m = graph.add %a, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    graph.yield %m : tensor<8xf32>
  }
  %3 = graph.fused "add" (%x) : (tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    %c = arith.constant dense<3.0> : tensor<8xf32>
    %m = graph.add %a, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    graph.yield %m : tensor<8xf32>
  }
  func.return %0, %1, %2, %3 : tensor<8xf32>, tensor<9xf32>, tensor<8xf32>, tensor<8xf32>
}

// Parts of one tensor become views of it, which one kernel reads; the only part of its size stays in its kernel.
// CHECK-LABEL: func.func @parts
// CHECK-NEXT:    %[[A:.*]] = graph.slice %x {{{.*}}starts = array<i64: 0>, stops = array<i64: 3>{{.*}}graph.view}
// CHECK-NEXT:    graph.fused "slice" (%[[A]])
// CHECK:           graph.slice %{{.*}} {axes = array<i64: 0>, starts = array<i64: 0>, stops = array<i64: 3>, steps = array<i64: 1>} : (tensor<3x4xf32>)
// CHECK:         %[[B:.*]] = graph.slice %x {{{.*}}starts = array<i64: 3>, stops = array<i64: 6>{{.*}}graph.view}
// CHECK-NEXT:    graph.fused "slice" (%[[B]])
// CHECK:           graph.slice %{{.*}} {axes = array<i64: 0>, starts = array<i64: 0>, stops = array<i64: 3>, steps = array<i64: 1>} : (tensor<3x4xf32>)
// CHECK:         graph.fused "slice" (%x)
func.func @parts(%x: tensor<9x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) {
  %a = graph.fused "slice" (%x) : (tensor<9x4xf32>) -> (tensor<3x4xf32>) {
  ^bb0(%y: tensor<9x4xf32>):
    %0 = graph.slice %y {axes = array<i64: 0>, starts = array<i64: 0>, stops = array<i64: 3>, steps = array<i64: 1>} : (tensor<9x4xf32>) -> tensor<3x4xf32>
    graph.yield %0 : tensor<3x4xf32>
  }
  %b = graph.fused "slice" (%x) : (tensor<9x4xf32>) -> (tensor<3x4xf32>) {
  ^bb0(%y: tensor<9x4xf32>):
    %0 = graph.slice %y {axes = array<i64: 0>, starts = array<i64: 3>, stops = array<i64: 6>, steps = array<i64: 1>} : (tensor<9x4xf32>) -> tensor<3x4xf32>
    graph.yield %0 : tensor<3x4xf32>
  }
  %c = graph.fused "slice" (%x) : (tensor<9x4xf32>) -> (tensor<2x4xf32>) {
  ^bb0(%y: tensor<9x4xf32>):
    %0 = graph.slice %y {axes = array<i64: 0>, starts = array<i64: 7>, stops = array<i64: 9>, steps = array<i64: 1>} : (tensor<9x4xf32>) -> tensor<2x4xf32>
    graph.yield %0 : tensor<2x4xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>
}

// Those that are taken backwards, too: the view is forwards.
// CHECK-LABEL: func.func @backwards
// CHECK:         graph.slice %x {{{.*}}starts = array<i64: 0>, stops = array<i64: 3>, steps = array<i64: 1>, graph.view}
// CHECK:           graph.slice %{{.*}} {axes = array<i64: 0>, starts = array<i64: 2>, stops = array<i64: -1>, steps = array<i64: -1>}
// CHECK:         graph.slice %x {{{.*}}starts = array<i64: 3>, stops = array<i64: 6>, steps = array<i64: 1>, graph.view}
// CHECK:           graph.slice %{{.*}} {axes = array<i64: 0>, starts = array<i64: 2>, stops = array<i64: -1>, steps = array<i64: -1>}
func.func @backwards(%x: tensor<9x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) {
  %a = graph.fused "slice" (%x) : (tensor<9x4xf32>) -> (tensor<3x4xf32>) {
  ^bb0(%y: tensor<9x4xf32>):
    %0 = graph.slice %y {axes = array<i64: 0>, starts = array<i64: 2>, stops = array<i64: -1>, steps = array<i64: -1>} : (tensor<9x4xf32>) -> tensor<3x4xf32>
    graph.yield %0 : tensor<3x4xf32>
  }
  %b = graph.fused "slice" (%x) : (tensor<9x4xf32>) -> (tensor<3x4xf32>) {
  ^bb0(%y: tensor<9x4xf32>):
    %0 = graph.slice %y {axes = array<i64: 0>, starts = array<i64: 5>, stops = array<i64: 2>, steps = array<i64: -1>} : (tensor<9x4xf32>) -> tensor<3x4xf32>
    graph.yield %0 : tensor<3x4xf32>
  }
  %c = graph.fused "slice" (%x) : (tensor<9x4xf32>) -> (tensor<2x4xf32>) {
  ^bb0(%y: tensor<9x4xf32>):
    %0 = graph.slice %y {axes = array<i64: 0>, starts = array<i64: 7>, stops = array<i64: 9>, steps = array<i64: 1>} : (tensor<9x4xf32>) -> tensor<2x4xf32>
    graph.yield %0 : tensor<2x4xf32>
  }
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>
}
