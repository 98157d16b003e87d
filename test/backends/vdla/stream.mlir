// RUN: opt-tool %s -t vdla-asm --target=vdla | filecheck %s

// Loops are run, and every operation is an instruction. Arguments lie one behind the other in DRAM, each at a multiple of
// all tiles: here %w is tile 1 of the largest ones, and %y tile 48 of the smallest. Micro-operations that are equal are
// there once. What only waits at the end is part of the end.

// CHECK:      uop dst=0 src=0 wgt=0
// CHECK-NEXT: uop dst=0 src=0 wgt=0
// CHECK-NEXT: uop dst=0 src=1 wgt=1
// CHECK-NEXT: uop dst=0 src=1 wgt=0
// CHECK-NEXT: load.uop sram=0 dram=0 rows=1 columns=4 stride=4
// CHECK-NEXT: load.uop sram=0 dram=0 rows=0 columns=0 stride=0 push=compute->load
// CHECK-NEXT: gemm.reset uops=0:1 inner=2:dst+1,src+0,wgt+0
// CHECK-NEXT: load.inp sram=1 dram=0 rows=1 columns=3 stride=4 pad=0,0,1,0 pop=compute->load  # {{.*}}stream.mlir:{{[0-9]+:5}}
// CHECK-NEXT: load.wgt sram=0 dram=1 rows=1 columns=2 stride=2 push=load->compute
// CHECK-NEXT: gemm uops=1:3 outer=2:dst+1,src+2,wgt+0 pop=load->compute push=compute->load
// CHECK-NEXT: load.inp sram=1 dram=4 rows=1 columns=3 stride=4 pad=0,0,1,0 pop=compute->load
// CHECK-NEXT: load.wgt sram=0 dram=1 rows=1 columns=2 stride=2 push=load->compute
// CHECK-NEXT: gemm uops=1:3 outer=2:dst+1,src+2,wgt+0 pop=load->compute push=compute->load
// CHECK-NEXT: alu.max uops=0:1 inner=2:dst+1,src+0,wgt+0 imm=-3
// CHECK-NEXT: alu.add uops=3:4 push=compute->store
// CHECK-NEXT: store sram=0 dram=48 rows=1 columns=2 stride=2 pop=compute->store push=store->compute
// CHECK-NEXT: load.inp sram=0 dram=0 rows=0 columns=0 stride=0 pop=compute->load push=load->compute
// CHECK-NEXT: finish pop=load->compute,store->compute
func.func @product(%x: memref<8x1x16xi8>, %w: memref<2x16x16xi8>, %y: memref<2x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %inp = memref.alloca() : memref<5x1x16xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<2x16x16xi8, "vdla.wgt">
  %acc = memref.alloca() : memref<2x1x16xi32, "vdla.acc">
  %free = vdla.nop "compute" -> !vdla.token<"compute", "load">
  vdla.reset %acc[%c0] inner [2, 1] : memref<2x1x16xi32, "vdla.acc">
  %left = scf.for %k = %c0 to %c2 step %c1 iter_args(%in = %free) -> (!vdla.token<"compute", "load">) {
    %from = loop.apply 4 * %k
    vdla.load %x[%from] to %inp[%c1] size [1, 3] stride 4 pad [0, 0, 1, 0] wait(%in : !vdla.token<"compute", "load">) : memref<8x1x16xi8> to memref<5x1x16xi8, "vdla.inp">
    %loaded = vdla.load %w[%c0] to %wgt[%c0] size [1, 2] stride 2 : memref<2x16x16xi8> to memref<2x16x16xi8, "vdla.wgt"> -> !vdla.token<"load", "compute">
    %used = vdla.gemm %acc[%c0], %inp[%c0], %wgt[%c0] ops [0, 0, 0, 0, 1, 1] outer [2, 1, 2, 0] wait(%loaded : !vdla.token<"load", "compute">) : memref<2x1x16xi32, "vdla.acc">, memref<5x1x16xi8, "vdla.inp">, memref<2x16x16xi8, "vdla.wgt"> -> !vdla.token<"compute", "load">
    scf.yield %used : !vdla.token<"compute", "load">
  }
  vdla.alu "max" %acc[%c0] imm -3 inner [2, 1, 0] : memref<2x1x16xi32, "vdla.acc">
  %done = vdla.alu "add" %acc[%c0] with %acc[%c1] ops [0, 0] : memref<2x1x16xi32, "vdla.acc"> with memref<2x1x16xi32, "vdla.acc"> -> !vdla.token<"compute", "store">
  %stored = vdla.store %acc[%c0] to %y[%c0] size [1, 2] stride 2 wait(%done : !vdla.token<"compute", "store">) : memref<2x1x16xi32, "vdla.acc"> to memref<2x1x16xi8> -> !vdla.token<"store", "compute">
  %end = vdla.nop "load" wait(%left : !vdla.token<"compute", "load">) -> !vdla.token<"load", "compute">
  vdla.nop "compute" wait(%end, %stored : !vdla.token<"load", "compute">, !vdla.token<"store", "compute">)
  func.return
}
