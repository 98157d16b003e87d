func.func @not_produced() {
  // expected-error @below {{something else}}
  func.return
}
// -----
func.func @not_expected() -> i32 {
  func.return
}
// -----
func.func @wrong_severity() -> i32 {
  // expected-warning @below {{Expected arguments}}
  func.return
}

// RUN: not opt-tool %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s

// CHECK:     verify-diagnostics-unmet.mlir:2:6: error: expected error "something else" was not produced
// CHECK:     verify-diagnostics-unmet.mlir:7:3: error: unexpected error: 'func.return' op Expected arguments
// CHECK:     verify-diagnostics-unmet.mlir:12:3: error: unexpected error: 'func.return' op Expected arguments
// CHECK:     verify-diagnostics-unmet.mlir:11:6: error: expected warning "Expected arguments" was not produced
