// RUN: opt-tool %s --load-plugin %S/../tilework_npu --target='llvm -mcpu=haswell' --target=npu0=npu -p graph-place-on-devices | filecheck %s

// CHECK-LABEL: func.func @whole_tiles
// CHECK:         graph.fused "dense" (%x, %w) : {{.*}} attributes {device = "npu0"}
func.func @whole_tiles(%x: tensor<3x16xi8>, %w: tensor<24x16xi8>) -> tensor<3x24xi32> {
  %y = graph.dense %x, %w : (tensor<3x16xi8>, tensor<24x16xi8>) -> tensor<3x24xi32>
  func.return %y : tensor<3x24xi32>
}

// CHECK-LABEL: func.func @part_of_a_tile
// CHECK-NOT:     graph.fused
func.func @part_of_a_tile(%x: tensor<3x16xi8>, %w: tensor<23x16xi8>) -> tensor<3x23xi32> {
  %y = graph.dense %x, %w : (tensor<3x16xi8>, tensor<23x16xi8>) -> tensor<3x23xi32>
  func.return %y : tensor<3x23xi32>
}
