// RUN: opt-tool %s -p compile-vdla-kernel --target=vdla | filecheck %s
// RUN: opt-tool %s -p compile-vdla-kernel --target=vdla --check-semantics -o /dev/null
// RUN: opt-tool %s -p compile-vdla-kernel --target=vdla -t vdla-asm | filecheck %s --check-prefix=STREAM

// A product of matrices of bytes, of which positive sums are shifted and stored, from te and a schedule to a stream. Two
// virtual threads take turns: while the products of one are taken, the tiles of the other are loaded.

// CHECK-LABEL: func.func @product(%x: memref<16x1x16xi8>, %w: memref<16x16x16xi8>, %y: memref<16x1x16xi8>)
// CHECK:           vdla.reset %acc[%{{.*}}] inner [4, 1]
// CHECK:           vdla.reset %acc[%{{.*}}] inner [4, 1]
// CHECK:             vdla.load %x[{{.*}} size [2, 1] stride 4
// CHECK:             %[[W0:[0-9]+]] = vdla.load %w{{.*}} -> !vdla.token<"load", "compute">
// CHECK:             %[[W1:[0-9]+]] = vdla.load %w{{.*}} -> !vdla.token<"load", "compute">
// CHECK:             vdla.gemm {{.*}} wait(%[[W0]] : !vdla.token<"load", "compute">)
// CHECK:             vdla.gemm {{.*}} wait(%[[W1]] : !vdla.token<"load", "compute">)
// CHECK:           vdla.alu "max"
// CHECK:           vdla.alu "shr"
// CHECK:           vdla.store

// STREAM:      load.uop
// STREAM:      gemm.reset uops=0:1 inner=4:dst+1
// STREAM:      load.inp sram=0 dram=0 rows=2 columns=1 stride=4
// STREAM:      load.wgt
// STREAM:      finish pop=
te.kernel @product(%x: tensor<4x4x16xi8>, %w: tensor<4x4x16x16xi8>) -> tensor<4x4x16xi8> {
  %sum = te.compute "sum" [m: 4, n: 4, j: 16] reduce [k: 4, l: 16] : tensor<4x4x16xi32> {
    %a = te.read %x[m, k, l] : tensor<4x4x16xi8>
    %b = te.read %w[n, k, j, l] : tensor<4x4x16x16xi8>
    %ai = arith.extsi %a : i8 to i32
    %bi = arith.extsi %b : i8 to i32
    %p = arith.muli %ai, %bi : i32
    te.reduce add %p : i32
  }
  %scaled = te.compute "scaled" [m: 4, n: 4, j: 16] : tensor<4x4x16xi32> {
    %s = te.read %sum[m, n, j] : tensor<4x4x16xi32>
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %positive = arith.maxsi %s, %zero : i32
    %v = arith.shrsi %positive, %four : i32
    te.yield %v : i32
  }
  %y = te.compute "y" [m: 4, n: 4, j: 16] : tensor<4x4x16xi8> {
    %s = te.read %scaled[m, n, j] : tensor<4x4x16xi32>
    %v = arith.trunci %s : i32 to i8
    te.yield %v : i8
  }
  te.return %y : tensor<4x4x16xi8>
}
schedule.sequence @product {
  %sum, %m, %n, %j, %k, %l = schedule.stage "sum" [m, n, j, k, l]
  %scaled, %pm, %pn, %pj = schedule.stage "scaled" [m, n, j]
  %y, %ym, %yn, %yj = schedule.stage "y" [m, n, j]
  %x = schedule.argument 0
  %w = schedule.argument 1
  schedule.set_scope %sum "vdla.acc"
  schedule.set_scope %scaled "vdla.acc"
  %xs, %x0, %x1, %x2 = schedule.cache_read %x "vdla.inp" readers(%sum) [m, k, l]
  %ws, %w0, %w1, %w2, %w3 = schedule.cache_read %w "vdla.wgt" readers(%sum) [n, k, j, l]
  %ymo, %ymi = schedule.split %ym factor 2
  %yt, %yni = schedule.split %yn factor 2
  schedule.reorder %ymo, %yt, %ymi, %yni
  schedule.bind %yt "vthread"
  schedule.compute_at %sum, %yt
  schedule.compute_at %scaled, %yt
  schedule.reorder %k, %m, %n, %j, %l
  schedule.compute_at %xs, %k
  schedule.compute_at %ws, %k
  schedule.tensorize %j @vdla.gemm
}
