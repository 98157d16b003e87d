// RUN: opt-tool %s -p vdla-assign-memory --target=vdla | filecheck %s
// RUN: opt-tool %s -p vdla-assign-memory --target=vdla --check-semantics -o /dev/null

// Buffers lie behind each other, those of two loops that follow each other in one place.
// CHECK-LABEL: func.func @places
// CHECK-NEXT:    %acc = memref.alloca() : memref<3x1x16xi32, "vdla.acc">
// CHECK-NEXT:    %inp = memref.alloca() : memref<12x1x16xi8, "vdla.inp">
// CHECK:         vdla.load %x[%c0] to %inp[%c0] size [1, 2]
// CHECK:         scf.for %i
// CHECK:           %[[AT:[0-9]+]] = loop.apply %i + 2
// CHECK-NEXT:      vdla.load %x[%c0] to %inp[%[[AT]]] size [1, 4]
// CHECK:         scf.for %i_1
// CHECK:           %[[B:[0-9]+]] = arith.constant 2 : index
// CHECK-NEXT:      vdla.load %x[%c0] to %inp[%[[B]]] size [1, 10]
// CHECK:           %[[C:[0-9]+]] = arith.constant 1 : index
// CHECK-NEXT:      vdla.alu "add" %acc[%c0] with %acc[%[[C]]]
func.func @places(%x: memref<16x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.alloca() : memref<2x1x16xi8, "vdla.inp">
  vdla.load %x[%c0] to %a[%c0] size [1, 2] stride 2 : memref<16x1x16xi8> to memref<2x1x16xi8, "vdla.inp">
  scf.for %i = %c0 to %c2 step %c1 {
    %b = memref.alloca() : memref<6x1x16xi8, "vdla.inp">
    vdla.load %x[%c0] to %b[%i] size [1, 4] stride 4 : memref<16x1x16xi8> to memref<6x1x16xi8, "vdla.inp">
  }
  %s = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  scf.for %i = %c0 to %c2 step %c1 {
    %b = memref.alloca() : memref<10x1x16xi8, "vdla.inp">
    vdla.load %x[%c0] to %b[%c0] size [1, 10] stride 10 : memref<16x1x16xi8> to memref<10x1x16xi8, "vdla.inp">
    %t = memref.alloca() : memref<2x1x16xi32, "vdla.acc">
    vdla.alu "add" %s[%c0] with %t[%c0] : memref<1x1x16xi32, "vdla.acc"> with memref<2x1x16xi32, "vdla.acc">
  }
  func.return
}

// A function that has nothing on the chip stays as it is.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    func.return
func.func @nothing(%x: memref<16x1x16xi8>) {
  func.return
}
