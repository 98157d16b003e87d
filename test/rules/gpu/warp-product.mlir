// RUN: opt-tool %s -p te-to-schedule --target='cuda -arch=sm_80' --split-input-file | filecheck %s
// RUN: opt-tool %s -p te-to-schedule --target='cuda -arch=sm_75' --split-input-file | filecheck %s --check-prefix=OLDER
// RUN: opt-tool %s -p compile-gpu-kernel --target='cuda -arch=sm_80' --split-input-file | filecheck %s --check-prefix=LOOP

// A product of half precision is multiplied by warps, whose sums go by way of shared memory to what rounds them. Rows and
// columns need be no multiples of a tile.
// CHECK-LABEL: schedule.sequence @halves
// CHECK:         schedule.cache_write %{{.*}} "shared" [i, j, k]
// CHECK:         schedule.cache_write %{{.*}} "mma" [i, j, k]
// CHECK:         schedule.tensorize %{{.*}} @mma.store
// CHECK:         schedule.tensorize %{{.*}} @mma.f16
// OLDER-LABEL: schedule.sequence @halves
// OLDER-NOT:     schedule.tensorize
// LOOP-LABEL: loop.kernel @halves_0
// LOOP:         memref.alloca() : memref<{{.*}}xf32, "mma">
// LOOP:         loop.if [-%{{.*}} >= 0] {
// LOOP-NEXT:      loop.intrinsic @mma.zero writes
// LOOP:           loop.intrinsic @mma.f16 updates
// LOOP:           loop.intrinsic @mma.store writes
te.kernel @halves(%a: tensor<40x32xf16>, %b: tensor<32x24xf16>) -> tensor<40x24xf16> {
  %p = te.compute "product" [i: 40, j: 24] reduce [k: 32] : tensor<40x24xf32> {
    %0 = te.read %a[i, k] : tensor<40x32xf16>
    %1 = te.read %b[k, j] : tensor<32x24xf16>
    %2 = arith.extf %0 : f16 to f32
    %3 = arith.extf %1 : f16 to f32
    %4 = arith.mulf %2, %3 : f32
    te.reduce add %4 : f32
  }
  %y = te.compute "round" [i: 40, j: 24] : tensor<40x24xf16> {
    %5 = te.read %p[i, j] : tensor<40x24xf32>
    %6 = arith.truncf %5 : f32 to f16
    te.yield %6 : f16
  }
  te.return %y : tensor<40x24xf16>
}

// -----

// Terms that are no multiple of a tile's are multiplied one by one: what a tile has beyond them would be added.
// CHECK-LABEL: schedule.sequence @odd
// CHECK-NOT:     schedule.tensorize
// OLDER-LABEL: schedule.sequence @odd
// LOOP-LABEL: loop.kernel @odd
te.kernel @odd(%a: tensor<32x19xbf16>, %b: tensor<19x32xbf16>) -> tensor<32x32xf32> {
  %p = te.compute "product" [i: 32, j: 32] reduce [k: 19] : tensor<32x32xf32> {
    %0 = te.read %a[i, k] : tensor<32x19xbf16>
    %1 = te.read %b[k, j] : tensor<19x32xbf16>
    %2 = arith.extf %0 : bf16 to f32
    %3 = arith.extf %1 : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    te.reduce add %4 : f32
  }
  te.return %p : tensor<32x32xf32>
}
