// RUN: opt-tool %s -p vdla-fold-loops,cse --target=vdla | filecheck %s
// RUN: opt-tool %s -p vdla-fold-loops --target=vdla --check-semantics -o /dev/null

// Two loops are those of the instruction; the innermost of three becomes micro-operations.
// CHECK-LABEL: func.func @product
// CHECK-NOT:     scf.for
// CHECK:         vdla.gemm %acc[%0], %inp[%0], %wgt[%0] ops [0, 0, 0, 0, 1, 1] outer [4, 3, 2, 0] inner [3, 1, 0, 2] : memref<12x1x16xi32, "vdla.acc">
func.func @product(%y: memref<12x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %acc = memref.alloca() : memref<12x1x16xi32, "vdla.acc">
  %inp = memref.alloca() : memref<8x1x16xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<6x16x16xi8, "vdla.wgt">
  scf.for %m = %c0 to %c4 step %c1 {
    scf.for %n = %c0 to %c3 step %c1 {
      scf.for %k = %c0 to %c2 step %c1 {
        %a = loop.apply 3 * %m + %n
        %i = loop.apply 2 * %m + %k
        %w = loop.apply 2 * %n + %k
        vdla.gemm %acc[%a], %inp[%i], %wgt[%w] : memref<12x1x16xi32, "vdla.acc">, memref<8x1x16xi8, "vdla.inp">, memref<6x16x16xi8, "vdla.wgt">
      }
    }
  }
  func.return
}

// Loops that go on where the last iteration ends are one; loops begin and step anywhere, and one that stays may decide
// where the instruction begins.
// CHECK-LABEL: func.func @loops
// CHECK:         vdla.reset %acc[%c0] inner [12, 1]
// CHECK:         scf.for %i
// CHECK-NEXT:      %[[AT:[0-9]+]] = loop.apply %i + 2
// CHECK-NEXT:      vdla.alu "max" %acc[%[[AT]]] imm 0 inner [2, 4, 0]
// CHECK-NEXT:      vdla.alu "min" %acc[%i] imm 9
// CHECK:         vdla.alu "add" %acc[%{{.*}}] with %b[%{{.*}}] inner [4, 2, 0]
func.func @loops(%y: memref<12x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %acc = memref.alloca() : memref<12x1x16xi32, "vdla.acc">
  %b = memref.alloca() : memref<1x1x16xi32, "vdla.acc">
  scf.for %m = %c0 to %c4 step %c1 {
    scf.for %n = %c0 to %c3 step %c1 {
      %a = loop.apply 3 * %m + %n
      vdla.reset %acc[%a] : memref<12x1x16xi32, "vdla.acc">
    }
  }
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c1 to %c4 step %c2 {
      %a = loop.apply %i + 2 * %j
      vdla.alu "max" %acc[%a] imm 0 : memref<12x1x16xi32, "vdla.acc">
    }
    vdla.alu "min" %acc[%i] imm 9 : memref<12x1x16xi32, "vdla.acc">
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %a = loop.apply 2 * %i
    vdla.alu "add" %acc[%a] with %b[%c0] : memref<12x1x16xi32, "vdla.acc"> with memref<1x1x16xi32, "vdla.acc">
  }
  func.return
}

// Subscripts that go down or move unevenly are none of the instruction's, and an empty loop does nothing. The memory of
// micro-operations bounds how many there are: here 256 for one computation.
// CHECK-LABEL: func.func @loops_that_stay
// CHECK:         scf.for %i
// CHECK:           vdla.reset %acc[%a] :
// CHECK:         scf.for %i_1
// CHECK:           vdla.reset %acc[%a_1] :
// CHECK:         scf.for %i_2
// CHECK-NEXT:      vdla.reset %acc[%i_2] :
func.func @loops_that_stay(%y: memref<12x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %acc = memref.alloca() : memref<12x1x16xi32, "vdla.acc">
  scf.for %i = %c0 to %c4 step %c1 {
    %a = loop.apply 3 - %i
    vdla.reset %acc[%a] : memref<12x1x16xi32, "vdla.acc">
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %a = loop.apply %i mod 2
    vdla.reset %acc[%a] : memref<12x1x16xi32, "vdla.acc">
  }
  scf.for %i = %c0 to %c0 step %c1 {
    vdla.reset %acc[%i] : memref<12x1x16xi32, "vdla.acc">
  }
  func.return
}

// RUN: opt-tool %s -p vdla-fold-loops,cse --target='vdla -uop-kib=1' --split-input-file | filecheck %s --check-prefix=FEW
// FEW-LABEL: func.func @too_many_micro_operations
// FEW:         scf.for
// FEW:           vdla.reset %acc[%{{.*}}] outer [2, 3] inner [300, 2]
func.func @too_many_micro_operations(%y: memref<12x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c300 = arith.constant 300 : index
  %acc = memref.alloca() : memref<1024x1x16xi32, "vdla.acc">
  scf.for %i = %c0 to %c2 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      scf.for %k = %c0 to %c300 step %c1 {
        %a = loop.apply %i + 3 * %j + 2 * %k
        vdla.reset %acc[%a] : memref<1024x1x16xi32, "vdla.acc">
      }
    }
  }
  func.return
}

// The pattern alone, at one loop.
// RUN: opt-tool %s --apply-pattern vdla-fold-loops.fold-loop@19 --target=vdla | filecheck %s --check-prefix=ALONE
// ALONE:       scf.for %n
// ALONE-NOT:     scf.for
// ALONE:         vdla.gemm {{.*}} inner [2, 0, 1, 1]
// RUN: not opt-tool %s --apply-pattern vdla-fold-loops.fold-loop@17 --target=vdla 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: vdla-fold-loops.fold-loop does not match at line 17
