// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop,loop-simplify --check-semantics | filecheck %s

// What later passes are asked for stands at loops and buffers.

// tvm: test_lang_schedule/pragma
// CHECK-LABEL: loop.kernel @requests
// CHECK:         loop.for %i_1 = 0 to 8 "i" attributes {loop.auto_unroll_max_step = 16 : i64, loop.prefetch = [array<i64: 0, 2>], loop.prefetch_spread = [array<i64: 0, 1>]} {
// CHECK-NEXT:      loop.for %k_outer = 0 to 4 "k.outer" {
// CHECK-NEXT:        %x_local = memref.alloca() {loop.double_buffer} : memref<1x4xf32, "local">
te.kernel @requests(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 16] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x16xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @requests {
  %y, %i, %k = schedule.stage "y" [i, k]
  %x = schedule.argument 0
  %l, %a, %b = schedule.cache_read %x "local" readers(%y) [a, b]
  %ko, %ki = schedule.split %k factor 4
  schedule.decompose_reduction %y, %i
  schedule.compute_at %l, %ko
  schedule.double_buffer %l
  schedule.prefetch %x, %i offset 2
  schedule.prefetch %x, %i offset 1 spread
  schedule.pragma %i "auto_unroll_max_step" 16
}

// Where an axis has one iteration there is none before which the next one's buffer could be filled.
// CHECK-LABEL: loop.kernel @one_iteration
// CHECK:         memref.alloca() : memref<8xf32, "local">
te.kernel @one_iteration(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @one_iteration {
  %y, %i = schedule.stage "y" [i]
  %x = schedule.argument 0
  %l, %a = schedule.cache_read %x "local" readers(%y) [a]
  %io, %ii = schedule.split %i factor 8
  schedule.parallel %io
  schedule.compute_at %l, %io
  schedule.double_buffer %l
}

// The distance between rows is a multiple of 8, and 1 more.
// CHECK-LABEL: loop.kernel @aligned
// CHECK:         memref.alloca() : memref<8x16xf32, strided<[17, 1]>, "local">
te.kernel @aligned(%x: tensor<8x64xf32>) -> tensor<64x8xf32> {
  %y = te.compute "y" [i: 8, j: 64] : tensor<8x64xf32> {
    %v = te.read %x[i, j] : tensor<8x64xf32>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: 64, j: 8] : tensor<64x8xf32> {
    %v = te.read %y[j, i] : tensor<8x64xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<64x8xf32>
}
schedule.sequence @aligned {
  %y, %i, %j = schedule.stage "y" [i, j]
  %z, %k, %l = schedule.stage "z" [i, j]
  %o, %n = schedule.split %k factor 16
  schedule.compute_at %y, %o
  %io, %ii = schedule.split %i factor 4
  schedule.storage_align %i factor 8 offset 1
}

// A kernel that runs the other way meets what is asked for ahead on the other side.
// CHECK-LABEL: loop.kernel @descending
// CHECK:         loop.for %i = 0 to 8 "i" parallel attributes {loop.descending, loop.prefetch = [array<i64: 0, -2>]} {
// CHECK-NEXT:      loop.for %j = 0 to 16 "j" attributes {loop.prefetch = [array<i64: 0, 4>]} {
te.kernel @descending(%x: tensor<8x16xf32>) -> tensor<8x16xf32> attributes {te.descending} {
  %y = te.compute "y" [i: 8, j: 16] : tensor<8x16xf32> {
    %v = te.read %x[i, j] : tensor<8x16xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<8x16xf32>
}
schedule.sequence @descending {
  %y, %i, %j = schedule.stage "y" [i, j]
  %x = schedule.argument 0
  schedule.parallel %i
  schedule.prefetch %x, %i offset 2
  schedule.prefetch %x, %j offset 4
}

// Lanes may be masked, in every loop that the axis becomes.
// CHECK-LABEL: loop.kernel @masked
// CHECK:         loop.for %{{.*}} = 0 to 8 "i" vectorized attributes {loop.masked} {
// CHECK:           loop.store
// CHECK:           loop.for %{{.*}} = 0 to 8 "i" vectorized attributes {loop.masked} {
// CHECK-NEXT:        loop.load
te.kernel @masked(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 8] : tensor<8xf32> {
    %v = te.read %x[k, i] : tensor<8x8xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @masked {
  %y, %i, %k = schedule.stage "y" [i, k]
  schedule.reorder %k, %i
  schedule.vectorize %i masked
}

// Whether a loop is cut where conditions inside it change their truth.
// CHECK-LABEL: loop.kernel @cuts
// CHECK:         loop.for %i = 0 to 12 "i" attributes {loop.whole} {
// CHECK-NEXT:      loop.for %j_outer = 0 to 3 "j.outer" partition {
// CHECK-NEXT:        loop.for %j_inner = 0 to min(-4 * %j_outer + 10, 4) "j.inner" {
te.kernel @cuts(%x: tensor<12x10xf32>) -> tensor<12x10xf32> {
  %y = te.compute "y" [i: 12, j: 10] : tensor<12x10xf32> {
    %v = te.read %x[i, j] : tensor<12x10xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<12x10xf32>
}
schedule.sequence @cuts {
  %y, %i, %j = schedule.stage "y" [i, j]
  %jo, %ji = schedule.split %j factor 4
  schedule.pragma %i "loop_partition_hint" 0
  schedule.pragma %jo "loop_partition_hint" 1
}

// How much work there is, at most: a sum that gets shorter from row to row counts as at its longest.
// CHECK-LABEL: loop.kernel @triangle
// CHECK:         loop.for %{{.*}} = 0 to %N "i" parallel when [%N * %N - 4096 >= 0] {
te.kernel @triangle(%x: tensor<?x?xf32, #graph.dims<[N, N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %y = te.compute "y" [i: N] reduce [k: N - i] : tensor<?xf32, #graph.dims<[N]>> {
    %a = te.read %x[i, k] : tensor<?x?xf32, #graph.dims<[N, N]>>
    te.reduce add %a : f32
  }
  te.return %y : tensor<?xf32, #graph.dims<[N]>>
}
schedule.sequence @triangle {
  %y, %i, %k = schedule.stage "y" [i, k]
  schedule.parallel %i
  schedule.pragma %i "parallel_least_work" 4096
}
