// RUN: opt-tool %s -p optimize-graph | filecheck %s

// What an exporter wrote twice is computed once; what the results do not need is not computed.
// CHECK-LABEL: func.func @twice
// CHECK:         graph.exp
// CHECK-NOT:     graph.exp
// CHECK-NOT:     graph.neg
// CHECK:         func.return
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %c = graph.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %d = graph.add %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %d : tensor<8xf32>
}
