// RUN: opt-tool %s -p vdla-double-buffer | filecheck %s
// RUN: opt-tool %s --apply-pattern vdla-double-buffer.use-halves | filecheck %s

// A marked buffer that each iteration fills anew has two halves, which iterations use in turns; what is not marked stays.
// CHECK-LABEL: func.func @turns
// CHECK:         memref.alloca() : memref<2x1x16xi8, "vdla.inp">
// CHECK:         memref.alloca() : memref<1x1x16xi8, "vdla.inp">
func.func @turns(%x: memref<4x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %b = memref.alloca() {loop.double_buffer} : memref<1x1x16xi8, "vdla.inp">
    %k = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
    vdla.load %x[%i] to %b[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
    vdla.load %x[%i] to %k[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
  }
  func.return
}
