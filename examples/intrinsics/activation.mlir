// RUN: opt-tool %s -p optimize-graph --target='llvm -mcpu=haswell' | filecheck %s
// RUN: opt-tool %s -p optimize-graph --target='llvm -mcpu=haswell' --check-semantics -o /dev/null

// A network with an activation of its own, which calls an instruction that the program declares. `tilework compile
// activation.mlir` makes an artefact of it.

te.intrinsic @my.low(%x: f32, %limit: f32) -> f32 attributes {snippets = {
  llvm = "call $type @llvm.minimum.$suffix($type $x, $type $limit)"
}} {
  %y = arith.minimumf %x, %limit : f32
  te.yield %y : f32
}

te.kernel @clipped(%x: tensor<?x16xf32, #graph.dims<[N, 16]>>) -> tensor<?x16xf32, #graph.dims<[N, 16]>> {
  %y = te.compute "clipped" [i: N, j: 16] : tensor<?x16xf32, #graph.dims<[N, 16]>> {
    %v = te.read %x[i, j] : tensor<?x16xf32, #graph.dims<[N, 16]>>
    %two = arith.constant 2.0 : f32
    %low = te.call_intrinsic @my.low(%v, %two) : (f32, f32) -> f32
    te.yield %low : f32
  }
  te.return %y : tensor<?x16xf32, #graph.dims<[N, 16]>>
}

// CHECK-LABEL: func.func @main
// CHECK:         graph.fused "dense_clipped"
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %d = graph.dense %x, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %y = graph.kernel @clipped (%d) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  func.return %y : tensor<8x16xf32>
}
