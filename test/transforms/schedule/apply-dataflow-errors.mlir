// RUN: opt-tool %s -p schedule-apply-dataflow --split-input-file --verify-diagnostics

// What schedule-apply-dataflow refuses.

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  // expected-error@+1 {{stage 'y' is a reduction and cannot be inlined; use compute_at}}
  schedule.compute_inline %y
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  // expected-error@+1 {{stage 'z' is an output of the kernel and cannot be inlined}}
  schedule.compute_inline %z
}

// -----

te.kernel @k(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %y = te.compute "y" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %x[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %y[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %z : tensor<?xf32, #graph.dims<[N]>>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  %z, %j = schedule.stage "z" [i]
  schedule.vectorize %i
  // expected-error@+1 {{stage 'y' is inlined, so it cannot be scheduled: schedule.vectorize uses it}}
  schedule.compute_inline %y
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %o, %n = schedule.split %i factor 2
  // expected-error@+1 {{cache_write of stage 'y' comes after its axes were scheduled; call it first}}
  %c, %ci, %ck = schedule.cache_write %y "local" [i, k]
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  // expected-error@+1 {{after cache_write stage 'y' has no reduce axes; schedule those of the cache instead}}
  %c, %ci, %ck = schedule.cache_write %y "local" [i, k]
  schedule.unroll %k
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %c, %ci, %ck = schedule.cache_write %y "local" [i, k]
  // expected-error@+1 {{stage 'y' has a cache in scope local already}}
  %d, %di = schedule.cache_write %y "local" [i]
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  // expected-error@+1 {{the cache has axes [i, k], not [i]}}
  %c, %ci = schedule.cache_write %y "local" [i]
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @k {
  %q, %i = schedule.stage "q" [i]
  // expected-error@+1 {{kernel @k has no stage 'q'; its stages are y, z}}
  schedule.compute_inline %q
}
