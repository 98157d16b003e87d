// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p graph-to-te,te-to-schedule | filecheck %s

// Cores take blocks of rows. Of each the sums of quarters are made first; then, for some vectors of outputs at a time, the
// seven products and what is summed up of them.
// CHECK-LABEL: schedule.sequence @dense
// CHECK:         schedule.parallel %[[ROWS:.*]]
// CHECK:         schedule.compute_at %strassen_data, %[[ROWS]]
// CHECK:         schedule.compute_at %strassen_product, %{{.*}}
// CHECK-NEXT:    schedule.set_scope %strassen_product "local"
func.func @main(%x: tensor<512x512xf32>) -> tensor<512x1024xf32> {
  %w = graph.parameter @w : tensor<512x7x256xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<512x512xf32>, tensor<512x7x256xf32>) -> (tensor<512x1024xf32>) {
  ^bb0(%a: tensor<512x512xf32>, %b: tensor<512x7x256xf32>):
    %c = graph.strassen_dense %a, %b : (tensor<512x512xf32>, tensor<512x7x256xf32>) -> tensor<512x1024xf32>
    %r = graph.relu %c : (tensor<512x1024xf32>) -> tensor<512x1024xf32>
    graph.yield %r : tensor<512x1024xf32>
  }
  func.return %y : tensor<512x1024xf32>
}
