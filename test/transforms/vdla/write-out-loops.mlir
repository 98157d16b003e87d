// RUN: opt-tool %s -p vdla-write-out-loops --target=vdla | filecheck %s
// RUN: opt-tool %s -p vdla-write-out-loops --target=vdla --check-semantics -o /dev/null

// Operations in front of loops and behind them stay where they are among those of each iteration, once each.
// CHECK-LABEL: func.func @between
// CHECK:         %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:    vdla.load %w[%[[ZERO]]] to %wgt[%[[ZERO]]]
// CHECK-NEXT:    vdla.reset %acc[%[[ZERO]]]
// CHECK-NEXT:    vdla.load %x[%[[ZERO]]] to %inp[%[[ZERO]]]
// CHECK-NEXT:    vdla.gemm %acc[%[[ZERO]]]
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    vdla.load %x[%[[ONE]]] to %inp[%[[ZERO]]]
// CHECK-NEXT:    vdla.gemm %acc[%[[ZERO]]]
// CHECK-NEXT:    vdla.alu "shr" %acc[%[[ZERO]]] imm 3
// CHECK-NEXT:    vdla.store %acc[%[[ZERO]]] to %y[%[[ZERO]]]
// CHECK-NEXT:    func.return
func.func @between(%x: memref<2x1x16xi8>, %w: memref<1x16x16xi8>, %y: memref<1x1x16xi8>) {
  %inp = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<1x16x16xi8, "vdla.wgt">
  %acc = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  vdla.load %w[%c0] to %wgt[%c0] size [1, 1] stride 1 : memref<1x16x16xi8> to memref<1x16x16xi8, "vdla.wgt">
  vdla.reset %acc[%c0] : memref<1x1x16xi32, "vdla.acc">
  scf.for %i = %c0 to %c2 step %c1 {
    vdla.load %x[%i] to %inp[%c0] size [1, 1] stride 1 : memref<2x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
    vdla.gemm %acc[%c0], %inp[%c0], %wgt[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<1x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  }
  vdla.alu "shr" %acc[%c0] imm 3 : memref<1x1x16xi32, "vdla.acc">
  vdla.store %acc[%c0] to %y[%c0] size [1, 1] stride 1 : memref<1x1x16xi32, "vdla.acc"> to memref<1x1x16xi8>
  func.return
}
