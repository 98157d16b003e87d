// RUN: opt-tool %s --load-plugin %S/../tilework_python --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --load-plugin %S/../tilework_python --target='llvm -mcpu=haswell' -p optimize-graph,lower-to-te | filecheck %s --check-prefix=TE

// CHECK: graph.snake %x {alpha = 2.000000e+00 : f32} : (tensor<5xf32>) -> tensor<5xf32>
// TE:    te.compute "snake" [i0: 5]
// TE:      math.sin
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = graph.snake %x {alpha = 2.0 : f32} : (tensor<5xf32>) -> tensor<5xf32>
  func.return %0 : tensor<5xf32>
}
