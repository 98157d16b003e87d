// RUN: tilework tune %s --sketches --target 'llvm -mcpu=znver4' | filecheck %s

// Padding may be inlined, or computed in the loops of what reads it, or before.
// CHECK: // P inlined; Y in tiles, lanes along x, order x y
// CHECK: // Y in tiles, lanes along x, order x y; P in blocks of y at Y.block
// CHECK: // Y in tiles, lanes along x, order x y; P in blocks of y at Y.tile
// CHECK: // Y in tiles, lanes along x, order x y; P in blocks of y{{$}}
te.kernel @padded(%X: tensor<30x30xf32>, %W: tensor<3x3xf32>) -> tensor<30x30xf32> {
  %P = te.compute "P" [y: 32, x: 32] : tensor<32x32xf32> {
    %0 = te.if_then_else [y - 1 >= 0, 30 - y >= 0, x - 1 >= 0, 30 - x >= 0] : f32 {
      %1 = te.read %X[y - 1, x - 1] : tensor<30x30xf32>
      te.yield %1 : f32
    } else {
      %2 = arith.constant 0.0 : f32
      te.yield %2 : f32
    }
    te.yield %0 : f32
  }
  %Y = te.compute "Y" [y: 30, x: 30] reduce [ry: 3, rx: 3] : tensor<30x30xf32> {
    %0 = te.read %P[y + ry, x + rx] : tensor<32x32xf32>
    %1 = te.read %W[ry, rx] : tensor<3x3xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %Y : tensor<30x30xf32>
}
