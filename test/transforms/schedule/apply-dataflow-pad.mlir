// RUN: opt-tool %s -p schedule-apply-dataflow --check-semantics | filecheck %s

// pad_to_multiple: what is beyond the end is neither read nor reduced, and nobody reads it. An axis that is a multiple
// already stays as it is.

// CHECK-LABEL: te.kernel @pad
// CHECK: te.compute "y" [i: 9, j: 4] reduce [k: 16] : tensor<9x4xf32>
// CHECK-NEXT: te.if_then_else [-i + 7 >= 0] : f32 {
// CHECK-NEXT:   te.if_then_else [-k + 12 >= 0] : f32 {
// CHECK-NEXT:     te.read %x[i, k] : tensor<8x13xf32>
// CHECK: %[[W:.*]] = te.if_then_else [-k + 12 >= 0] : i1 {
// CHECK: te.reduce add %v where %[[W]] : f32
// CHECK: te.compute "z" [i: 8]
// CHECK-NEXT: te.read %y[i, 0] : tensor<9x4xf32>
// CHECK-LABEL: schedule.sequence @pad
// CHECK-NOT: pad_to_multiple
te.kernel @pad(%x: tensor<8x13xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8, j: 4] reduce [k: 13] : tensor<8x4xf32> {
    %v = te.read %x[i, k] : tensor<8x13xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i, 0] : tensor<8x4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @pad {
  %y, %i, %j, %k = schedule.stage "y" [i, j, k]
  schedule.pad_to_multiple %i factor 3
  schedule.pad_to_multiple %j factor 2
  schedule.pad_to_multiple %k factor 8
}

// What does not depend on the longer axis is read all the same, of a tensor of unknown size, too.

// CHECK-LABEL: te.kernel @beside
// CHECK: te.compute "y" [i: 8, j: 8] reduce [k: 13] : tensor<8x8xf32>
// CHECK-NEXT: te.read %x[i, k] : tensor<8x13xf32>
// CHECK-NEXT: te.if_then_else [-j + 4 >= 0] : f32 {
// CHECK-NEXT:   te.read %w[k, j] : tensor<13x5xf32>
// CHECK-NOT: te.if_then_else
// CHECK: te.read %n[0] : tensor<?xf32
te.kernel @beside(%x: tensor<8x13xf32>, %w: tensor<13x5xf32>, %n: tensor<?xf32, #graph.dims<[N]>>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8, j: 5] reduce [k: 13] : tensor<8x5xf32> {
    %a = te.read %x[i, k] : tensor<8x13xf32>
    %b = te.read %w[k, j] : tensor<13x5xf32>
    %c = te.read %n[0] : tensor<?xf32, #graph.dims<[N]>>
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %p, %c : f32
    te.reduce add %q : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i, 0] : tensor<8x5xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @beside {
  %y, %i, %j, %k = schedule.stage "y" [i, j, k]
  schedule.pad_to_multiple %j factor 8
}

// Whether it is read depends on the longer axis here: w has no more elements than j allows.

// CHECK-LABEL: te.kernel @triangle
// CHECK: te.compute "y" [j: 24] reduce [k: 100] : tensor<24xf32>
// CHECK-NEXT: te.if_then_else [j - k >= 0] : f32 {
// CHECK-NEXT:   te.if_then_else [-j + 19 >= 0] : f32 {
// CHECK-NEXT:     te.read %w[k] : tensor<20xf32>
te.kernel @triangle(%w: tensor<20xf32>) -> tensor<20xf32> {
  %y = te.compute "y" [j: 20] reduce [k: 100] : tensor<20xf32> {
    %v = te.if_then_else [j - k >= 0] : f32 {
      %a = te.read %w[k] : tensor<20xf32>
      te.yield %a : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 20] : tensor<20xf32> {
    %v = te.read %y[i] : tensor<20xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<20xf32>
}
schedule.sequence @triangle {
  %y, %j, %k = schedule.stage "y" [j, k]
  schedule.pad_to_multiple %j factor 8
}
