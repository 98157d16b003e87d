// RUN: opt-tool %s --target='llvm -mcpu=sapphirerapids -num-cores=1' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=sapphirerapids -num-cores=1' -p te-to-schedule,schedule-apply-dataflow,schedule-to-loop,loop-simplify,loop-skip-padding,loop-simplify,loop-flatten-storage,loop-tensorize | filecheck %s --check-prefix=LOOPS

// A dense layer in two numbers of bfloat16: numbers of rows, four tiles of sums in registers, what is behind them.

// CHECK-LABEL: schedule.sequence @dense_relu
// CHECK:         %bf16x_data, %c, %[[NUMBER:[a-z]+]], %row, %place = schedule.stage "bf16x_data"
// CHECK:         schedule.reorder %c, %{{.*}}, %[[NUMBER]], %{{.*}}, %{{.*}}, %{{.*}}
// CHECK-NEXT:    schedule.unroll %[[NUMBER]]
// CHECK:         %[[TILES:[a-z]+]], {{.*}} = schedule.cache_write %bf16x_product "amx"
// CHECK:         schedule.split %{{.*}} factor 32 tail pad
// CHECK:         schedule.tensorize %{{.*}} @amx.tile_store
// CHECK:         schedule.compute_at %[[TILES]]
// CHECK:         schedule.tensorize %{{.*}} @amx.tile_mulf
// LOOPS-LABEL: loop.kernel @dense_relu
// LOOPS:         memref.alloca() : memref<1024xf32, "amx">
// LOOPS:         loop.intrinsic @amx.tile_zero
// LOOPS:         loop.for %c_1
// LOOPS:             loop.for %q
// LOOPS-NEXT:          loop.if [%p_1 - %q >= 0] {
// LOOPS-NEXT:            loop.for %{{.*}} = 0 to 2 "row.outer" unrolled {
// LOOPS-NEXT:              loop.for %{{.*}} = 0 to 2 "j" unrolled {
// LOOPS-NEXT:                loop.intrinsic @amx.tile_mulf updates %{{.*}} of [16, 16] strides [16, 1] from %bf16x_data[{{.*}}] of [16, 32] strides [32, 1], %u_1[{{.*}}] of [16, 32] strides [32, 1]
// LOOPS:         loop.intrinsic @amx.tile_store
// LOOPS:         arith.maximumf

te.kernel @dense_relu(%x: tensor<64x64xf32>, %u: tensor<4x2x2x16x16x2xbf16>) -> tensor<64x64xf32> {
  %bf16x_data = te.compute "bf16x_data" role "bf16x.data" [c: 2, p: 2, row: 95, place: 32] : tensor<2x2x95x32xbf16> {
    %0 = te.if_then_else [p - 1 >= 0] : bf16 {
      %1 = te.if_then_else [-row + 63 >= 0] : f32 {
        %2 = te.read %x[row, 32 * c + place] : tensor<64x64xf32>
        te.yield %2 : f32
      } else {
        %3 = arith.constant 0.000000e+00 : f32
        te.yield %3 : f32
      }
      %4 = te.call_intrinsic @bf16.round(%1) : (f32) -> bf16
      te.yield %4 : bf16
    } else {
      %5 = te.if_then_else [-row + 63 >= 0] : f32 {
        %6 = te.read %x[row, 32 * c + place] : tensor<64x64xf32>
        te.yield %6 : f32
      } else {
        %7 = arith.constant 0.000000e+00 : f32
        te.yield %7 : f32
      }
      %8 = te.call_intrinsic @bf16.round(%5) : (f32) -> bf16
      %9 = arith.extf %8 : bf16 to f32
      %10 = arith.subf %5, %9 : f32
      %11 = te.call_intrinsic @bf16.round(%10) : (f32) -> bf16
      te.yield %11 : bf16
    }
    te.yield %0 : bf16
  }
  %bf16x_product = te.compute "bf16x_product" role "bf16x.product" [j: 4, row: 95, l: 16] reduce [c: 2, p: 2, q: 2, pair: 16, place: 2] : tensor<4x95x16xf32> {
    %12 = te.if_then_else [p - q >= 0] : bf16 {
      %13 = te.read %bf16x_data[c, p, row, 2 * pair + place] : tensor<2x2x95x32xbf16>
      te.yield %13 : bf16
    } else {
      %14 = arith.constant 0.000000e+00 : bf16
      te.yield %14 : bf16
    }
    %15 = arith.extf %12 : bf16 to f32
    %16 = te.read %u[j, c, q, pair, l, place] : tensor<4x2x2x16x16x2xbf16>
    %17 = arith.extf %16 : bf16 to f32
    %18 = arith.mulf %15, %17 : f32
    te.reduce add %18 : f32
  }
  %dense = te.compute "dense" [i: 64, o: 64] : tensor<64x64xf32> {
    %19 = te.read %bf16x_product[o floordiv 16, i, o mod 16] : tensor<4x95x16xf32>
    te.yield %19 : f32
  }
  %relu = te.compute "relu" [i: 64, o: 64] : tensor<64x64xf32> {
    %20 = te.read %dense[i, o] : tensor<64x64xf32>
    %21 = arith.constant 0.000000e+00 : f32
    %22 = arith.maximumf %20, %21 : f32
    te.yield %22 : f32
  }
  te.return %relu : tensor<64x64xf32>
}
