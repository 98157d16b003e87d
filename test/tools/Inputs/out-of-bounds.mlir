te.kernel @shift(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "shift" [i: 8] : tensor<8xf32> {
    %a = te.read %x[i + 1] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %y : tensor<8xf32>
}
