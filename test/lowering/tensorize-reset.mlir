// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop | filecheck %s
// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop,loop-simplify,loop-flatten-storage,loop-tensorize | filecheck %s --check-prefix=LOOPS
// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop,loop-simplify,loop-flatten-storage,loop-tensorize --check-semantics -o /dev/null

// A scope and intrinsics of the program's own: of a reduction, the nest that stores the identity is the one that the
// declaration names.
te.intrinsic @my.clear() -> tensor<4x8xf32> attributes {buffers = [memref<4x8xf32, strided<[8, 1]>, "sums">]} {
  %y = te.compute "zero" [i: 4, j: 8] : tensor<4x8xf32> {
    %zero = arith.constant 0.0 : f32
    te.yield %zero : f32
  }
  te.return %y : tensor<4x8xf32>
}
te.intrinsic @my.gemm(%a: tensor<4x2xf32>, %b: tensor<8x2xf32>) -> tensor<4x8xf32> attributes {
  accumulates, reset = @my.clear,
  buffers = [memref<4x2xf32>, memref<8x2xf32>, memref<4x8xf32, strided<[8, 1]>, "sums">]
} {
  %y = te.compute "sum" [i: 4, j: 8] reduce [k: 2] : tensor<4x8xf32> {
    %x = te.read %a[i, k] : tensor<4x2xf32>
    %w = te.read %b[j, k] : tensor<8x2xf32>
    %p = arith.mulf %x, %w : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<4x8xf32>
}
te.intrinsic @my.store(%sums: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {
  buffers = [memref<4x8xf32, strided<[8, 1]>, "sums">, memref<4x8xf32>]
} {
  %y = te.compute "stored" [i: 4, j: 8] : tensor<4x8xf32> {
    %v = te.read %sums[i, j] : tensor<4x8xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4x8xf32>
}

// CHECK-LABEL: loop.kernel @product
// CHECK:         loop.for %i = 0 to 4 "i" attributes {loop.tensorize = @my.clear} {
// CHECK:         loop.for %k_outer
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "i" attributes {loop.tensorize = @my.gemm} {
// CHECK:         attributes {loop.tensorize = @my.store} {
// LOOPS-LABEL: loop.kernel @product
// LOOPS:             memref.alloca() : memref<32xf32, "sums">
// LOOPS-NEXT:        loop.intrinsic @my.clear writes %y_sums[0] of [4, 8] strides [8, 1]
// LOOPS-NEXT:        loop.for %k_outer = 0 to 3 "k.outer" {
// LOOPS-NEXT:          loop.intrinsic @my.gemm updates %y_sums[0] of [4, 8] strides [8, 1] from %x_1[24 * %i_outer + 2 * %k_outer] of [4, 2] strides [6, 1], %w_1[48 * %j_outer + 2 * %k_outer] of [8, 2] strides [6, 1]
// LOOPS:             loop.intrinsic @my.store writes %y_1[64 * %i_outer + 8 * %j_outer] of [4, 8] strides [16, 1] from %y_sums[0]
te.kernel @product(%x: tensor<8x6xf32>, %w: tensor<16x6xf32>) -> tensor<8x16xf32> {
  %y = te.compute "y" [i: 8, j: 16] reduce [k: 6] : tensor<8x16xf32> {
    %a = te.read %x[i, k] : tensor<8x6xf32>
    %b = te.read %w[j, k] : tensor<16x6xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<8x16xf32>
}
schedule.sequence @product {
  %y, %i, %j, %k = schedule.stage "y" [i, j, k]
  %sums, %si, %sj, %sk = schedule.cache_write %y "sums" [i, j, k]
  %io, %ii = schedule.split %i factor 4
  %jo, %ji = schedule.split %j factor 8
  schedule.reorder %io, %jo, %ii, %ji
  schedule.compute_at %sums, %jo
  schedule.tensorize %ii @my.store
  %ko, %ki = schedule.split %sk factor 2
  schedule.reorder %ko, %si, %sj, %ki
  schedule.tensorize %si @my.gemm
}
