// RUN: opt-tool %s --pass-pipeline='builtin.module(func.func(cse))' | filecheck %s
// RUN: opt-tool %s -p cse --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: opt-tool --cse %s | filecheck %s
// RUN: opt-tool < %s | filecheck %s --check-prefix=UNCHANGED

// `any` is every operation that uses nothing of what is around it; alone, it is the module.
// RUN: opt-tool %s -p 'builtin.module(any(cse))' | filecheck %s
// RUN: opt-tool %s -p 'any(cse)' | filecheck %s
// RUN: opt-tool %s -p 'any(any(cse))' --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=ANY
// ANY: any(any(cse))
// ANY: %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// ANY-NEXT: arith.muli %[[SUM]], %[[SUM]] : i32

// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK-NEXT:    arith.muli %[[SUM]], %[[SUM]] : i32

// GENERIC: "func.func"()
// GENERIC: "arith.addi"
// GENERIC-NEXT: "arith.muli"

// UNCHANGED-COUNT-2: arith.addi
func.func @twice(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  %c = arith.addi %a, %a : i32
  %d = arith.muli %b, %c : i32
  func.return %d : i32
}
