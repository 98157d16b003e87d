te.kernel @k(%x: tensor<4611686018427387904xf32>) -> tensor<4611686018427387904xf32> {
  %y = te.compute "y" [i: 4611686018427387904] : tensor<4611686018427387904xf32> {
    %v = te.read %x[i] : tensor<4611686018427387904xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4611686018427387904xf32>
}
