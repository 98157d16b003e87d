// RUN: opt-tool %s --target='llvm -mcpu=znver5 -num-cores=2' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -num-cores=2' -p te-to-schedule | filecheck %s --check-prefix=UNASKED
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -num-cores=2' -p te-to-schedule,compile-kernel | filecheck %s --check-prefix=LOOPS

// A row and weights of 24 bits, four in three words: two blocks of 64 outputs at a time, each of whose words are read
// once, and asked for before; not where the hardware reads ahead fast enough.

// CHECK-LABEL: schedule.sequence @f24
// CHECK:         %[[BLOCKS:[a-z0-9_]+]], %{{.*}} = schedule.split %{{.*}} factor 2 tail shift
// CHECK:         schedule.parallel %[[BLOCKS]]
// CHECK:         %[[SUMS:[a-z]+]], {{.*}} = schedule.cache_write %packed_float_product "register"
// CHECK:         schedule.compute_at %[[SUMS]], %[[BLOCKS]]
// CHECK:         schedule.prefetch
// UNASKED-LABEL: schedule.sequence @f24
// UNASKED-NOT:     schedule.prefetch
// LOOPS-LABEL: loop.kernel @f24
// LOOPS:         loop.for %{{.*}} parallel
// LOOPS:           loop.for %c = 0 to 512 "c"
// LOOPS:             loop.for %j{{.*}} = 0 to 2 "j" unrolled
// LOOPS:               loop.for %v{{.*}} = 0 to 4 "v" unrolled
// LOOPS:                 loop.if [-%v{{.*}} + 2 >= 0] -> vector<16xi32>
// LOOPS:                   arith.andi
// LOOPS:                 } else {
// LOOPS-COUNT-3:           arith.shli
// LOOPS:                 arith.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>

te.kernel @f24(%x: tensor<1x512xf32>, %u: tensor<16x513x3x16xi32>, %b: tensor<1000xf32>) -> tensor<1x1000xf32> {
  %packed_float_product = te.compute "packed_float_product" role "packed_float.product" [i: 1, j: 16, v: 4, l: 16] reduce [c: 512] : tensor<1x16x4x16xf32> {
    %0 = te.if_then_else [-v + 2 >= 0] : i32 {
      %1 = te.read %u[j, c, v, l] : tensor<16x513x3x16xi32>
      %2 = arith.constant -256 : i32
      %3 = arith.andi %1, %2 : i32
      te.yield %3 : i32
    } else {
      %4 = te.read %u[j, c, 0, l] : tensor<16x513x3x16xi32>
      %5 = te.read %u[j, c, 1, l] : tensor<16x513x3x16xi32>
      %6 = te.read %u[j, c, 2, l] : tensor<16x513x3x16xi32>
      %7 = arith.constant 24 : i32
      %8 = arith.shli %4, %7 : i32
      %9 = arith.constant 16 : i32
      %10 = arith.shli %5, %9 : i32
      %11 = arith.constant 16711680 : i32
      %12 = arith.andi %10, %11 : i32
      %13 = arith.ori %8, %12 : i32
      %14 = arith.constant 8 : i32
      %15 = arith.shli %6, %14 : i32
      %16 = arith.constant 65280 : i32
      %17 = arith.andi %15, %16 : i32
      %18 = arith.ori %13, %17 : i32
      te.yield %18 : i32
    }
    %19 = te.read %x[i, c] : tensor<1x512xf32>
    %20 = arith.sitofp %0 : i32 to f32
    %21 = arith.mulf %19, %20 : f32
    te.reduce add %21 : f32
  }
  %dense = te.compute "dense" [i: 1, o: 1000] : tensor<1x1000xf32> {
    %22 = te.read %u[o floordiv 64, 512, 0, o mod 16] : tensor<16x513x3x16xi32>
    %23 = te.index 8 * ((o floordiv 16) mod 4)
    %24 = arith.index_cast %23 : index to i32
    %25 = arith.shrsi %22, %24 : i32
    %26 = arith.constant 255 : i32
    %27 = arith.andi %25, %26 : i32
    %28 = arith.constant 23 : i32
    %29 = arith.shli %27, %28 : i32
    %30 = te.read %packed_float_product[i, o floordiv 64, (o floordiv 16) mod 4, o mod 16] : tensor<1x16x4x16xf32>
    %31 = arith.bitcast %29 : i32 to f32
    %32 = arith.mulf %30, %31 : f32
    te.yield %32 : f32
  }
  %add = te.compute "add" [i0: 1, i1: 1000] : tensor<1x1000xf32> {
    %33 = te.read %dense[i0, i1] : tensor<1x1000xf32>
    %34 = te.read %b[i1] : tensor<1000xf32>
    %35 = arith.addf %33, %34 : f32
    te.yield %35 : f32
  }
  te.return %add : tensor<1x1000xf32>
}
