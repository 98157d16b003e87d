// RUN: opt-tool %s -p vdla-order-loads | filecheck %s
// RUN: opt-tool %s --apply-pattern vdla-order-loads.load-earlier | filecheck %s

// The first computation waits for %w too: it is loaded before what the second one needs alone.
// CHECK-LABEL: func.func @earlier
// CHECK:         vdla.load %x[%c0] to %a[%c0]
// CHECK-NEXT:    vdla.load %w[%c0] to %c[%c0]
// CHECK-NEXT:    vdla.load %x[%c1] to %b[%c0]
func.func @earlier(%x: memref<4x1x16xi8>, %w: memref<4x16x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  %b = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  %c = memref.alloca() : memref<1x16x16xi8, "vdla.wgt">
  %s = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  vdla.load %x[%c0] to %a[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
  vdla.load %x[%c1] to %b[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
  vdla.load %w[%c0] to %c[%c0] size [1, 1] stride 1 : memref<4x16x16xi8> to memref<1x16x16xi8, "vdla.wgt">
  vdla.gemm %s[%c0], %a[%c0], %c[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<1x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  vdla.gemm %s[%c0], %b[%c0], %c[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<1x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  func.return
}
