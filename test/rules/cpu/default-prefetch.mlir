// RUN: opt-tool %s --target='llvm -mcpu=skylake-avx512 -cache-sizes=32768,262144,8388608' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=skylake-avx512 -cache-sizes=32768,4194304,8388608' -p te-to-schedule | filecheck %s --check-prefix=LARGE

// Of an image that is larger than the second cache, what the next tile reads is asked for while one is computed.
// CHECK-LABEL: schedule.sequence @image
// CHECK:       schedule.compute_at %{{.*}}, %[[TILES:.*]]
// CHECK:       %[[X:.*]] = schedule.argument 0
// CHECK-NEXT:  schedule.prefetch %[[X]], %[[TILES]] offset 1 spread
// LARGE-LABEL: schedule.sequence @image
// LARGE-NOT:   schedule.argument 0
// LARGE-LABEL: te.kernel @windows
te.kernel @image(%x: tensor<1x16x28x28x16xf32>, %w: tensor<2x256x32xf32>) -> tensor<1x64x28x28xf32> {
  %conv = te.compute "conv" [n: 1, o: 64, y: 28, x: 28] reduce [c: 256] : tensor<1x64x28x28xf32> {
    %0 = te.read %x[n, c floordiv 16, y, x, c mod 16] : tensor<1x16x28x28x16xf32>
    %1 = te.read %w[o floordiv 32, c, o mod 32] : tensor<2x256x32xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %conv : tensor<1x64x28x28xf32>
}

// Windows overlap, and rows of matrices stream: nothing is asked for.
// CHECK-LABEL: schedule.sequence @windows
// CHECK-NOT:   schedule.argument 0
// CHECK-LABEL: schedule.sequence @matrix
// CHECK-NOT:   schedule.argument 0
te.kernel @windows(%x: tensor<1x16x28x28x16xf32>, %w: tensor<2x3x256x32xf32>) -> tensor<1x64x28x26xf32> {
  %conv = te.compute "conv" [n: 1, o: 64, y: 28, x: 26] reduce [c: 256, r: 3] : tensor<1x64x28x26xf32> {
    %0 = te.read %x[n, c floordiv 16, y, x + r, c mod 16] : tensor<1x16x28x28x16xf32>
    %1 = te.read %w[o floordiv 32, r, c, o mod 32] : tensor<2x3x256x32xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %conv : tensor<1x64x28x26xf32>
}
te.kernel @matrix(%x: tensor<784x256xf32>, %w: tensor<2x256x32xf32>) -> tensor<784x64xf32> {
  %dense = te.compute "dense" [i: 784, o: 64] reduce [c: 256] : tensor<784x64xf32> {
    %0 = te.read %x[i, c] : tensor<784x256xf32>
    %1 = te.read %w[o floordiv 32, c, o mod 32] : tensor<2x256x32xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %dense : tensor<784x64xf32>
}

// Weights of a single row that come from memory, in two streams: what either reads some steps later is asked for.
// CHECK-LABEL: schedule.sequence @streams
// CHECK:       %[[W:.*]] = schedule.argument 1
// CHECK-NEXT:  schedule.prefetch %[[W]], %k{{.*}} offset 16
te.kernel @streams(%x: tensor<1x1024xf32>, %w: tensor<16x1024x64xf32>) -> tensor<1x1024xf32> {
  %dense = te.compute "dense" [i: 1, o: 1024] reduce [k: 1024] : tensor<1x1024xf32> {
    %0 = te.read %x[i, k] : tensor<1x1024xf32>
    %1 = te.read %w[o floordiv 64, k, o mod 64] : tensor<16x1024x64xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %dense : tensor<1x1024xf32>
}
