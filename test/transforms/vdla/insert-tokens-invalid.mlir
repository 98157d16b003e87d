// RUN: opt-tool %s -p vdla-insert-tokens --target=vdla --split-input-file --verify-diagnostics

func.func @twice() {
  %t = vdla.nop "load" -> !vdla.token<"load", "compute">
  // expected-error@-1 {{vdla.nop has tokens already: they are inserted where there are none}}
  vdla.nop "compute" wait(%t : !vdla.token<"load", "compute">)
  func.return
}

// -----

// expected-error@+1 {{@numbers takes numbers, and dependences are found where all are known: fix them}}
func.func @numbers(%i: index) {
  %acc = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  vdla.reset %acc[%i] : memref<1x1x16xi32, "vdla.acc">
  func.return
}

// -----

func.func @through_dram(%x: memref<4x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %inp = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  %acc = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  vdla.reset %acc[%c0] : memref<1x1x16xi32, "vdla.acc">
  vdla.store %acc[%c0] to %x[%c0] size [1, 1] stride 1 : memref<1x1x16xi32, "vdla.acc"> to memref<4x1x16xi8>
  // expected-error@+1 {{%x is stored, and loaded by another unit: no token goes from one to the other; compute with it in two kernels}}
  vdla.load %x[%c0] to %inp[%c0] size [1, 1] stride 1 : memref<4x1x16xi8> to memref<1x1x16xi8, "vdla.inp">
  func.return
}

// -----

func.func @out_of_bounds() {
  %c4 = arith.constant 4 : index
  %acc = memref.alloca() : memref<4x1x16xi32, "vdla.acc">
  // expected-error@+1 {{vdla.reset out of bounds: tile 4 of a memory that has 4}}
  vdla.reset %acc[%c4] : memref<4x1x16xi32, "vdla.acc">
  func.return
}
