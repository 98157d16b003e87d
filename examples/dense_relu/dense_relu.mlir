// relu(x . w^T): 4 rows of 64 numbers by 32 rows of weights.
func.func @main(%x: tensor<6x64xf32>) -> tensor<6x32xf32> {
  %w = graph.parameter @w : tensor<32x64xf32>
  %0 = graph.dense %x, %w : (tensor<6x64xf32>, tensor<32x64xf32>) -> tensor<6x32xf32>
  %y = graph.relu %0 : (tensor<6x32xf32>) -> tensor<6x32xf32>
  func.return %y : tensor<6x32xf32>
}
