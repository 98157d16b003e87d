// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Four weights of 24 bits in three words, eight of 28 in seven.

// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<2x1x40xf32>, %w: tensor<100x40xf32>) -> tensor<2x1x100xf32> {
  // CHECK: graph.packed_float_weight %w {bits = 24 : i64} : (tensor<100x40xf32>) -> tensor<2x41x3x16xi32>
  %u = graph.packed_float_weight %w {bits = 24 : i64} : (tensor<100x40xf32>) -> tensor<2x41x3x16xi32>
  // CHECK: graph.packed_float_dense %x, %u {outputs = 100 : i64} : (tensor<2x1x40xf32>, tensor<2x41x3x16xi32>) -> tensor<2x1x100xf32>
  %y = graph.packed_float_dense %x, %u {outputs = 100 : i64} : (tensor<2x1x40xf32>, tensor<2x41x3x16xi32>) -> tensor<2x1x100xf32>
  func.return %y : tensor<2x1x100xf32>
}

// CHECK-LABEL: func.func @longer
func.func @longer(%x: tensor<1x40xf32>, %w: tensor<200x40xf32>) -> tensor<1x200xf32> {
  // CHECK: graph.packed_float_weight %w {bits = 28 : i64} : (tensor<200x40xf32>) -> tensor<2x41x7x16xi32>
  %u = graph.packed_float_weight %w {bits = 28 : i64} : (tensor<200x40xf32>) -> tensor<2x41x7x16xi32>
  // CHECK: graph.packed_float_dense %x, %u {outputs = 200 : i64} : (tensor<1x40xf32>, tensor<2x41x7x16xi32>) -> tensor<1x200xf32>
  %y = graph.packed_float_dense %x, %u {outputs = 200 : i64} : (tensor<1x40xf32>, tensor<2x41x7x16xi32>) -> tensor<1x200xf32>
  func.return %y : tensor<1x200xf32>
}
