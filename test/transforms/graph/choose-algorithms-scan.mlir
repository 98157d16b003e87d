// RUN: opt-tool %s --target='llvm -mcpu=znver4 -num-cores=2 -cache-sizes=32768,1048576,33554432' -p choose-algorithms | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -num-cores=2 -cache-sizes=32768,1048576,33554432' -p 'choose-algorithms{precision=strict}' | filecheck %s --check-prefix=STRICT

// Every step of a scan reads the same 7 MB, which stay in the last cache, while what comes before them does not: from
// there they come as fast as 28 bits are made floats.
// CHECK-LABEL: func.func @scan
// CHECK:         packed_float_weight %w {bits = 24 : i64}
// CHECK:         graph.scan
// CHECK:           packed_float_weight %v {bits = 24 : i64}
// STRICT-LABEL: func.func @scan
// STRICT:         packed_float_weight %w {bits = 28 : i64}
// STRICT:         graph.scan
// STRICT-NOT:       packed_float
func.func @scan(%x: tensor<1x16384xf32>, %e: tensor<35x1xf32>) -> tensor<1x1300xf32> {
  %w = graph.parameter @scan_w : tensor<1300x16384xf32>
  %h = graph.fused "dense" (%x, %w) : (tensor<1x16384xf32>, tensor<1300x16384xf32>) -> (tensor<1x1300xf32>) {
  ^bb0(%a: tensor<1x16384xf32>, %b: tensor<1300x16384xf32>):
    %c = graph.dense %a, %b : (tensor<1x16384xf32>, tensor<1300x16384xf32>) -> tensor<1x1300xf32>
    graph.yield %c : tensor<1x1300xf32>
  }
  %end = graph.scan from (%h) over (%e) : from (tensor<1x1300xf32>) over (tensor<35x1xf32>) -> (tensor<1x1300xf32>) {
  ^bb0(%s: tensor<1x1300xf32>, %i: tensor<1xf32>):
    %v = graph.parameter @scan_v : tensor<1300x1300xf32>
    %n = graph.fused "dense" (%s, %v) : (tensor<1x1300xf32>, tensor<1300x1300xf32>) -> (tensor<1x1300xf32>) {
    ^bb1(%a: tensor<1x1300xf32>, %b: tensor<1300x1300xf32>):
      %c = graph.dense %a, %b : (tensor<1x1300xf32>, tensor<1300x1300xf32>) -> tensor<1x1300xf32>
      graph.yield %c : tensor<1x1300xf32>
    }
    graph.yield %n : tensor<1x1300xf32>
  }
  func.return %end : tensor<1x1300xf32>
}
