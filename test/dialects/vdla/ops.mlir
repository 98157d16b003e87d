// RUN: opt-tool %s --verify-roundtrip | filecheck %s

// Two buffers for inputs: the load of one runs beside the product of the other. A token for each buffer goes around.
// CHECK-LABEL: func.func @two_buffers
func.func @two_buffers(%x: memref<64x1x16xi8>, %w: memref<64x16x16xi8>, %y: memref<8x1x16xi8>, %n: index) {
  %inp = memref.alloca() : memref<16x1x16xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<8x16x16xi8, "vdla.wgt">
  %acc = memref.alloca() : memref<2x1x16xi32, "vdla.acc">
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // CHECK: %ready = vdla.load %w[%c0] to %wgt[%c0] size [1, 8] stride 8 : memref<64x16x16xi8> to memref<8x16x16xi8, "vdla.wgt"> -> !vdla.token<"load", "compute">
  %ready = vdla.load %w[%c0] to %wgt[%c0] size [1, 8] stride 8 : memref<64x16x16xi8> to memref<8x16x16xi8, "vdla.wgt"> -> !vdla.token<"load", "compute">
  // CHECK: vdla.reset %acc[%c0] inner [2, 1] wait(%ready : !vdla.token<"load", "compute">) : memref<2x1x16xi32, "vdla.acc">
  vdla.reset %acc[%c0] inner [2, 1] wait(%ready : !vdla.token<"load", "compute">) : memref<2x1x16xi32, "vdla.acc">
  // CHECK: %first = vdla.nop "compute" -> !vdla.token<"compute", "load">
  %first = vdla.nop "compute" -> !vdla.token<"compute", "load">
  %second = vdla.nop "compute" -> !vdla.token<"compute", "load">
  // CHECK: %a, %b = scf.for
  %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%free = %first, %next = %second) -> (!vdla.token<"compute", "load">, !vdla.token<"compute", "load">) {
    %from = arith.muli %i, %c8 : index
    %odd = arith.andi %i, %c1 : index
    %at = arith.muli %odd, %c8 : index
    // CHECK: %loaded = vdla.load %x[%from] to %inp[%at] size [2, 3] stride 4 pad [0, 0, 1, 0] wait(%free : !vdla.token<"compute", "load">) : memref<64x1x16xi8> to memref<16x1x16xi8, "vdla.inp"> -> !vdla.token<"load", "compute">
    %loaded = vdla.load %x[%from] to %inp[%at] size [2, 3] stride 4 pad [0, 0, 1, 0] wait(%free : !vdla.token<"compute", "load">) : memref<64x1x16xi8> to memref<16x1x16xi8, "vdla.inp"> -> !vdla.token<"load", "compute">
    // CHECK: %used = vdla.gemm %acc[%c0], %inp[%at], %wgt[%c0] ops [0, 0, 0, 1, 4, 4] inner [4, 0, 1, 1] wait(%loaded : !vdla.token<"load", "compute">) : memref<2x1x16xi32, "vdla.acc">, memref<16x1x16xi8, "vdla.inp">, memref<8x16x16xi8, "vdla.wgt"> -> !vdla.token<"compute", "load">
    %used = vdla.gemm %acc[%c0], %inp[%at], %wgt[%c0] ops [0, 0, 0, 1, 4, 4] inner [4, 0, 1, 1] wait(%loaded : !vdla.token<"load", "compute">) : memref<2x1x16xi32, "vdla.acc">, memref<16x1x16xi8, "vdla.inp">, memref<8x16x16xi8, "vdla.wgt"> -> !vdla.token<"compute", "load">
    scf.yield %next, %used : !vdla.token<"compute", "load">, !vdla.token<"compute", "load">
  }
  // CHECK: vdla.nop "load" wait(%a : !vdla.token<"compute", "load">)
  vdla.nop "load" wait(%a : !vdla.token<"compute", "load">)
  vdla.nop "load" wait(%b : !vdla.token<"compute", "load">)
  // CHECK: vdla.alu "max" %acc[%c0] imm -3 outer [2, 1, 0] : memref<2x1x16xi32, "vdla.acc">
  vdla.alu "max" %acc[%c0] imm -3 outer [2, 1, 0] : memref<2x1x16xi32, "vdla.acc">
  // CHECK: %sum = vdla.alu "add" %acc[%c0] with %acc[%c1] : memref<2x1x16xi32, "vdla.acc"> with memref<2x1x16xi32, "vdla.acc"> -> !vdla.token<"compute", "store">
  %sum = vdla.alu "add" %acc[%c0] with %acc[%c1] : memref<2x1x16xi32, "vdla.acc"> with memref<2x1x16xi32, "vdla.acc"> -> !vdla.token<"compute", "store">
  // CHECK: %stored = vdla.store %acc[%c0] to %y[%n] size [1, 1] stride 1 wait(%sum : !vdla.token<"compute", "store">) : memref<2x1x16xi32, "vdla.acc"> to memref<8x1x16xi8> -> !vdla.token<"store", "compute">
  %stored = vdla.store %acc[%c0] to %y[%n] size [1, 1] stride 1 wait(%sum : !vdla.token<"compute", "store">) : memref<2x1x16xi32, "vdla.acc"> to memref<8x1x16xi8> -> !vdla.token<"store", "compute">
  vdla.nop "compute" wait(%stored : !vdla.token<"store", "compute">)
  func.return
}

// Accumulators are loaded by the unit that computes, which needs no token for what it does next. One operation may push
// a token to each of its neighbours.
// CHECK-LABEL: func.func @accumulators
func.func @accumulators(%x: memref<?x2x4xi32>, %i: index) {
  %acc = memref.alloca() : memref<8x2x4xi32, "vdla.acc">
  vdla.load %x[%i] to %acc[%i] size [1, 8] stride 8 : memref<?x2x4xi32> to memref<8x2x4xi32, "vdla.acc">
  // CHECK: %l, %s = vdla.alu "shr" %acc[%i] imm 2 ops [0, 0, 3, 0] : memref<8x2x4xi32, "vdla.acc"> -> !vdla.token<"compute", "load">, !vdla.token<"compute", "store">
  %l, %s = vdla.alu "shr" %acc[%i] imm 2 ops [0, 0, 3, 0] : memref<8x2x4xi32, "vdla.acc"> -> !vdla.token<"compute", "load">, !vdla.token<"compute", "store">
  vdla.nop "load" wait(%l : !vdla.token<"compute", "load">)
  vdla.nop "store" wait(%s : !vdla.token<"compute", "store">)
  func.return
}
