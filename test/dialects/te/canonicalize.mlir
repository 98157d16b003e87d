// RUN: opt-tool %s -p canonicalize | filecheck %s
// RUN: opt-tool %s -p canonicalize --check-semantics

// Of the conditions only the open one stays; the second choice is always the first region, the third the second.
// CHECK-LABEL: te.kernel @choices
// CHECK:         te.compute "y"
// CHECK-NEXT:      [[A:%[a-z0-9_]+]] = te.if_then_else [i - 3 >= 0] : f32
// CHECK:           [[B:%[a-z0-9_]+]] = te.read %x[i + 1]
// CHECK-NEXT:      [[C:%[a-z0-9_]+]] = te.read %x[i + 2]
// CHECK-NEXT:      arith.addf [[A]], [[B]]
// CHECK-NEXT:      arith.addf {{.*}}, [[C]]
// CHECK-NOT:       te.if_then_else
te.kernel @choices(%x: tensor<12xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %a = te.if_then_else [0 >= 0, i - 3 >= 0, 0 == 0] : f32 {
      %0 = te.read %x[i] : tensor<12xf32>
      te.yield %0 : f32
    } else {
      %1 = te.read %x[i + 3] : tensor<12xf32>
      te.yield %1 : f32
    }
    %b = te.if_then_else [2 >= 0] : f32 {
      %2 = te.read %x[i + 1] : tensor<12xf32>
      te.yield %2 : f32
    } else {
      %3 = te.read %x[i] : tensor<12xf32>
      te.yield %3 : f32
    }
    %c = te.if_then_else [i >= 0, -1 >= 0] : f32 {
      %4 = te.read %x[i] : tensor<12xf32>
      te.yield %4 : f32
    } else {
      %5 = te.read %x[i + 2] : tensor<12xf32>
      te.yield %5 : f32
    }
    %6 = arith.addf %a, %b : f32
    %7 = arith.addf %6, %c : f32
    te.yield %7 : f32
  }
  te.return %y : tensor<8xf32>
}

// The pattern alone, at one place, and where it refuses.
// RUN: opt-tool %s --apply-pattern canonicalize.constant-choice@22 | filecheck %s --check-prefix=ALONE
// ALONE:      te.if_then_else [0 >= 0, i - 3 >= 0, 0 == 0]
// ALONE:      %b = te.read %x[i + 1]
// ALONE-NEXT: %c = te.if_then_else [i >= 0, -1 >= 0]
// RUN: not opt-tool %s --apply-pattern canonicalize.constant-choice --apply-pattern canonicalize.constant-choice@15 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: canonicalize.constant-choice does not match at line 15
