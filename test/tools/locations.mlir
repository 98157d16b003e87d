// RUN: opt-tool %s --mlir-print-debuginfo | filecheck %s
// RUN: opt-tool %s --mlir-print-debuginfo --mlir-print-op-generic | opt-tool - --mlir-print-debuginfo | filecheck %s

// An alias may be used before it is defined, as MLIR prints them.
// CHECK:      func.func @f
// CHECK-NEXT:   arith.addi {{.*}} loc("{{.*}}locations.mlir":11:3)
// CHECK-NEXT:   arith.muli {{.*}} loc("model.onnx":7:1)
// CHECK-NEXT:   arith.muli {{.*}} loc("conv_1"("model.onnx":7:1))
func.func @f(%a: i32 loc(#loc1)) -> i32 {

  %b = arith.addi %a, %a : i32
  %c = arith.muli %b, %b : i32 loc(#loc1)
  %d = arith.muli %c, %b : i32 loc(#loc2)
  func.return %d : i32
}
#loc1 = loc("model.onnx":7:1)
#loc2 = loc("conv_1"(#loc1))
