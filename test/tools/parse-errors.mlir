func.func @undeclared_value(%a: i32) {
  %b = arith.addi %a, %missing : i32
  func.return
}
// -----
func.func @unknown_operation(%a: i32) {
  %b = arith.add %a, %a : i32
  func.return
}
// -----
func.func @unknown_dialect(%a: i32) {
  "nowhere.op"() : () -> ()
  func.return
}
// -----
func.func @refused_by_the_constructor(%a: i32) {
  %b = arith.addi %a, %a : f32
  func.return
}

// RUN: not opt-tool %s --split-input-file 2>&1 | filecheck %s --strict-whitespace

// Every part is read; lines are counted through the whole file; a caret stands under the place.

// CHECK:parse-errors.mlir:2:23: error: use of undeclared SSA value name '%missing'{{$}}
// CHECK-NEXT:{{^}}  %b = arith.addi %a, %missing : i32{{$}}
// CHECK-NEXT:{{^ {22}\^$}}
// CHECK-NEXT:parse-errors.mlir:7:8: error: unknown operation 'arith.add'; did you mean 'arith.addi'?{{$}}
// CHECK-NEXT:{{^}}  %b = arith.add %a, %a : i32{{$}}
// CHECK-NEXT:{{^ {7}\^$}}
// CHECK-NEXT:parse-errors.mlir:12:4: error: unknown operation 'nowhere.op': its dialect is not registered (--allow-unregistered-dialect accepts it){{$}}
// CHECK:parse-errors.mlir:17:3: error: Unexpected attribute f32{{$}}
// CHECK-NEXT:{{^}}  %b = arith.addi %a, %a : f32{{$}}
// CHECK-NEXT:{{^}}  ^{{$}}
