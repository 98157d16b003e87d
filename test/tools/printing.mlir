// RUN: opt-tool %s --mlir-elide-elementsattrs-if-larger=3 | filecheck %s
// RUN: opt-tool %s --mlir-elide-elementsattrs-if-larger=4 | filecheck %s --check-prefix=WHOLE
// RUN: opt-tool %s -mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: opt-tool %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: opt-tool %s --verify-roundtrip --split-input-file | filecheck %s --check-prefix=WHOLE

// CHECK: arith.constant dense_resource<__elided__> : tensor<4xf32>
// WHOLE: arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// GENERIC: "builtin.module"() ({
// GENERIC: "arith.constant"() <{value = dense<
func.func @f() -> tensor<4xf32> {
  %0 = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}
