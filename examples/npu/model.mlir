func.func @main(%x: tensor<3x16xi8>, %w: tensor<24x16xi8>) -> tensor<3x24xi32> {
  %0 = graph.dense %x, %w : (tensor<3x16xi8>, tensor<24x16xi8>) -> tensor<3x24xi32>
  %y = graph.relu %0 : (tensor<3x24xi32>) -> tensor<3x24xi32>
  func.return %y : tensor<3x24xi32>
}
