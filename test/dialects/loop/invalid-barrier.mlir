// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @operand(%x: index) {
  // expected-error@+1 {{Expected 0 operands, but got 1}}
  "loop.barrier"(%x) : (index) -> ()
  func.return
}
