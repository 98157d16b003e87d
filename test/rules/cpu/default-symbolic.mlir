// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=x86-64' -p te-to-schedule | filecheck %s --check-prefix=NARROW
// RUN: opt-tool %s --target='llvm -mcpu=skylake-avx512' -p te-to-schedule | filecheck %s --check-prefix=MASKS

// Sizes are symbols: kernels are scheduled like those of known sizes.

// A dense layer for any number of rows: several of them make a tile in registers, with several vectors of columns. What
// is left of the rows is code of its own.

// CHECK-LABEL: schedule.sequence @dense
// CHECK: [[ROWS:%i[a-z0-9_]*]], [[ROW:%i[a-z0-9_]*]] = schedule.split %i{{[0-9_]*}} factor 4 tail partition
// CHECK: [[COLUMNS:%j[a-z0-9_]*]], [[SPAN:%j[a-z0-9_]*]] = schedule.split %j{{[0-9_]*}} factor 16 tail shift
// CHECK: [[VECTOR:%j[a-z0-9_]*]], [[LANE:%j[a-z0-9_]*]] = schedule.split [[SPAN]] factor 8
// CHECK: schedule.reorder [[COLUMNS]], [[ROWS]], [[ROW]], [[VECTOR]], [[LANE]]
// CHECK: schedule.unroll [[ROW]]
// CHECK: schedule.vectorize [[LANE]]
// CHECK: schedule.compute_at %cache{{.*}}, [[ROWS]]
// CHECK: schedule.set_scope %cache{{.*}} "register"
// CHECK-NOT: masked
// NARROW-LABEL: schedule.sequence @dense
// NARROW: schedule.split %i{{[0-9_]*}} factor 4 tail partition
// NARROW: schedule.split %j{{[0-9_]*}} factor 12 tail shift
// NARROW: schedule.set_scope %cache{{.*}} "register"
// MASKS-LABEL: schedule.sequence @dense
// MASKS: schedule.split %i{{[0-9_]*}} factor 4 tail partition
// MASKS: schedule.split %j{{[0-9_]*}} factor 64 tail shift
// MASKS: schedule.set_scope %cache{{.*}} "register"
te.kernel @dense(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>, %w: tensor<64x128xf32>) -> tensor<?x128xf32, #graph.dims<[N, 128]>> {
  %y = te.compute "y" [i: N, j: 128] reduce [k: 64] : tensor<?x128xf32, #graph.dims<[N, 128]>> {
    %a = te.read %x[i, k] : tensor<?x64xf32, #graph.dims<[N, 64]>>
    %b = te.read %w[k, j] : tensor<64x128xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<?x128xf32, #graph.dims<[N, 128]>>
}

// Filters and points are enough for a tile: images, of which there may be one, are left whole. Their loop is the first
// of those that cores share.

// CHECK-LABEL: schedule.sequence @images
// CHECK-NOT: schedule.split %n
// CHECK: schedule.fuse %n, %p
// CHECK-NEXT: schedule.parallel %n
// NARROW-LABEL: schedule.sequence @images
// NARROW-NOT: schedule.split %n
// NARROW: schedule.fuse %n, %o
// NARROW-NEXT: schedule.parallel %n
// MASKS-LABEL: schedule.sequence @images
// MASKS-NOT: schedule.split %n
// MASKS: schedule.fuse %n, %o
// MASKS-NEXT: schedule.parallel %n
te.kernel @images(%x: tensor<?x32x196xf32, #graph.dims<[N, 32, 196]>>, %w: tensor<64x32xf32>) -> tensor<?x64x196xf32, #graph.dims<[N, 64, 196]>> {
  %y = te.compute "y" [n: N, o: 64, p: 196] reduce [c: 32] : tensor<?x64x196xf32, #graph.dims<[N, 64, 196]>> {
    %a = te.read %x[n, c, p] : tensor<?x32x196xf32, #graph.dims<[N, 32, 196]>>
    %f = te.read %w[o, c] : tensor<64x32xf32>
    %m = arith.mulf %a, %f : f32
    te.reduce add %m : f32
  }
  te.return %y : tensor<?x64x196xf32, #graph.dims<[N, 64, 196]>>
}

// Where both sizes are unknown, a tile has several vectors if loads have masks: the last lanes are computed from zeros.
// The matrix, whose rows may be far apart, is copied for a span of columns. Without masks lanes stay out of registers.

// CHECK-LABEL: schedule.sequence @scores
// CHECK: [[COLUMNS:%j[a-z0-9_]*]], [[SPAN:%j[a-z0-9_]*]] = schedule.split %j{{[0-9_]*}} factor {{16|24}} tail partition
// CHECK: [[VECTOR:%j[a-z0-9_]*]], [[LANE:%j[a-z0-9_]*]] = schedule.split [[SPAN]] factor 8
// CHECK: schedule.split %i{{[0-9_]*}} factor 4 tail partition
// CHECK: schedule.parallel [[COLUMNS]]
// CHECK: schedule.pad_to_multiple %j{{.*}} factor 8
// CHECK: schedule.set_scope [[TILE:%cache[0-9_]*]] "register"
// CHECK: schedule.vectorize %j{{.*}} masked
// CHECK: [[PANEL:%cache[0-9_]*]], {{.*}} = schedule.cache_read %{{.*}} "local" readers([[TILE]])
// CHECK: schedule.compute_at [[PANEL]], [[COLUMNS]]
// NARROW-LABEL: schedule.sequence @scores
// NARROW: [[COLUMNS:%j[a-z0-9_]*]], {{.*}} = schedule.split %j{{[0-9_]*}} factor 4 tail mask
// NARROW: schedule.split %i{{[0-9_]*}} factor 8 tail partition
// NARROW: schedule.set_scope [[TILE:%cache[0-9_]*]] "local"
// NARROW-NOT: masked
// NARROW: [[PANEL:%cache[0-9_]*]], {{.*}} = schedule.cache_read %{{.*}} "local" readers([[TILE]])
// NARROW: schedule.compute_at [[PANEL]], [[COLUMNS]]
// MASKS-LABEL: schedule.sequence @scores
// MASKS: schedule.split %j{{[0-9_]*}} factor 32 tail partition
// MASKS: schedule.split %i{{[0-9_]*}} factor 8 tail partition
// MASKS: schedule.pad_to_multiple %j{{.*}} factor 16
// MASKS: schedule.set_scope %cache{{.*}} "register"
// MASKS: schedule.vectorize %j{{.*}} masked
// MASKS: schedule.cache_read
te.kernel @scores(%q: tensor<?x64xf32, #graph.dims<[S, 64]>>, %k: tensor<64x?xf32, #graph.dims<[64, T]>>) -> tensor<?x?xf32, #graph.dims<[S, T]>> {
  %y = te.compute "y" [i: S, j: T] reduce [d: 64] : tensor<?x?xf32, #graph.dims<[S, T]>> {
    %a = te.read %q[i, d] : tensor<?x64xf32, #graph.dims<[S, 64]>>
    %b = te.read %k[d, j] : tensor<64x?xf32, #graph.dims<[64, T]>>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<?x?xf32, #graph.dims<[S, T]>>
}

// A softmax of any number of rows of any length: a vector of rows at a time. Nobody knows how much memory a row of
// exponentials takes, so they are computed where they are read; ends of rows are summed under masks. Without masks only
// rows are lanes, and since the last block may have few of them, their sums are in memory.

// CHECK-LABEL: schedule.sequence @softmax
// CHECK-NEXT:  [[EXP:%exp[0-9_]*]], {{.*}} = schedule.stage "exp"
// CHECK-NEXT:  schedule.compute_inline [[EXP]]
// CHECK: [[BLOCK:%i[a-z0-9_]*]], {{.*}} = schedule.split %i{{[0-9_]*}} factor 8 tail partition
// CHECK: schedule.parallel [[BLOCK]]
// CHECK: [[PARTS:%rf[0-9_]*]], {{.*}} = schedule.rfactor %max
// CHECK: schedule.cache_write [[PARTS]] "register"
// CHECK: schedule.compute_at [[PARTS]], [[BLOCK]]
// CHECK: schedule.vectorize %r_inner{{.*}} masked
// CHECK: schedule.compute_at %max{{[0-9_]*}}, [[BLOCK]]
// CHECK: schedule.compute_at %sum{{[0-9_]*}}, [[BLOCK]]
// NARROW-LABEL: schedule.sequence @softmax
// NARROW: schedule.compute_inline %exp
// NARROW: [[BLOCK:%i[a-z0-9_]*]], {{.*}} = schedule.split %i{{[0-9_]*}} factor 4 tail partition
// NARROW-NOT: rfactor
// NARROW-NOT: "register"
// NARROW: schedule.cache_write %max{{[0-9_]*}} "local"
// NARROW-NOT: "register"
// NARROW: schedule.compute_at %max{{[0-9_]*}}, [[BLOCK]]
// NARROW-NOT: "register"
// NARROW: schedule.compute_at %sum{{[0-9_]*}}, [[BLOCK]]
// MASKS-LABEL: schedule.sequence @softmax
// MASKS: schedule.compute_inline %exp
// MASKS: schedule.split %i{{[0-9_]*}} factor 16 tail partition
// MASKS: schedule.rfactor %max
// MASKS: schedule.vectorize %r_inner{{.*}} masked
te.kernel @softmax(%x: tensor<?x?xf32, #graph.dims<[N, S]>>) -> tensor<?x?xf32, #graph.dims<[N, S]>> {
  %max = te.compute "max" [i: N] reduce [r: S] : tensor<?xf32, #graph.dims<[N]>> {
    %a = te.read %x[i, r] : tensor<?x?xf32, #graph.dims<[N, S]>>
    te.reduce max %a : f32
  }
  %exp = te.compute "exp" [i: N, j: S] : tensor<?x?xf32, #graph.dims<[N, S]>> {
    %a = te.read %x[i, j] : tensor<?x?xf32, #graph.dims<[N, S]>>
    %m = te.read %max[i] : tensor<?xf32, #graph.dims<[N]>>
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  }
  %sum = te.compute "sum" [i: N] reduce [r: S] : tensor<?xf32, #graph.dims<[N]>> {
    %a = te.read %exp[i, r] : tensor<?x?xf32, #graph.dims<[N, S]>>
    te.reduce add %a : f32
  }
  %y = te.compute "y" [i: N, j: S] : tensor<?x?xf32, #graph.dims<[N, S]>> {
    %e = te.read %exp[i, j] : tensor<?x?xf32, #graph.dims<[N, S]>>
    %s = te.read %sum[i] : tensor<?xf32, #graph.dims<[N]>>
    %q = arith.divf %e, %s : f32
    te.yield %q : f32
  }
  te.return %y : tensor<?x?xf32, #graph.dims<[N, S]>>
}

// Windows that move by two along an unknown width: with masks points are the lanes, of which the last are left out.
// Without masks filters are, although of 26 some are left: they are stored an unknown distance apart, one by one, so
// that all tiles have as many, and the last one is moved inwards. Weights in blocks alone would ask for whole ones.

// CHECK-LABEL: schedule.sequence @strided
// CHECK: schedule.split %p{{[0-9_]*}} factor 8 tail partition
// CHECK: schedule.vectorize %p{{.*}} masked
// NARROW-LABEL: schedule.sequence @strided
// NARROW: [[O:%o[a-z0-9_]*]], [[LANE:%o[a-z0-9_]*]] = schedule.split %o{{[0-9_]*}} factor 4 tail shift
// NARROW: schedule.split %p{{[0-9_]*}} factor 8 tail partition
// NARROW: schedule.vectorize [[LANE]]
// MASKS-LABEL: schedule.sequence @strided
// MASKS: schedule.split %p{{[0-9_]*}} factor 32 tail partition
// MASKS: schedule.vectorize %p{{.*}} masked
te.kernel @strided(%x: tensor<16x?xf32, #graph.dims<[16, 2 * W + 1]>>, %w: tensor<4x16x3x8xf32>) -> tensor<26x?xf32, #graph.dims<[26, W]>> {
  %y = te.compute "y" [o: 26, p: W] reduce [c: 16, s: 3] : tensor<26x?xf32, #graph.dims<[26, W]>> {
    %a = te.read %x[c, 2 * p + s] : tensor<16x?xf32, #graph.dims<[16, 2 * W + 1]>>
    %f = te.read %w[o floordiv 8, c, s, o mod 8] : tensor<4x16x3x8xf32>
    %m = arith.mulf %a, %f : f32
    te.reduce add %m : f32
  }
  te.return %y : tensor<26x?xf32, #graph.dims<[26, W]>>
}
