// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: i + 1] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x8xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %o, %n = schedule.split %i factor 4
  // expected-error@+1 {{axis 'k' of stage 'y' runs to 4 * i.outer + i.inner + 1, which changes with axis 'i.inner' inside it; reorder 'i.inner' outside}}
  schedule.reorder %k, %n
}

// -----

te.kernel @k(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: i + 1] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x8xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  // expected-error@+1 {{axis 'k' of stage 'y' cannot be unrolled: its extent i + 1 is not constant; split it first}}
  schedule.unroll %k
}

// -----

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a, %b = te.compute "both" [i: 8] : tensor<8xf32>, tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v, %v : f32, f32
  }
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %a[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @k {
  %both, %i = schedule.stage "both" [i]
  // expected-error@+1 {{stage 'both' has 2 results and cannot be inlined}}
  schedule.compute_inline %both
}
