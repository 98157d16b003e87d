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
