// RUN: opt-tool %s --target='llvm -mcpu=skylake-avx512 -num-cores=2 -cache-sizes=32768,1048576,33554432' -p te-to-schedule | filecheck %s

// Axes are cut into pieces for cores and for the second cache. All kernels here run along blocks of outputs outermost.

// More rows than weights: each core takes half of the rows, and reads all weights.

// CHECK-LABEL: schedule.sequence @rows
// CHECK:         [[HALF:%[a-z_0-9]+]], %{{.*}} = schedule.split %{{.*}} factor 1568
// CHECK:         schedule.reorder %{{[a-z_0-9]+}}, [[HALF]],
// CHECK:         schedule.fuse [[HALF]],
te.kernel @rows(%x: tensor<3136x64xf32>, %w: tensor<8x64x16xf32>) -> tensor<8x3136x16xf32> {
  %y = te.compute "y" [o: 8, i: 3136, l: 16] reduce [k: 64] : tensor<8x3136x16xf32> {
    %a = te.read %x[i, k] : tensor<3136x64xf32>
    %b = te.read %w[o, k, l] : tensor<8x64x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<8x3136x16xf32>
}

// More weights than rows: each core takes half of the outputs, which the outermost loop gives it as it is.

// CHECK-LABEL: schedule.sequence @weights
// CHECK-NOT:     factor 98
// CHECK-LABEL: schedule.sequence @odd
te.kernel @weights(%x: tensor<196x512xf32>, %w: tensor<32x512x16xf32>) -> tensor<32x196x16xf32> {
  %y = te.compute "y" [o: 32, i: 196, l: 16] reduce [k: 512] : tensor<32x196x16xf32> {
    %a = te.read %x[i, k] : tensor<196x512xf32>
    %b = te.read %w[o, k, l] : tensor<32x512x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<32x196x16xf32>
}

// Rows that do not make equal halves stay together.

// CHECK-NOT:     factor 15
te.kernel @odd(%x: tensor<3135x64xf32>, %w: tensor<8x64x16xf32>) -> tensor<8x3135x16xf32> {
  %y = te.compute "y" [o: 8, i: 3135, l: 16] reduce [k: 64] : tensor<8x3135x16xf32> {
    %a = te.read %x[i, k] : tensor<3135x64xf32>
    %b = te.read %w[o, k, l] : tensor<8x64x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<8x3135x16xf32>
}

// Rows that are read for every block of outputs, 4 MB of them, come in eight pieces: four for each core, of which one
// fills half of the second cache.

// CHECK-LABEL: schedule.sequence @large
// CHECK:         [[PIECE:%[a-z_0-9]+]], %{{.*}} = schedule.split %{{.*}} factor 128
// CHECK:         schedule.reorder %{{[a-z_0-9]+}}, [[PIECE]],
te.kernel @large(%x: tensor<1024x1024xf32>, %w: tensor<64x1024x16xf32>) -> tensor<64x1024x16xf32> {
  %y = te.compute "y" [o: 64, i: 1024, l: 16] reduce [k: 1024] : tensor<64x1024x16xf32> {
    %a = te.read %x[i, k] : tensor<1024x1024xf32>
    %b = te.read %w[o, k, l] : tensor<64x1024x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<64x1024x16xf32>
}

// A core's piece of an axis must be a stream of results: rows of 64 bytes are not worth it.

// CHECK-LABEL: schedule.sequence @short
// CHECK-NOT:     factor 32
te.kernel @short(%x: tensor<64x64xf32>, %w: tensor<2x64x16xf32>) -> tensor<2x64x16xf32> {
  %y = te.compute "y" [o: 2, i: 64, l: 16] reduce [k: 64] : tensor<2x64x16xf32> {
    %a = te.read %x[i, k] : tensor<64x64xf32>
    %b = te.read %w[o, k, l] : tensor<2x64x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<2x64x16xf32>
}

// Weights of 2.4 MB come from memory once: blocks of outputs are the outermost loop, which cores share as it is, although
// a core's half of a row of results is short.

// CHECK-LABEL: schedule.sequence @from_memory
// CHECK-NOT:     factor 64
// CHECK:         schedule.reorder [[BLOCK:%[a-z_0-9]+]],
// CHECK-NEXT:    schedule.parallel [[BLOCK]]
te.kernel @from_memory(%x: tensor<128x768xf32>, %w: tensor<16x768x48xf32>) -> tensor<128x768xf32> {
  %y = te.compute "y" [i: 128, j: 768] reduce [k: 768] : tensor<128x768xf32> {
    %a = te.read %x[i, k] : tensor<128x768xf32>
    %b = te.read %w[j floordiv 48, k, j mod 48] : tensor<16x768x48xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<128x768xf32>
}

// The last of the blocks of outputs is shorter. The loop over them is fused with no other: which iteration is the last is
// seen by its index alone. So it runs inside those that cores share.

// CHECK-LABEL: schedule.sequence @ragged
// CHECK:         [[ROWS:%[a-z_0-9]+]], %{{.*}} = schedule.split %{{.*}} factor 8
// CHECK-NEXT:    [[BLOCK:%[a-z_0-9]+]], %{{.*}} = schedule.split %{{.*}} factor 16 tail partition
// CHECK-NEXT:    schedule.reorder [[ROWS]], [[BLOCK]],
// CHECK-NEXT:    schedule.parallel [[ROWS]]
te.kernel @ragged(%x: tensor<16x16x64xf32>, %w: tensor<4x64x32xf32>) -> tensor<16x16x104xf32> {
  %y = te.compute "y" [n: 16, i: 16, j: 104] reduce [k: 64] : tensor<16x16x104xf32> {
    %a = te.read %x[n, i, k] : tensor<16x16x64xf32>
    %b = te.read %w[j floordiv 32, k, j mod 32] : tensor<4x64x32xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<16x16x104xf32>
}

// Windows that move by two rows: what the five rows of a tile's two positions hold is computed at a time, where more
// would be too many.
// CHECK-LABEL: schedule.sequence @one_tile
// CHECK:       [[ROW:%[a-z_0-9]+]], %{{.*}} = schedule.split %{{.*}} factor 2{{$}}
// CHECK:       [[EXP:%exp[_0-9]*]], {{.*}} = schedule.stage "exp"
// CHECK:       schedule.compute_at [[EXP]], [[ROW]]
te.kernel @one_tile(%x: tensor<4x66x73x16xf32>, %w: tensor<4x3x27x16xf32>) -> tensor<4x32x24x16xf32> {
  %exp = te.compute "exp" [c: 4, y: 66, x: 73, l: 16] : tensor<4x66x73x16xf32> {
    %v = te.read %x[c, y, x, l] : tensor<4x66x73x16xf32>
    %e = math.exp %v : f32
    te.yield %e : f32
  }
  %sum = te.compute "sum" [c: 4, y: 32, x: 24, l: 16] reduce [r: 3, s: 27] : tensor<4x32x24x16xf32> {
    %a = te.read %exp[c, 2 * y + r, 2 * x + s, l] : tensor<4x66x73x16xf32>
    %b = te.read %w[c, r, s, l] : tensor<4x3x27x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %sum : tensor<4x32x24x16xf32>
}

// Rows that are long lie far apart: what many tiles read of them is copied first, and they follow each other.
// CHECK-LABEL: schedule.sequence @far_apart
// CHECK:         [[PLACE:%[a-z_0-9]+]], %{{.*}} = schedule.split %j_{{[0-9]+}} factor 32
// CHECK:         schedule.reorder [[PLACE]], %i_o
// CHECK-NEXT:    schedule.parallel [[PLACE]]
// CHECK:         [[COPY:%[a-z_0-9]+]], {{.*}} [[LANES:%[a-z_0-9]+]] = schedule.cache_read %arg1{{.*}} "local"
// CHECK-NEXT:    schedule.compute_at [[COPY]], [[PLACE]]
// CHECK-NEXT:    schedule.vectorize [[LANES]]
te.kernel @far_apart(%x: tensor<128x256xf32>, %w: tensor<256x1024xf32>) -> tensor<128x1024xf32> {
  %y = te.compute "y" [i: 128, j: 1024] reduce [k: 256] : tensor<128x1024xf32> {
    %a = te.read %x[i, k] : tensor<128x256xf32>
    %b = te.read %w[k, j] : tensor<256x1024xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<128x1024xf32>
}

// In each matrix of several; the loop over them is outside.
// CHECK-LABEL: schedule.sequence @matrices
// CHECK:         schedule.cache_read
te.kernel @matrices(%x: tensor<3x128x256xf32>, %w: tensor<3x256x1024xf32>) -> tensor<3x128x1024xf32> {
  %y = te.compute "y" [b: 3, i: 128, j: 1024] reduce [k: 256] : tensor<3x128x1024xf32> {
    %a = te.read %x[b, i, k] : tensor<3x128x256xf32>
    %b = te.read %w[b, k, j] : tensor<3x256x1024xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<3x128x1024xf32>
}

// Cores share pieces of both axes: the loop over places is the innermost of those that are fused.
// CHECK-LABEL: schedule.sequence @fused_places
// CHECK:         [[FUSED:%[a-z_0-9]+]] = schedule.fuse %j_o{{[_0-9]*}}, %i_o{{[_0-9]*}}, %j_i_o
// CHECK:         [[COPY:%[a-z_0-9]+]], {{.*}} = schedule.cache_read %arg1{{.*}} "local"
// CHECK-NEXT:    schedule.compute_at [[COPY]], [[FUSED]]
te.kernel @fused_places(%x: tensor<1024x350xf32>, %w: tensor<350x1024xf32>) -> tensor<1024x1024xf32> {
  %y = te.compute "y" [i: 1024, j: 1024] reduce [k: 350] : tensor<1024x1024xf32> {
    %a = te.read %x[i, k] : tensor<1024x350xf32>
    %b = te.read %w[k, j] : tensor<350x1024xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<1024x1024xf32>
}

// Not where rows are near, few tiles read them, or the copy would be large.
// CHECK-LABEL: schedule.sequence @near
// CHECK-NOT:     schedule.cache_read
te.kernel @near(%x: tensor<128x256xf32>, %w: tensor<256x128xf32>) -> tensor<128x128xf32> {
  %y = te.compute "y" [i: 128, j: 128] reduce [k: 256] : tensor<128x128xf32> {
    %a = te.read %x[i, k] : tensor<128x256xf32>
    %b = te.read %w[k, j] : tensor<256x128xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<128x128xf32>
}

// CHECK-LABEL: schedule.sequence @few
// CHECK-NOT:     schedule.cache_read
te.kernel @few(%x: tensor<16x256xf32>, %w: tensor<256x1024xf32>) -> tensor<16x1024xf32> {
  %y = te.compute "y" [i: 16, j: 1024] reduce [k: 256] : tensor<16x1024xf32> {
    %a = te.read %x[i, k] : tensor<16x256xf32>
    %b = te.read %w[k, j] : tensor<256x1024xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<16x1024xf32>
}

// CHECK-LABEL: schedule.sequence @too_large
// CHECK-NOT:     schedule.cache_read
te.kernel @too_large(%x: tensor<2048x8192xf32>, %w: tensor<8192x1024xf32>) -> tensor<2048x1024xf32> {
  %y = te.compute "y" [i: 2048, j: 1024] reduce [k: 8192] : tensor<2048x1024xf32> {
    %a = te.read %x[i, k] : tensor<2048x8192xf32>
    %b = te.read %w[k, j] : tensor<8192x1024xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<2048x1024xf32>
}

// CHECK-LABEL: te.kernel @end
te.kernel @end(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = te.compute "y" [i: 2, j: 2] reduce [k: 2] : tensor<2x2xf32> {
    %a = te.read %x[i, k] : tensor<2x2xf32>
    %b = te.read %w[k, j] : tensor<2x2xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<2x2xf32>
}
