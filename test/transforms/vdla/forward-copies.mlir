// RUN: opt-tool %s -p vdla-forward-copies --target=vdla | filecheck %s
// RUN: opt-tool %s -p vdla-forward-copies --target=vdla --check-semantics -o /dev/null

// CHECK-LABEL: func.func @whole
// CHECK:         vdla.alu "max" %a[%c0] imm 0 inner [8, 1, 0]
// CHECK-NEXT:    vdla.store %a[%c0] to %y[%c0]
// In two parts, as two threads make it.
// CHECK:         vdla.reset %d[%c0] inner [8, 1]
// CHECK-NEXT:    vdla.alu "shr" %d[%c0] imm 1 inner [8, 1, 0]
// CHECK-NOT:     vdla.reset
func.func @whole(%y: memref<8x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  %b = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  vdla.reset %a[%c0] inner [8, 1] : memref<8x1x16xi32, "vdla.acc">
  vdla.reset %b[%c0] inner [8, 1] : memref<8x1x16xi32, "vdla.acc">
  vdla.alu "add" %b[%c0] with %a[%c0] inner [8, 1, 1] : memref<8x1x16xi32, "vdla.acc"> with memref<8x1x16xi32, "vdla.acc">
  vdla.alu "max" %b[%c0] imm 0 inner [8, 1, 0] : memref<8x1x16xi32, "vdla.acc">
  vdla.store %b[%c0] to %y[%c0] size [1, 8] stride 8 : memref<8x1x16xi32, "vdla.acc"> to memref<8x1x16xi8>
  %d = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  vdla.reset %d[%c0] inner [8, 1] : memref<8x1x16xi32, "vdla.acc">
  %e = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  vdla.reset %e[%c0] inner [4, 1] : memref<8x1x16xi32, "vdla.acc">
  vdla.reset %e[%c4] inner [4, 1] : memref<8x1x16xi32, "vdla.acc">
  vdla.alu "add" %e[%c0] with %d[%c0] inner [4, 1, 1] : memref<8x1x16xi32, "vdla.acc"> with memref<8x1x16xi32, "vdla.acc">
  vdla.alu "add" %e[%c4] with %d[%c4] inner [4, 1, 1] : memref<8x1x16xi32, "vdla.acc"> with memref<8x1x16xi32, "vdla.acc">
  vdla.alu "shr" %e[%c0] imm 1 inner [8, 1, 0] : memref<8x1x16xi32, "vdla.acc">
  func.return
}

// Nothing changes where the accumulators are used behind the copy, where a part is copied or another tile, and where
// they are of another loop, in whose next iteration they are used.
// CHECK-LABEL: func.func @used
// CHECK-COUNT-4: vdla.alu "add"
func.func @used(%y: memref<8x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  vdla.reset %a[%c0] inner [8, 1] : memref<8x1x16xi32, "vdla.acc">
  %b = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  vdla.reset %b[%c0] inner [8, 1] : memref<8x1x16xi32, "vdla.acc">
  vdla.alu "add" %b[%c0] with %a[%c0] inner [8, 1, 1] : memref<8x1x16xi32, "vdla.acc"> with memref<8x1x16xi32, "vdla.acc">
  %d = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  vdla.reset %d[%c0] inner [8, 1] : memref<8x1x16xi32, "vdla.acc">
  vdla.alu "add" %d[%c0] with %b[%c0] inner [7, 1, 1] : memref<8x1x16xi32, "vdla.acc"> with memref<8x1x16xi32, "vdla.acc">
  %e = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  vdla.reset %e[%c0] inner [8, 1] : memref<8x1x16xi32, "vdla.acc">
  vdla.alu "add" %e[%c0] with %d[%c0] inner [8, 1, 0] : memref<8x1x16xi32, "vdla.acc"> with memref<8x1x16xi32, "vdla.acc">
  scf.for %i = %c0 to %c1 step %c1 {
    %f = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
    vdla.reset %f[%c0] inner [8, 1] : memref<8x1x16xi32, "vdla.acc">
    vdla.alu "add" %f[%c0] with %e[%c0] inner [8, 1, 1] : memref<8x1x16xi32, "vdla.acc"> with memref<8x1x16xi32, "vdla.acc">
  }
  vdla.store %a[%c0] to %y[%c0] size [1, 8] stride 8 : memref<8x1x16xi32, "vdla.acc"> to memref<8x1x16xi8>
  func.return
}

// The pattern alone, at one buffer.
// RUN: opt-tool %s --apply-pattern vdla-forward-copies.forward-copy@15 --target=vdla | filecheck %s --check-prefix=ALONE
// ALONE:     vdla.alu "max" %a[%c0] imm 0
// ALONE:     vdla.alu "add" %e
// RUN: not opt-tool %s --apply-pattern vdla-forward-copies.forward-copy@14 --target=vdla 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: vdla-forward-copies.forward-copy does not match at line 14
