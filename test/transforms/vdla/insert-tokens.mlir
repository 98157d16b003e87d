// RUN: opt-tool %s -p vdla-insert-tokens --target=vdla | filecheck %s
// RUN: opt-tool %s -p vdla-insert-tokens --target=vdla --check-semantics -o /dev/null

// A load waits until the last product has read what it writes over, in the iteration before; the first token is pushed
// in front of everything. Two loads for one product push one token. The last operation runs when all others have.
// CHECK-LABEL: func.func @product
// CHECK:         %[[FREE:[0-9]+]] = vdla.nop "compute" -> !vdla.token<"compute", "load">
// CHECK-NEXT:    vdla.reset %acc[%c0] :
// CHECK-NEXT:    %[[LEFT:[0-9]+]] = scf.for %k = %c0 to %c4 step %c1 iter_args(%[[IN:[0-9]+]] = %[[FREE]]) -> (!vdla.token<"compute", "load">) {
// CHECK-NEXT:      vdla.load %x[%k] to %inp[%c0] size [1, 1] stride 1 wait(%[[IN]] : !vdla.token<"compute", "load">)
// CHECK-NEXT:      %[[LOADED:[0-9]+]] = vdla.load %w[%k] to %wgt[%c0] size [1, 1] stride 1 : {{.*}} -> !vdla.token<"load", "compute">
// CHECK-NEXT:      %[[USED:[0-9]+]] = vdla.gemm %acc[%c0], %inp[%c0], %wgt[%c0] wait(%[[LOADED]] : !vdla.token<"load", "compute">) {{.*}} -> !vdla.token<"compute", "load">
// CHECK-NEXT:      scf.yield %[[USED]]
// CHECK:         %[[DONE:[0-9]+]] = vdla.alu "shr" %acc[%c0] imm 4 : {{.*}} -> !vdla.token<"compute", "store">
// CHECK-NEXT:    %[[STORED:[0-9]+]] = vdla.store %acc[%c0] to %y[%c0] size [1, 1] stride 1 wait(%[[DONE]] : !vdla.token<"compute", "store">)
// CHECK-NEXT:    %[[END:[0-9]+]] = vdla.nop "load" wait(%[[LEFT]] : !vdla.token<"compute", "load">) -> !vdla.token<"load", "compute">
// CHECK-NEXT:    vdla.nop "compute" wait(%[[END]], %[[STORED]] :
func.func @product(%x: memref<4x1x16xi8>, %w: memref<4x16x16xi8>, %y: memref<1x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %inp = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<1x16x16xi8, "vdla.wgt">
  %acc = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  vdla.reset %acc[%c0] : memref<1x1x16xi32, "vdla.acc">
  scf.for %k = %c0 to %c4 step %c1 {
    vdla.load %x[%k] to %inp[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
    vdla.load %w[%k] to %wgt[%c0] size [1, 1] stride 1 : memref<4x16x16xi8> to memref<1x16x16xi8, "vdla.wgt">
    vdla.gemm %acc[%c0], %inp[%c0], %wgt[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<1x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  }
  vdla.alu "shr" %acc[%c0] imm 4 : memref<1x1x16xi32, "vdla.acc">
  vdla.store %acc[%c0] to %y[%c0] size [1, 1] stride 1 : memref<1x1x16xi32, "vdla.acc"> to memref<1x1x16xi8>
  func.return
}

// With two buffers that take turns, a load waits for the product of the iteration before the last: two tokens go around.
// CHECK-LABEL: func.func @two_buffers
// CHECK-COUNT-2: vdla.nop "compute" -> !vdla.token<"compute", "load">
// CHECK:         scf.for %k = {{.*}} iter_args(%[[FIRST:[0-9]+]] = %{{[0-9]+}}, %[[SECOND:[0-9]+]] = %{{[0-9]+}})
// CHECK:           vdla.load %x[%k] to %inp[%at] {{.*}} wait(%[[FIRST]] :
// CHECK:           %[[USED:[0-9]+]] = vdla.gemm
// CHECK-NEXT:      scf.yield %[[SECOND]], %[[USED]]
func.func @two_buffers(%x: memref<4x1x16xi8>, %w: memref<1x16x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %inp = memref.alloca() : memref<2x1x16xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<1x16x16xi8, "vdla.wgt">
  %acc = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  vdla.load %w[%c0] to %wgt[%c0] size [1, 1] stride 1 : memref<1x16x16xi8> to memref<1x16x16xi8, "vdla.wgt">
  vdla.reset %acc[%c0] : memref<1x1x16xi32, "vdla.acc">
  scf.for %k = %c0 to %c4 step %c1 {
    %at = loop.apply %k mod 2
    vdla.load %x[%k] to %inp[%at] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<2x1x16xi8, "vdla.inp">
    vdla.gemm %acc[%c0], %inp[%at], %wgt[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<2x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  }
  func.return
}

// What touches other tiles needs no tokens, but the end waits for all units.
// CHECK-LABEL: func.func @independent
// CHECK-NOT:     iter_args
// CHECK:         vdla.load %x[%c0] to %inp[%c0] size [1, 1] stride 1 :
// CHECK-NEXT:    vdla.reset %acc[%c0] :
// CHECK-NEXT:    %[[L:[0-9]+]] = vdla.load %x[%c0] to %inp[%c1] {{.*}} -> !vdla.token<"load", "compute">
// CHECK-NEXT:    vdla.nop "compute" wait(%[[L]] :
func.func @independent(%x: memref<4x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %inp = memref.alloca() : memref<2x1x16xi8, "vdla.inp">
  %acc = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  vdla.load %x[%c0] to %inp[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<2x1x16xi8, "vdla.inp">
  vdla.reset %acc[%c0] : memref<1x1x16xi32, "vdla.acc">
  vdla.load %x[%c0] to %inp[%c1] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<2x1x16xi8, "vdla.inp">
  func.return
}

// Without operations on units there is nothing to wait for.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    func.return
func.func @nothing(%x: memref<4x1x16xi8>) {
  func.return
}
