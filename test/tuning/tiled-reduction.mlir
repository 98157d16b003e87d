// RUN: tilework tune %s --sketches --target 'llvm -mcpu=znver4' | filecheck %s

// A reduction that is an output is computed in register tiles of its own copy. Tiles, vectors and blocks are knobs.
// CHECK-LABEL: // C in tiles, lanes along j, order j i
// CHECK-NEXT:  schedule.sequence @matmul {
// CHECK:         schedule.cache_write %C "local" [i, j, k]
// CHECK:         schedule.split %i factor #schedule.knob<"C.i.tile", [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16], 1> tail partition
// CHECK:         schedule.split %j factor #schedule.knob<"C.j.lanes", [16, 32, 48, 64], 16> tail shift
// CHECK:         schedule.set_scope %cache "register"

// What moves with the lanes alone may be copied, so that lanes are neighbours.
// CHECK-LABEL: // C in tiles, lanes along j, order j i, argument 1 packed
// CHECK:         schedule.cache_read %arg1 "local" readers(%cache) [p0, p1]

// The loops over blocks may be in the other order.
// CHECK-LABEL: // C in tiles, lanes along j, order i j
te.kernel @matmul(%A: tensor<64x32xf32>, %B: tensor<32x100xf32>) -> tensor<64x100xf32> {
  %C = te.compute "C" [i: 64, j: 100] reduce [k: 32] : tensor<64x100xf32> {
    %0 = te.read %A[i, k] : tensor<64x32xf32>
    %1 = te.read %B[k, j] : tensor<32x100xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %C : tensor<64x100xf32>
}

// An element-wise consumer takes the place of the copy: the reduction is computed in its tiles.
// CHECK-LABEL: // C in tiles, lanes along j, order j i
// CHECK-NEXT:  schedule.sequence @fused {
// CHECK-NOT:     schedule.cache_write
// CHECK:         schedule.stage "C"
// CHECK:         schedule.compute_at %C
te.kernel @fused(%A: tensor<64x32xf32>, %B: tensor<32x100xf32>) -> tensor<64x100xf32> {
  %C = te.compute "C" [i: 64, j: 100] reduce [k: 32] : tensor<64x100xf32> {
    %0 = te.read %A[i, k] : tensor<64x32xf32>
    %1 = te.read %B[k, j] : tensor<32x100xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  %R = te.compute "R" [i: 64, j: 100] : tensor<64x100xf32> {
    %0 = te.read %C[i, j] : tensor<64x100xf32>
    %1 = math.absf %0 : f32
    te.yield %1 : f32
  }
  te.return %R : tensor<64x100xf32>
}
