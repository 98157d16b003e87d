// RUN: opt-tool %s --target='cuda -arch=sm_80' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='cuda -arch=sm_80' -p compile-gpu-kernel | filecheck %s --check-prefix=LOOP
// RUN: opt-tool %s --target=opencl -p compile-gpu-kernel --check-semantics -o /dev/null

// A product of sizes that nothing divides. Threads fetch tiles of both factors together, of the left one in another
// order than it has in memory, so that its rows are longer by a few elements; what is behind the ends is zero, and only
// where results are stored is asked whether they are there.

// CHECK-LABEL: schedule.sequence @matmul
// CHECK:         %[[SUMS:.*]], %[[I:.*]], %[[J:.*]], %[[K:.*]] = schedule.cache_write %{{.*}} "register" [i, j, k]
// CHECK:         %[[A:.*]], %[[AK:.*]], %[[AI:.*]] = schedule.reindex %{{.*}} "shared" reader(%[[SUMS]]) [k, i]
// CHECK:         %[[B:.*]], %[[BK:.*]], %[[BJ:.*]] = schedule.reindex %{{.*}} "shared" reader(%[[SUMS]]) [k, j]
// CHECK:         schedule.bind %{{.*}} "threadIdx.x"
// CHECK:         schedule.compute_at %[[SUMS]]
// CHECK-NEXT:    %[[STEP:.*]], %{{.*}} = schedule.split %[[K]]
// CHECK:         schedule.split %[[I]] factor {{.*}} tail pad
// CHECK:         schedule.compute_at %[[A]], %[[STEP]]
// CHECK-NEXT:    schedule.storage_align %[[AK]]
// CHECK:         schedule.double_buffer %[[A]]
// CHECK-NEXT:    schedule.compute_at %[[B]], %[[STEP]]
// CHECK-NOT:     schedule.storage_align
// CHECK:         schedule.double_buffer %[[B]]

// LOOP-LABEL:  loop.kernel @matmul_0
// LOOP:          memref.alloca() : memref<{{.*}}, "shared">
// LOOP:          memref.alloca() : memref<{{.*}}, "shared">
// LOOP:          loop.for %{{.*}} "k.outer" {
// LOOP:            loop.barrier
// LOOP:            loop.load %{{.*}}_next[
// LOOP:            loop.if [{{.*}}k_outer
// LOOP:            loop.barrier
// LOOP-NEXT:       loop.for %{{.*}} "k.inner" {
// LOOP-NOT:          loop.if
// LOOP:              math.fma
// LOOP:          loop.if
// LOOP:          loop.store
te.kernel @matmul(%A: tensor<37x46xf32>, %B: tensor<46x41xf32>) -> tensor<37x41xf32> {
  %C = te.compute "C" [i: 37, j: 41] reduce [k: 46] : tensor<37x41xf32> {
    %0 = te.read %A[i, k] : tensor<37x46xf32>
    %1 = te.read %B[k, j] : tensor<46x41xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %C : tensor<37x41xf32>
}

// A convolution is a product of filters and positions, over channels and taps. What pads is computed where the image is
// fetched, bias and relu where results are stored.

// CHECK-LABEL: schedule.sequence @conv_relu
// CHECK:         schedule.compute_inline %pad
// CHECK:         schedule.compute_inline %bias
// CHECK:         schedule.cache_write %conv{{\w*}} "register" [o, n.y.x, c, r, s]
// CHECK-NEXT:    schedule.compute_inline %conv{{\w*}}
// CHECK:         schedule.reindex %{{.*}} "local" reader(%{{.*}}) [c, r, s, o]
// CHECK:         schedule.cache_write %{{.*}} "shared" [c.r.s, o]
// CHECK:         %[[PAD:\w+]], {{.*}} = schedule.stage "pad"
// CHECK-NEXT:    schedule.reindex %[[PAD]] "local" reader(%{{.*}}) [c, r, s, n.y.x]
// CHECK:         schedule.cache_write %{{.*}} "shared" [c.r.s, n.y.x]
// CHECK:         schedule.stage "relu"
te.kernel @conv_relu(%x: tensor<2x3x9x7xf32>, %w: tensor<5x3x3x3xf32>, %b: tensor<5xf32>) -> tensor<2x5x5x4xf32> {
  %pad = te.compute "pad" [n: 2, c: 3, y: 11, x: 9] : tensor<2x3x11x9xf32> {
    %v = te.if_then_else [y - 1 >= 0, 9 - y >= 0, x - 1 >= 0, 7 - x >= 0] : f32 {
      %e = te.read %x[n, c, y - 1, x - 1] : tensor<2x3x9x7xf32>
      te.yield %e : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  %conv = te.compute "conv" [n: 2, o: 5, y: 5, x: 4] reduce [c: 3, r: 3, s: 3] : tensor<2x5x5x4xf32> {
    %a = te.read %pad[n, c, 2 * y + r, 2 * x + s] : tensor<2x3x11x9xf32>
    %f = te.read %w[o, c, r, s] : tensor<5x3x3x3xf32>
    %p = arith.mulf %a, %f : f32
    te.reduce add %p : f32
  }
  %bias = te.compute "bias" [n: 2, o: 5, y: 5, x: 4] : tensor<2x5x5x4xf32> {
    %a = te.read %conv[n, o, y, x] : tensor<2x5x5x4xf32>
    %f = te.read %b[o] : tensor<5xf32>
    %p = arith.addf %a, %f : f32
    te.yield %p : f32
  }
  %relu = te.compute "relu" [n: 2, o: 5, y: 5, x: 4] : tensor<2x5x5x4xf32> {
    %a = te.read %bias[n, o, y, x] : tensor<2x5x5x4xf32>
    %z = arith.constant 0.0 : f32
    %p = arith.maximumf %a, %z : f32
    te.yield %p : f32
  }
  te.return %relu : tensor<2x5x5x4xf32>
}

// Groups of channels are a batch of products, one for each block along z; so are heads.

// CHECK-LABEL: schedule.sequence @groups
// CHECK:         schedule.split %o{{\w*}} factor 4
// CHECK:         schedule.cache_write %conv{{\w*}} "register" [o.outer, o.inner, x, c, s]
// CHECK:         schedule.reindex %{{.*}} "local" reader(%{{.*}}) [o.outer, c, s, o.inner]
// CHECK:         schedule.reindex %{{.*}} "local" reader(%{{.*}}) [o.outer, c, s, x]
// CHECK:         %[[Z:\w+]], %{{.*}} = schedule.split %{{.*}} factor 4
// CHECK:         schedule.bind %[[Z]] "blockIdx.z"
te.kernel @groups(%x: tensor<6x12xf32>, %w: tensor<12x2x3xf32>) -> tensor<12x10xf32> {
  %conv = te.compute "conv" [o: 12, x: 10] reduce [c: 2, s: 3] : tensor<12x10xf32> {
    %a = te.read %x[2 * (o floordiv 4) + c, x + s] : tensor<6x12xf32>
    %f = te.read %w[o, c, s] : tensor<12x2x3xf32>
    %p = arith.mulf %a, %f : f32
    te.reduce add %p : f32
  }
  te.return %conv : tensor<12x10xf32>
}

// Three rows use what a block fetches too seldom; sums of squares, and of three factors, are no products.

// CHECK-LABEL: schedule.sequence @few_rows
// CHECK-NOT:     schedule.reindex
// CHECK-LABEL: schedule.sequence @squares
// CHECK-NOT:     schedule.reindex
// CHECK-LABEL: schedule.sequence @three
// CHECK-NOT:     schedule.reindex
te.kernel @few_rows(%A: tensor<3x8xf32>, %B: tensor<8x16xf32>) -> tensor<3x16xf32> {
  %C = te.compute "C" [i: 3, j: 16] reduce [k: 8] : tensor<3x16xf32> {
    %0 = te.read %A[i, k] : tensor<3x8xf32>
    %1 = te.read %B[k, j] : tensor<8x16xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %C : tensor<3x16xf32>
}
te.kernel @squares(%A: tensor<8x8xf32>) -> tensor<8xf32> {
  %C = te.compute "C" [i: 8] reduce [k: 8] : tensor<8xf32> {
    %0 = te.read %A[i, k] : tensor<8x8xf32>
    %2 = arith.mulf %0, %0 : f32
    te.reduce add %2 : f32
  }
  te.return %C : tensor<8xf32>
}
te.kernel @three(%A: tensor<8x8xf32>, %B: tensor<8x8xf32>, %D: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %C = te.compute "C" [i: 8, j: 8] reduce [k: 8] : tensor<8x8xf32> {
    %0 = te.read %A[i, k] : tensor<8x8xf32>
    %1 = te.read %B[k, j] : tensor<8x8xf32>
    %3 = te.read %D[j, k] : tensor<8x8xf32>
    %2 = arith.mulf %0, %1 : f32
    %4 = arith.mulf %2, %3 : f32
    te.reduce add %4 : f32
  }
  te.return %C : tensor<8x8xf32>
}

// No terms, and a size that is known at run time only.

// CHECK-LABEL: schedule.sequence @no_terms
// CHECK-NOT:     schedule.reindex
// CHECK-LABEL: schedule.sequence @open
// CHECK-NOT:     schedule.reindex
te.kernel @no_terms(%A: tensor<8x0xf32>, %B: tensor<0x8xf32>) -> tensor<8x8xf32> {
  %C = te.compute "C" [i: 8, j: 8] reduce [k: 0] : tensor<8x8xf32> {
    %0 = te.read %A[i, k] : tensor<8x0xf32>
    %1 = te.read %B[k, j] : tensor<0x8xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %C : tensor<8x8xf32>
}
te.kernel @open(%A: tensor<?x8xf32, #graph.dims<[N, 8]>>, %B: tensor<8x8xf32>) -> tensor<?x8xf32, #graph.dims<[N, 8]>> {
  %C = te.compute "C" [i: N, j: 8] reduce [k: 8] : tensor<?x8xf32, #graph.dims<[N, 8]>> {
    %0 = te.read %A[i, k] : tensor<?x8xf32, #graph.dims<[N, 8]>>
    %1 = te.read %B[k, j] : tensor<8x8xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %C : tensor<?x8xf32, #graph.dims<[N, 8]>>
}
