// Tiles: matrices of 16 rows of 64 bytes, of which Intel's servers multiply two with one instruction.
//
// Buffers of scope "amx" are registers for tiles of sums: when code is emitted their subscripts are constants, and
// different ones are different registers.

// All sums of a tile are zero.
te.intrinsic @amx.tile_zero() -> tensor<16x16xf32> attributes {
  buffers = [memref<16x16xf32, strided<[?, 1]>, "amx">]
} {
  %y = te.compute "zero" [m: 16, n: 16] : tensor<16x16xf32> {
    %zero = arith.constant 0.0 : f32
    te.yield %zero : f32
  }
  te.return %y : tensor<16x16xf32>
}

// The products of two tiles of bfloat16 are added to a tile of sums. Row m of the first factor holds the numbers k, row
// i of the second for each column n the pair of numbers k that are 2 * i and 2 * i + 1: to element (m, n) come the
// products of all 32 numbers. Processors take numbers that are too small for a full mantissa for zeros.
te.intrinsic @amx.tile_mulf(%a: tensor<16x32xbf16>, %b: tensor<16x32xbf16>) -> tensor<16x16xf32> attributes {
  accumulates,
  reset = @amx.tile_zero,
  buffers = [
    memref<16x32xbf16, strided<[?, 1]>>, memref<16x32xbf16, strided<[?, 1]>>, memref<16x16xf32, strided<[?, 1]>, "amx">
  ]
} {
  %y = te.compute "sum" [m: 16, n: 16] reduce [k: 16, h: 2] : tensor<16x16xf32> {
    %x = te.read %a[m, 2*k + h] : tensor<16x32xbf16>
    %w = te.read %b[k, 2*n + h] : tensor<16x32xbf16>
    %xf = arith.extf %x : bf16 to f32
    %wf = arith.extf %w : bf16 to f32
    %p = arith.mulf %xf, %wf : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<16x16xf32>
}

// A tile of sums is written to memory.
te.intrinsic @amx.tile_store(%tile: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {
  buffers = [memref<16x16xf32, strided<[?, 1]>, "amx">, memref<16x16xf32, strided<[?, 1]>>]
} {
  %y = te.compute "stored" [m: 16, n: 16] : tensor<16x16xf32> {
    %sum = te.read %tile[m, n] : tensor<16x16xf32>
    te.yield %sum : f32
  }
  te.return %y : tensor<16x16xf32>
}
