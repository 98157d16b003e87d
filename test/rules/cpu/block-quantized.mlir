// RUN: opt-tool %s --target='llvm -mcpu=znver5 -num-cores=2' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver5 -num-cores=2' -p te-to-schedule,compile-kernel | filecheck %s --check-prefix=LOOPS
// RUN: opt-tool %s --target='llvm -mcpu=haswell -num-cores=2' -p te-to-schedule,compile-kernel | filecheck %s --check-prefix=NARROW

// Two rows, and all outputs of a panel at a time: each word is loaded once for both, and its numbers are taken out where
// they are, but for the last one. Rows come first, as much smaller as numbers are further up, and the sums of their
// blocks, which are taken off as many times as the middle of the numbers. What is asked for are the next blocks.

// CHECK-LABEL: schedule.sequence @rows
// CHECK:         schedule.cache_write %sum "register"
// CHECK:         schedule.prefetch
// CHECK:         schedule.cache_write %product "register"
// LOOPS-LABEL: loop.kernel @rows{{.*}} scratch(%rows: memref<2x8x8xf32>, %row_sums: memref<2x2xf32>)
// LOOPS:         loop.for %b{{[_0-9]*}} = 0 to 2 "b" {
// LOOPS:           loop.prefetch %weight
// LOOPS:           loop.for %v{{[_0-9]*}} = 0 to 4 "v"
// LOOPS-NEXT:        loop.for %t{{[_0-9]*}} = 0 to 8 "t" unrolled
// LOOPS-NEXT:          loop.for %l_outer{{[_0-9]*}} = 0 to 4 "l.outer" unrolled
// LOOPS-NEXT:            loop.load %weight_1{{.*}} vector<16xi32>
// LOOPS-NEXT:            loop.for %i{{[_0-9]*}} = 0 to 2 "i" unrolled
// LOOPS:                   loop.if [-%t{{[_0-9]*}} + 6 >= 0] -> vector<16xi32>
// LOOPS:                     arith.andi
// LOOPS:                   } else {
// LOOPS:                     arith.shrui
// LOOPS:                   arith.sitofp
// LOOPS-NEXT:              vector.broadcast
// LOOPS-NEXT:              math.fma
// LOOPS:           arith.negf
// LOOPS-NEXT:      vector.broadcast
// LOOPS-NEXT:      math.fma
// LOOPS-NEXT:      math.fma

// Where a vector has 8 lanes, of 16 registers 8 hold sums: two rows of half a panel.
// NARROW-LABEL: loop.kernel @rows
// NARROW:         loop.for %v{{[_0-9]*}} = 0 to 4 "v"
// NARROW-NEXT:    loop.for %t{{[_0-9]*}} = 0 to 8 "t" unrolled
// NARROW-NEXT:      loop.for %l_outer{{[_0-9]*}} = 0 to 4 "l.outer" unrolled
// NARROW-NEXT:        loop.load %weight_1{{.*}} vector<8xi32>
// NARROW-NEXT:        loop.for %i{{[_0-9]*}} = 0 to 2 "i" unrolled

// An open number of rows: four at a time, on several threads, or as many as are left. Zero points are taken off.
// CHECK-LABEL: schedule.sequence @open
// CHECK:         schedule.split %i{{[_0-9]*}} factor 4
// CHECK:         schedule.parallel
// LOOPS-LABEL: loop.kernel @open
// LOOPS:         loop.for %{{.*}} = 0 to (%N + 3) floordiv 4 {{.*}} parallel
// LOOPS:           loop.if [%N - 4 * {{.*}} - 4 >= 0]
// LOOPS:             loop.for %i{{[_0-9]*}} = 0 to 4 "i" unrolled
// LOOPS:           } else {
// LOOPS:             loop.if [%N - {{.*}} - 2 >= 0]

te.kernel @rows(%input: tensor<2x64xf32>, %weight: tensor<2x2x5x64xi32>) -> tensor<2x100xf32> {
  %rows = te.compute "rows" role "block_quantized.rows" [i: 2, v: 8, t: 8] : tensor<2x8x8xf32> {
    %0 = te.index -4 * (t mod 7) + 127
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.constant 23 : i32
    %3 = arith.shli %1, %2 : i32
    %4 = arith.bitcast %3 : i32 to f32
    %5 = te.read %input[i, 8 * v + t] : tensor<2x64xf32>
    %6 = arith.mulf %5, %4 : f32
    te.yield %6 : f32
  }
  %row_sums = te.compute "row_sums" role "block_quantized.row_sums" [i: 2, b: 2] reduce [c: 32] : tensor<2x2xf32> {
    %7 = te.read %input[i, 32 * b + c] : tensor<2x64xf32>
    te.reduce add %7 : f32
  }
  %product = te.compute "product" role "block_quantized.product" [i: 2, p: 2, l: 64, b: 2] reduce [v: 4, t: 8] : tensor<2x2x64x2xf32> {
    %8 = te.read %rows[i, 4 * b + v, t] : tensor<2x8x8xf32>
    %9 = te.read %weight[p, b, v, l] : tensor<2x2x5x64xi32>
    %10 = te.if_then_else [-t + 6 >= 0] : i32 {
      %11 = arith.constant 15 : i32
      %12 = te.index 4 * t
      %13 = arith.index_cast %12 : index to i32
      %14 = arith.shli %11, %13 : i32
      %15 = arith.andi %9, %14 : i32
      te.yield %15 : i32
    } else {
      %16 = arith.constant 28 : i32
      %17 = arith.shrui %9, %16 : i32
      te.yield %17 : i32
    }
    %18 = arith.sitofp %10 : i32 to f32
    %19 = arith.mulf %8, %18 : f32
    te.reduce add %19 : f32
  }
  %sum = te.compute "sum" role "block_quantized.sum" [i: 2, p: 2, l: 64] reduce [b: 2] : tensor<2x2x64xf32> {
    %20 = te.read %product[i, p, l, b] : tensor<2x2x64x2xf32>
    %21 = te.read %row_sums[i, b] : tensor<2x2xf32>
    %22 = arith.constant 8.000000e+00 : f32
    %23 = arith.mulf %21, %22 : f32
    %24 = arith.subf %20, %23 : f32
    %25 = te.read %weight[p, b, 4, l] : tensor<2x2x5x64xi32>
    %26 = arith.bitcast %25 : i32 to f32
    %27 = arith.mulf %24, %26 : f32
    te.reduce add %27 : f32
  }
  %dense = te.compute "dense" [i: 2, o: 100] : tensor<2x100xf32> {
    %28 = te.read %sum[i, o floordiv 64, o mod 64] : tensor<2x2x64xf32>
    te.yield %28 : f32
  }
  %relu = te.compute "relu" [i0: 2, i1: 100] : tensor<2x100xf32> {
    %29 = te.read %dense[i0, i1] : tensor<2x100xf32>
    %30 = arith.constant 0.000000e+00 : f32
    %31 = arith.maximumf %29, %30 : f32
    te.yield %31 : f32
  }
  te.return %relu : tensor<2x100xf32>
}
te.kernel @open(%input: tensor<?x64xf32, #graph.dims<[N, 64]>>, %weight: tensor<1x2x6x64xi32>) -> tensor<?x64xf32, #graph.dims<[N, 64]>> {
  %rows = te.compute "rows" role "block_quantized.rows" [i: N, v: 8, t: 8] : tensor<?x8x8xf32, #graph.dims<[N, 8, 8]>> {
    %0 = te.index -4 * (t mod 7) + 127
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.constant 23 : i32
    %3 = arith.shli %1, %2 : i32
    %4 = arith.bitcast %3 : i32 to f32
    %5 = te.read %input[i, 8 * v + t] : tensor<?x64xf32, #graph.dims<[N, 64]>>
    %6 = arith.mulf %5, %4 : f32
    te.yield %6 : f32
  }
  %row_sums = te.compute "row_sums" role "block_quantized.row_sums" [i: N, b: 2] reduce [c: 32] : tensor<?x2xf32, #graph.dims<[N, 2]>> {
    %7 = te.read %input[i, 32 * b + c] : tensor<?x64xf32, #graph.dims<[N, 64]>>
    te.reduce add %7 : f32
  }
  %product = te.compute "product" role "block_quantized.product" [i: N, p: 1, l: 64, b: 2] reduce [v: 4, t: 8] : tensor<?x1x64x2xf32, #graph.dims<[N, 1, 64, 2]>> {
    %8 = te.read %rows[i, 4 * b + v, t] : tensor<?x8x8xf32, #graph.dims<[N, 8, 8]>>
    %9 = te.read %weight[p, b, v, l] : tensor<1x2x6x64xi32>
    %10 = te.if_then_else [-t + 6 >= 0] : i32 {
      %11 = arith.constant 15 : i32
      %12 = te.index 4 * t
      %13 = arith.index_cast %12 : index to i32
      %14 = arith.shli %11, %13 : i32
      %15 = arith.andi %9, %14 : i32
      te.yield %15 : i32
    } else {
      %16 = arith.constant 28 : i32
      %17 = arith.shrui %9, %16 : i32
      te.yield %17 : i32
    }
    %18 = arith.sitofp %10 : i32 to f32
    %19 = arith.mulf %8, %18 : f32
    te.reduce add %19 : f32
  }
  %sum = te.compute "sum" role "block_quantized.sum" [i: N, p: 1, l: 64] reduce [b: 2] : tensor<?x1x64xf32, #graph.dims<[N, 1, 64]>> {
    %20 = te.read %weight[p, b, 5, l] : tensor<1x2x6x64xi32>
    %21 = arith.bitcast %20 : i32 to f32
    %22 = te.read %product[i, p, l, b] : tensor<?x1x64x2xf32, #graph.dims<[N, 1, 64, 2]>>
    %23 = te.read %row_sums[i, b] : tensor<?x2xf32, #graph.dims<[N, 2]>>
    %24 = arith.mulf %23, %21 : f32
    %25 = arith.subf %22, %24 : f32
    %26 = te.read %weight[p, b, 4, l] : tensor<1x2x6x64xi32>
    %27 = arith.bitcast %26 : i32 to f32
    %28 = arith.mulf %25, %27 : f32
    te.reduce add %28 : f32
  }
  %dense = te.compute "dense" [i: N, o: 64] : tensor<?x64xf32, #graph.dims<[N, 64]>> {
    %29 = te.read %sum[i, o floordiv 64, o mod 64] : tensor<?x1x64xf32, #graph.dims<[N, 1, 64]>>
    te.yield %29 : f32
  }
  te.return %dense : tensor<?x64xf32, #graph.dims<[N, 64]>>
}
