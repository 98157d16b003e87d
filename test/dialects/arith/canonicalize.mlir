// RUN: opt-tool %s -p canonicalize | filecheck %s

// A division by 1 is none; one by 0 is left to what runs it, which says 0, and so is that of two numbers.
// CHECK-LABEL: func.func @divisions
// CHECK-SAME:    (%a: i32)
// CHECK-DAG:     %zero = arith.constant 0 : i32
// CHECK-DAG:     %five = arith.constant 5 : i32
// CHECK-NEXT:    %[[Q:.*]] = arith.divsi %a, %zero : i32
// CHECK-NEXT:    %[[R:.*]] = arith.divui %five, %zero : i32
// CHECK-NEXT:    func.return %a, %a, %a, %[[Q]], %[[R]]
func.func @divisions(%a: i32) -> (i32, i32, i32, i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %five = arith.constant 5 : i32
  %0 = arith.divsi %a, %one : i32
  %1 = arith.divui %a, %one : i32
  %2 = arith.floordivsi %a, %one : i32
  %3 = arith.divsi %a, %zero : i32
  %4 = arith.divui %five, %zero : i32
  func.return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
}
