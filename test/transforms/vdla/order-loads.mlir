// RUN: opt-tool %s -p vdla-order-loads | filecheck %s
// RUN: opt-tool %s --apply-pattern vdla-order-loads.load-earlier | filecheck %s

// The first computation waits for %w too: it is loaded before what the second one needs alone. Nobody has read it before
// this load, nor %a.
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

// Both operands of the second computation are waited for at once; %a is free when the first one has run, %d is free now.
// CHECK-LABEL: func.func @free
// CHECK:         vdla.gemm
// CHECK-NEXT:    vdla.load %w[%c0] to %d[%c0]
// CHECK-NEXT:    vdla.load %x[%c1] to %a[%c0]
func.func @free(%x: memref<4x1x16xi8>, %w: memref<4x16x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  %c = memref.alloca() : memref<1x16x16xi8, "vdla.wgt">
  %d = memref.alloca() : memref<1x16x16xi8, "vdla.wgt">
  %s = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  vdla.gemm %s[%c0], %a[%c0], %c[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<1x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  vdla.load %x[%c1] to %a[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
  vdla.load %w[%c0] to %d[%c0] size [1, 1] stride 1 : memref<4x16x16xi8> to memref<1x16x16xi8, "vdla.wgt">
  vdla.gemm %s[%c0], %a[%c0], %d[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<1x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  func.return
}

// Of loads to the same tile, the last one is to stay the last; a subscript goes along.
// CHECK-LABEL: func.func @same
// CHECK:         vdla.load %x[%c0] to %a[%c0]
// CHECK-NEXT:    %[[TWO:.*]] = arith.constant 2
// CHECK-NEXT:    vdla.load %x[%[[TWO]]] to %a[%c0]
// CHECK-NEXT:    vdla.load %x[%c1] to %a[%c1]
func.func @same(%x: memref<4x1x16xi8>, %w: memref<1x16x16xi8, "vdla.wgt">) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloca() : memref<2x1x16xi8, "vdla.inp">
  %s = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  vdla.load %x[%c0] to %a[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<2x1x16xi8, "vdla.inp">
  vdla.load %x[%c1] to %a[%c1] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<2x1x16xi8, "vdla.inp">
  %c2 = arith.constant 2 : index
  vdla.load %x[%c2] to %a[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<2x1x16xi8, "vdla.inp">
  vdla.gemm %s[%c0], %a[%c0], %w[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<2x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  vdla.gemm %s[%c0], %a[%c1], %w[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<2x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  func.return
}

// In loops, and with tokens, loads stay where they are.
// CHECK-LABEL: func.func @loop
// CHECK:         vdla.load %x[%i] to %b[%c0]
// CHECK-NEXT:    vdla.load %x[%i] to %a[%c0]
func.func @loop(%x: memref<4x1x16xi8>, %w: memref<1x16x16xi8, "vdla.wgt">) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  %b = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  %s = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  scf.for %i = %c0 to %c2 step %c1 {
    vdla.load %x[%i] to %b[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
    vdla.load %x[%i] to %a[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
    vdla.gemm %s[%c0], %a[%c0], %w[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<1x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
    vdla.gemm %s[%c0], %b[%c0], %w[%c0] : memref<1x1x16xi32, "vdla.acc">, memref<1x1x16xi8, "vdla.inp">, memref<1x16x16xi8, "vdla.wgt">
  }
  func.return
}
