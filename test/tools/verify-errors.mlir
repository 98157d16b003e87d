func.func @wrong_return(%a: i32) -> i32 {
  func.return
}
// -----
func.func @use_before_definition(%a: i32) {
  %c = arith.addi %b, %a : i32
  %b = arith.addi %a, %a : i32
  func.return
}

// RUN: not opt-tool %s --split-input-file 2>&1 | filecheck %s --strict-whitespace

// CHECK:verify-errors.mlir:2:3: error: 'func.return' op Expected arguments to have the same types as the function output types
// CHECK-NEXT:{{^}}  func.return{{$}}
// CHECK-NEXT:{{^}}  ^{{$}}
// CHECK-NEXT:verify-errors.mlir:2:3: note: see current operation: "func.return"() : () -> ()
// CHECK-NEXT:verify-errors.mlir:6:3: error: 'arith.addi' op operand #0 does not dominate this use
// CHECK:verify-errors.mlir:6:3: note: see current operation: %c = "arith.addi"(%b, %a)
// CHECK-NEXT:verify-errors.mlir:7:3: note: operand defined here
// CHECK-NEXT:{{^}}  %b = arith.addi %a, %a : i32{{$}}
// CHECK-NEXT:{{^}}  ^{{$}}
// RUN: not opt-tool %s --split-input-file --mlir-print-op-on-diagnostic=false 2>&1 | filecheck %s --check-prefix=SHORT
// SHORT-NOT: see current operation
// SHORT:     verify-errors.mlir:7:3: note: operand defined here
// SHORT-NOT: see current operation
