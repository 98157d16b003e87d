te.kernel @shift(%x: tensor<8xf32>, %n: tensor<8xi64>) -> tensor<8xf32> {
  %y = te.compute "shift" [i: 8] : tensor<8xf32> {
    %d = te.read %n[i] : tensor<8xi64>
    %j = arith.index_cast %d : i64 to index
    %a = te.read %x[9 * %j] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %y : tensor<8xf32>
}
