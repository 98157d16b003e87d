// RUN: opt-tool %s --pass-pipeline='builtin.module(func.func(cse),dce)' --mlir-print-ir-after-all -o %t 2>&1 | filecheck %s
// RUN: opt-tool %s -p cse,dce --mlir-print-ir-before=dce -o %t 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: opt-tool %s -p cse,dce --mlir-print-ir-after=cse -o %t 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: opt-tool %s -p cse,dce --mlir-print-ir-after-change -o %t 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: opt-tool %s -p cse,dce --mlir-print-ir-before-all -o %t 2>&1 | filecheck %s --check-prefix=BEFORE-ALL
// RUN: opt-tool %s -p 'func.func(cse)' --mlir-print-ir-after-change --mlir-print-ir-module-scope -o %t 2>&1 | filecheck %s --check-prefix=SCOPE
// RUN: not opt-tool %s -p cse --mlir-print-ir-before=csee 2>&1 | filecheck %s --check-prefix=UNKNOWN

// CHECK:      // -----// IR Dump After CommonSubexpressionElimination (cse) ('func.func' operation: @f) //----- //
// CHECK-NEXT: func.func @f
// CHECK-NEXT:   arith.addi
// CHECK-NEXT:   func.return
// CHECK:      // -----// IR Dump After DeadCodeElimination (dce) //----- //
// CHECK-NEXT: builtin.module {

// BEFORE-NOT: (cse)
// BEFORE:     // -----// IR Dump Before DeadCodeElimination (dce) //----- //

// AFTER:      // -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
// AFTER-NOT:  (dce)

// CHANGE:     // -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
// CHANGE-NOT: (dce)

// BEFORE-ALL: // -----// IR Dump Before CommonSubexpressionElimination (cse) //----- //
// BEFORE-ALL: // -----// IR Dump Before DeadCodeElimination (dce) //----- //

// SCOPE:      // -----// IR Dump After CommonSubexpressionElimination (cse) ('func.func' operation: @f) //----- //
// SCOPE-NEXT: builtin.module {

// UNKNOWN: opt-tool: error: --mlir-print-ir-before/-after: 'csee' does not refer to a registered pass
func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  func.return %b : i32
}
