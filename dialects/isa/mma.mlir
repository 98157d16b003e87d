// Products of small matrices by the 32 threads of a warp together, as NVIDIA's devices from sm_80 on have them.
//
// Buffers of scope "mma" are registers for sums, a tile of which is spread over the threads: when code is emitted their
// subscripts are constants. Rows of factors are in shared memory, each from a multiple of 16 bytes on.

// All sums of a tile are zero.
te.intrinsic @mma.zero() -> tensor<16x16xf32> attributes {
  warp,
  buffers = [memref<16x16xf32, strided<[?, 1]>, "mma">]
} {
  %y = te.compute "zero" [m: 16, n: 16] : tensor<16x16xf32> {
    %zero = arith.constant 0.0 : f32
    te.yield %zero : f32
  }
  te.return %y : tensor<16x16xf32>
}

// The product of two tiles of half precision is added to a tile of sums. Devices do not say in which order, nor how sums
// between are rounded.
te.intrinsic @mma.f16(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>) -> tensor<16x16xf32> attributes {
  warp,
  accumulates,
  reset = @mma.zero,
  buffers = [
    memref<16x16xf16, strided<[?, 1]>, "shared">, memref<16x16xf16, strided<[?, 1]>, "shared">,
    memref<16x16xf32, strided<[?, 1]>, "mma">
  ]
} {
  %y = te.compute "sum" [m: 16, n: 16] reduce [k: 16] : tensor<16x16xf32> {
    %x = te.read %a[m, k] : tensor<16x16xf16>
    %w = te.read %b[k, n] : tensor<16x16xf16>
    %xf = arith.extf %x : f16 to f32
    %wf = arith.extf %w : f16 to f32
    %p = arith.mulf %xf, %wf : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<16x16xf32>
}

// The same of bfloat16.
te.intrinsic @mma.bf16(%a: tensor<16x16xbf16>, %b: tensor<16x16xbf16>) -> tensor<16x16xf32> attributes {
  warp,
  accumulates,
  reset = @mma.zero,
  buffers = [
    memref<16x16xbf16, strided<[?, 1]>, "shared">, memref<16x16xbf16, strided<[?, 1]>, "shared">,
    memref<16x16xf32, strided<[?, 1]>, "mma">
  ]
} {
  %y = te.compute "sum" [m: 16, n: 16] reduce [k: 16] : tensor<16x16xf32> {
    %x = te.read %a[m, k] : tensor<16x16xbf16>
    %w = te.read %b[k, n] : tensor<16x16xbf16>
    %xf = arith.extf %x : bf16 to f32
    %wf = arith.extf %w : bf16 to f32
    %p = arith.mulf %xf, %wf : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<16x16xf32>
}

// A tile of sums is written to shared memory.
te.intrinsic @mma.store(%tile: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {
  warp,
  buffers = [memref<16x16xf32, strided<[?, 1]>, "mma">, memref<16x16xf32, strided<[?, 1]>, "shared">]
} {
  %y = te.compute "stored" [m: 16, n: 16] : tensor<16x16xf32> {
    %sum = te.read %tile[m, n] : tensor<16x16xf32>
    te.yield %sum : f32
  }
  te.return %y : tensor<16x16xf32>
}
