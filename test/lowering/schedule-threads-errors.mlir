// RUN: opt-tool %s -p schedule-to-loop --split-input-file --verify-diagnostics

// Virtual threads are as many as the kernel says, whatever its inputs.

te.kernel @k(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %y = te.compute "y" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %x[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %y : tensor<?xf32, #graph.dims<[N]>>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  // expected-error@+1 {{axis 'i' of stage 'y' cannot be vthread: its extent N is not constant; split it first}}
  schedule.bind %i "vthread"
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[t, i] : tensor<8x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<8x4xf32>
  %step = te.compute "step" [t: 8, i: 4] : tensor<8x4xf32> {
    %a = te.read %s[t - 1, i] : tensor<8x4xf32>
    te.yield %a : f32
  }
  %scan = te.scan "scan" [t: 1 to 8] init(%first) update(%step) state(%s) : tensor<1x4xf32> -> tensor<8x4xf32>
  te.return %scan : tensor<8x4xf32>
}
schedule.sequence @k {
  %scan, %t = schedule.stage "scan" [t]
  // expected-error@+1 {{vthread cannot run around scan 'scan': every virtual thread would compute all of it; bind an axis of a stage of its steps to vthread}}
  schedule.env_threads %scan "vthread" 2
}
