// RUN: opt-tool %s --load-plugin %S/../tilework_python --graph-cancel-negations | filecheck %s
// RUN: opt-tool %s --load-plugin %S/../tilework_python --graph-cancel-negations --check-semantics
// RUN: opt-tool %s --load-plugin %S/../tilework_python --apply-pattern graph-cancel-negations.two-negations | filecheck %s

// CHECK-LABEL: func.func @two
// CHECK:         func.return %x
func.func @two(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.neg %0 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %1 : tensor<8xf32>
}

// CHECK-LABEL: func.func @one_between
// CHECK:         graph.neg
// CHECK:         graph.neg
func.func @one_between(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.relu %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.neg %1 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %2 : tensor<8xf32>
}
