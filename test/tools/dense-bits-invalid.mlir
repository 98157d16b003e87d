// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @too_many() {
  // expected-error@+1 {{0x1ff800000 are no bits of f32}}
  %a = arith.constant dense<0x1ff800000> : tensor<1xf32>
  func.return
}
