// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule,schedule-apply-dataflow,schedule-to-loop | filecheck %s --check-prefix=LOOPS

// All of a softmax is computed for a block of rows before the next one begins. Maxima and sums are those of eight columns
// side by side first, of four rows in registers, then of these for eight rows in the lanes of a vector.

// CHECK-LABEL: schedule.sequence @softmax
// CHECK:         %[[BLOCK:.*]], %{{.*}} = schedule.split %i factor 16 tail shift
// CHECK:         schedule.parallel %[[BLOCK]]
// CHECK:         %r_o, %[[LANE:.*]] = schedule.split %r factor 8
// CHECK-NEXT:    %rf, %{{.*}} = schedule.rfactor %max, %[[LANE]] at -1
// CHECK-NEXT:    schedule.cache_write %rf "register"
// CHECK-NEXT:    schedule.compute_at %rf, %[[BLOCK]]
// CHECK:         %{{.*}}, %[[BESIDE:.*]] = schedule.split %{{.*}} factor 4 tail partition
// CHECK:         schedule.unroll %[[BESIDE]]
// CHECK:         schedule.compute_at %max, %[[BLOCK]]
// CHECK:         schedule.compute_at %exp, %[[BLOCK]]
// CHECK:         schedule.compute_at %sum, %[[BLOCK]]
// LOOPS-LABEL: loop.kernel @softmax
// LOOPS:         loop.for %{{.*}} = 0 to 30 "i.outer" parallel {
// LOOPS-NOT:     parallel
// LOOPS:           memref.alloca() : memref<16x384xf32, "local">
// LOOPS-NOT:     parallel
te.kernel @softmax(%x: tensor<480x384xf32>) -> tensor<480x384xf32> {
  %max = te.compute "max" [i: 480] reduce [r: 384] : tensor<480xf32> {
    %a = te.read %x[i, r] : tensor<480x384xf32>
    te.reduce max %a : f32
  }
  %exp = te.compute "exp" [i: 480, j: 384] : tensor<480x384xf32> {
    %a = te.read %x[i, j] : tensor<480x384xf32>
    %m = te.read %max[i] : tensor<480xf32>
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  }
  %sum = te.compute "sum" [i: 480] reduce [r: 384] : tensor<480xf32> {
    %a = te.read %exp[i, r] : tensor<480x384xf32>
    te.reduce add %a : f32
  }
  %y = te.compute "y" [i: 480, j: 384] : tensor<480x384xf32> {
    %e = te.read %exp[i, j] : tensor<480x384xf32>
    %s = te.read %sum[i] : tensor<480xf32>
    %q = arith.divf %e, %s : f32
    te.yield %q : f32
  }
  te.return %y : tensor<480x384xf32>
}

// Attention: scores, their softmax and what it weighs, a block of rows at a time in a buffer of its own. The matrix whose
// rows are 2 kB apart is copied in blocks of a vector first. The last block begins among the rows of the one before.

// CHECK-LABEL: schedule.sequence @attention
// CHECK:         schedule.cache_write %y_1 "local"
// CHECK:         %[[BLOCK:.*]], %{{.*}} = schedule.split %i_{{.*}} factor 40 tail shift
// CHECK:         schedule.compute_at %s, %[[BLOCK]]
// CHECK:         schedule.cache_read %{{.*}} "global"
// CHECK:         schedule.split %p1 factor 8
// CHECK:         schedule.cache_write %{{.*}} "global" [p1.outer, p0, p1.inner]
// LOOPS-LABEL: loop.kernel @attention
// LOOPS-SAME:    scratch(%{{.*}}: memref<64x64x8xf32>)
te.kernel @attention(%q: tensor<197x64xf32>, %k: tensor<64x512xf32>, %v: tensor<512x32xf32>) -> tensor<197x32xf32> {
  %s = te.compute "s" [i: 197, j: 512] reduce [d: 64] : tensor<197x512xf32> {
    %a = te.read %q[i, d] : tensor<197x64xf32>
    %b = te.read %k[d, j] : tensor<64x512xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  %max = te.compute "max" [i: 197] reduce [r: 512] : tensor<197xf32> {
    %a = te.read %s[i, r] : tensor<197x512xf32>
    te.reduce max %a : f32
  }
  %exp = te.compute "exp" [i: 197, j: 512] : tensor<197x512xf32> {
    %a = te.read %s[i, j] : tensor<197x512xf32>
    %m = te.read %max[i] : tensor<197xf32>
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  }
  %y = te.compute "y" [i: 197, j: 32] reduce [r: 512] : tensor<197x32xf32> {
    %a = te.read %exp[i, r] : tensor<197x512xf32>
    %b = te.read %v[r, j] : tensor<512x32xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<197x32xf32>
}

// Columns of another row's sum: no rows.
// CHECK-LABEL: schedule.sequence @across
// CHECK-NOT:     rfactor
te.kernel @across(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %sum = te.compute "sum" [i: 64] reduce [r: 64] : tensor<64xf32> {
    %a = te.read %x[i, r] : tensor<64x64xf32>
    te.reduce add %a : f32
  }
  %y = te.compute "y" [i: 64, j: 64] : tensor<64x64xf32> {
    %a = te.read %sum[i] : tensor<64xf32>
    %b = te.read %sum[j] : tensor<64xf32>
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  }
  te.return %y : tensor<64x64xf32>
}

// Matrices that the loops around count are no lanes of the products inside, not even if 16 of each lie side by side.

// CHECK-LABEL: schedule.sequence @windows
// CHECK-NOT:     schedule.split %b
// CHECK:         schedule.compute_at %matmul, %i_o
te.kernel @windows(%x: tensor<4x49x32x16xf32>, %y: tensor<4x32x49x16xf32>) -> tensor<64x49x49xf32> {
  %left = te.compute "left" [b: 64, i: 49, k: 32] : tensor<64x49x32xf32> {
    %a = te.read %x[b floordiv 16, i, k, b mod 16] : tensor<4x49x32x16xf32>
    te.yield %a : f32
  }
  %right = te.compute "right" [b: 64, k: 32, j: 49] : tensor<64x32x49xf32> {
    %a = te.read %y[b floordiv 16, k, j, b mod 16] : tensor<4x32x49x16xf32>
    te.yield %a : f32
  }
  %matmul = te.compute "matmul" [b: 64, i: 49, j: 49] reduce [k: 32] : tensor<64x49x49xf32> {
    %a = te.read %left[b, i, k] : tensor<64x49x32xf32>
    %b = te.read %right[b, k, j] : tensor<64x32x49xf32>
    %c = arith.mulf %a, %b : f32
    te.reduce add %c : f32
  }
  %max = te.compute "max" [b: 64, i: 49] reduce [r: 49] : tensor<64x49xf32> {
    %a = te.read %matmul[b, i, r] : tensor<64x49x49xf32>
    te.reduce max %a : f32
  }
  %sub = te.compute "sub" [b: 64, i: 49, j: 49] : tensor<64x49x49xf32> {
    %a = te.read %matmul[b, i, j] : tensor<64x49x49xf32>
    %m = te.read %max[b, i] : tensor<64x49xf32>
    %c = arith.subf %a, %m : f32
    te.yield %c : f32
  }
  te.return %sub : tensor<64x49x49xf32>
}
