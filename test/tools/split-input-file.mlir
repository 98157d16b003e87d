// RUN: opt-tool %s --split-input-file | filecheck %s
// RUN: opt-tool %s -split-input-file=true -p cse | filecheck %s
// RUN: not opt-tool %s --split-input-file=false 2>&1 | filecheck %s --check-prefix=WHOLE

// CHECK:      func.func @f
// CHECK:      // -----
// CHECK-NEXT: builtin.module {
// CHECK-NEXT:   func.func @f
// WHOLE:      error: redefinition of symbol named 'f'
func.func @f() {
  func.return
}
// -----
func.func @f() {
  func.return
}
