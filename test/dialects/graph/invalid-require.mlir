// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f() {
  // expected-error@+1 {{no condition can be met where there is none}}
  graph.require [] "never"
  func.return
}

// -----

func.func @f() {
  // expected-error@+1 {{expected a positive divisor}}
  graph.require [N mod 0 == 0] "never"
  func.return
}
