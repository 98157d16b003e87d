// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Parameters, what @prepare makes of them, and fused groups.

// CHECK-LABEL: func.func @prepare
func.func @prepare() {
  // CHECK: %[[W:.*]] = graph.parameter @w : tensor<32x64xf32>
  %w = graph.parameter @w : tensor<32x64xf32>
  %twice = graph.add %w, %w : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  // CHECK: graph.define_parameter @w.twice, %{{.*}} : tensor<32x64xf32>
  graph.define_parameter @w.twice, %twice : tensor<32x64xf32>
  func.return
}

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>) -> tensor<?x32xf32, #graph.dims<[N, 32]>> {
  // CHECK: graph.parameter @"names/with any:letter" {tilework.onnx_name = "w"} : tensor<32x64xf32>
  %w = graph.parameter @"names/with any:letter" {tilework.onnx_name = "w"} : tensor<32x64xf32>
  // CHECK:      graph.fused "dense_relu" (%{{.*}}, %{{.*}}) : (tensor<?x64xf32, #graph.dims<[N, 64]>>, tensor<32x64xf32>) -> (tensor<?x32xf32, #graph.dims<[N, 32]>>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x64xf32, #graph.dims<[N, 64]>>, %{{.*}}: tensor<32x64xf32>):
  %y = graph.fused "dense_relu" (%x, %w) : (tensor<?x64xf32, #graph.dims<[N, 64]>>, tensor<32x64xf32>) -> (tensor<?x32xf32, #graph.dims<[N, 32]>>) {
  ^bb0(%a: tensor<?x64xf32, #graph.dims<[N, 64]>>, %b: tensor<32x64xf32>):
    %dense = graph.dense %a, %b : (tensor<?x64xf32, #graph.dims<[N, 64]>>, tensor<32x64xf32>) -> tensor<?x32xf32, #graph.dims<[N, 32]>>
    %relu = graph.relu %dense : (tensor<?x32xf32, #graph.dims<[N, 32]>>) -> tensor<?x32xf32, #graph.dims<[N, 32]>>
    // CHECK: graph.yield %{{.*}} : tensor<?x32xf32, #graph.dims<[N, 32]>>
    graph.yield %relu : tensor<?x32xf32, #graph.dims<[N, 32]>>
  }
  func.return %y : tensor<?x32xf32, #graph.dims<[N, 32]>>
}

// CHECK-LABEL: func.func @on_a_device
// CHECK-NEXT:    %{{.*}} = graph.copy %x to "npu0" : tensor<4xf32>
func.func @on_a_device(%x: tensor<4xf32>) -> tensor<4xf32> {
  %d = graph.copy %x to "npu0" : tensor<4xf32>
  %h = graph.copy %d to "host" : tensor<4xf32>
  func.return %h : tensor<4xf32>
}
