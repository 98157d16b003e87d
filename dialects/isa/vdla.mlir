// Products of tiles on VDLA, as the machine multiplies them that the paper describes: a row of 16 bytes by a tile of 16
// rows of 16 bytes. Buffers of the scopes "vdla.inp", "vdla.wgt" and "vdla.acc" are memories of the chip.

// All sums of a tile are zero.
te.intrinsic @vdla.reset() -> tensor<16xi32> attributes {buffers = [memref<16xi32, "vdla.acc">]} {
  %y = te.compute "zero" [n: 16] : tensor<16xi32> {
    %zero = arith.constant 0 : i32
    te.yield %zero : i32
  }
  te.return %y : tensor<16xi32>
}

// A row of bytes is multiplied by the transpose of a tile, and added to a tile of sums.
te.intrinsic @vdla.gemm(%inp: tensor<16xi8>, %wgt: tensor<16x16xi8>) -> tensor<16xi32> attributes {
  accumulates,
  reset = @vdla.reset,
  buffers = [memref<16xi8, "vdla.inp">, memref<16x16xi8, strided<[16, 1]>, "vdla.wgt">, memref<16xi32, "vdla.acc">]
} {
  %y = te.compute "sum" [n: 16] reduce [k: 16] : tensor<16xi32> {
    %x = te.read %inp[k] : tensor<16xi8>
    %w = te.read %wgt[n, k] : tensor<16x16xi8>
    %xi = arith.extsi %x : i8 to i32
    %wi = arith.extsi %w : i8 to i32
    %p = arith.muli %xi, %wi : i32
    te.reduce add %p : i32
  }
  te.return %y : tensor<16xi32>
}
