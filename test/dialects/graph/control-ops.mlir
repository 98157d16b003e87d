// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// One of two graphs, and a graph that is run again.

// Both sides take what stands behind `with`; attributes stand before the first one.
// CHECK-LABEL: func.func @either
func.func @either(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:      graph.if %c with (%x) : with (tensor<4xf32>) -> (tensor<4xf32>) attributes {tilework.note = "kept"} {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>):
  // CHECK-NEXT:   %{{.*}} = graph.relu
  // CHECK-NEXT:   graph.yield
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ^bb{{[01]}}(%{{.*}}: tensor<4xf32>):
  // CHECK-NEXT:   graph.yield
  // CHECK-NEXT: }
  %y = graph.if %c with (%x) : with (tensor<4xf32>) -> (tensor<4xf32>) attributes {tilework.note = "kept"} {
  ^bb0(%a: tensor<4xf32>):
    %r = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  } else {
  ^bb1(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// A graph that takes nothing and makes nothing.
// CHECK-LABEL: func.func @nothing
func.func @nothing(%c: tensor<i1>) {
  // CHECK: graph.if %c : -> () {
  graph.if %c : -> () {
    graph.yield
  } else {
    graph.yield
  }
  func.return
}

// States alone: as often as the condition says.
// CHECK-LABEL: func.func @states
func.func @states(%c: tensor<i1>, %x: tensor<4xf32>, %k: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK:      graph.while %c from (%x) with (%k) : from (tensor<4xf32>) with (tensor<4xf32>) -> (tensor<4xf32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
  %end = graph.while %c from (%x) with (%k) : from (tensor<4xf32>) with (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%s: tensor<4xf32>, %same: tensor<4xf32>):
    %n = graph.add %s, %same : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %no = arith.constant dense<false> : tensor<i1>
    // CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<i1>, tensor<4xf32>
    graph.yield %no, %n : tensor<i1>, tensor<4xf32>
  }
  func.return %end : tensor<4xf32>
}

// A sequence of as many elements as there are runs, of which there are no more than the limit.
// CHECK-LABEL: func.func @sequence
func.func @sequence(%c: tensor<i1>, %x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?x?xf32, #graph.dims<[K, N]>> {
  // CHECK: graph.while %c at most [2 * N + 1] counting "K" from (%x) : from (tensor<?xf32, #graph.dims<[N]>>) -> (tensor<?xf32, #graph.dims<[N]>>, tensor<?x?xf32, #graph.dims<[K, N]>>) {
  %end, %all = graph.while %c at most [2 * N + 1] counting "K" from (%x) : from (tensor<?xf32, #graph.dims<[N]>>) -> (tensor<?xf32, #graph.dims<[N]>>, tensor<?x?xf32, #graph.dims<[K, N]>>) {
  ^bb0(%s: tensor<?xf32, #graph.dims<[N]>>):
    %yes = arith.constant dense<true> : tensor<i1>
    graph.yield %yes, %s, %s : tensor<i1>, tensor<?xf32, #graph.dims<[N]>>, tensor<?xf32, #graph.dims<[N]>>
  }
  func.return %all : tensor<?x?xf32, #graph.dims<[K, N]>>
}
