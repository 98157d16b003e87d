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
  // expected-error@+1 {{the new stage has axes [i.outer, i.inner, k], not [i, k]; name those}}
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
  // expected-error@+1 {{stage 'y' has a cache in scope local already; use that one}}
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
  // expected-error@+1 {{the new stage has axes [i, k], not [i]; name those}}
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
  schedule.vectorize %n
  // expected-error@+1 {{cache_write of stage 'y' comes after schedule.vectorize used its axes: only splits, fuses and reorders become a layout; call it first}}
  %c, %co, %ci, %ck = schedule.cache_write %y "local" [i.outer, i.inner, k]
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
  %o, %n = schedule.split %k factor 2
  // expected-error@+1 {{cache_write of stage 'y' comes after its reduce axes were scheduled: a layout is made within data parallel axes only; schedule those of the cache instead}}
  %c, %ci, %ck, %cl = schedule.cache_write %y "local" [i, k.outer, k.inner]
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
  %o, %n = schedule.split %i factor 3 tail mask
  // expected-error@+1 {{the split of axis 'i' of stage 'y' becomes a layout, which has no tail mask; use guard}}
  %c, %ci, %cj, %ck = schedule.cache_write %y "local" [i.outer, i.inner, k]
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
  %o, %n = schedule.split %i factor 3
  %c, %ci, %cj, %ck = schedule.cache_write %y "local" [i.outer, i.inner, k]
  // expected-error@+1 {{schedule.parallel uses axis 'o', which is a dimension of the cache of stage 'y' now; take the axes of stage 'y' anew with schedule.stage "y"}}
  schedule.parallel %o
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
  // expected-error@+1 {{stage 'y' does not read 'y'; 'z' does}}
  %c, %a = schedule.cache_read %y "local" readers(%y) [a]
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
  // expected-error@+1 {{cache_read of 'y' names 2 axes; it has 1 dimensions, name each}}
  %c, %a, %b = schedule.cache_read %y "local" readers(%z) [a, b]
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
  // expected-error@+1 {{kernel @k has no argument 1; it has 1, from 0 on}}
  %x = schedule.argument 1
  %c, %a, %b = schedule.cache_read %x "local" readers(%y) [a, b]
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
  %x = schedule.argument 0
  // expected-error@+1 {{schedule.compute_inline takes a stage, not what schedule.argument gives; use the handle of a compute}}
  schedule.compute_inline %x
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
  // expected-error@+1 {{axis 'k' is the only reduce axis of stage 'y': split it first}}
  %r, %a, %b, %c = schedule.rfactor %y, %k at 0 [k, i]
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
  // expected-error@+1 {{axis 'i' of stage 'y' is not a reduce axis of stage 'y'; take one of [k]}}
  %r, %a, %b, %c = schedule.rfactor %y, %i at 0 [k, i]
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
  %o, %n = schedule.split %k factor 2
  // expected-error@+1 {{position 2 is none of a tensor of 2 dimensions; take 0 to 1}}
  %r, %a, %b, %c, %d = schedule.rfactor %y, %n at 2 [i, k.inner, k.outer]
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
  %o, %n = schedule.split %k factor 2
  // expected-error@+1 {{the new stage has axes [i, k.inner, k.outer], not [k.inner, i, k.outer]; name those}}
  %r, %a, %b, %c, %d = schedule.rfactor %y, %n at 1 [k.inner, i, k.outer]
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
  %o, %n = schedule.split %k factor 3 tail partition
  // expected-error@+1 {{the split of axis 'k' of stage 'y' becomes a stage, which has no tail partition; use guard}}
  %r, %a, %b, %c, %d = schedule.rfactor %y, %n at 0 [k.inner, i, k.outer]
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
  %o, %n = schedule.split %k factor 2
  schedule.unroll %o
  // expected-error@+1 {{rfactor of stage 'y' comes after schedule.unroll used its reduce axes; call it first}}
  %r, %a, %b, %c, %d = schedule.rfactor %y, %n at 0 [k.inner, i, k.outer]
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
  %o, %n = schedule.split %k factor 2
  %r, %a, %b, %c, %d = schedule.rfactor %y, %n at 0 [k.inner, i, k.outer]
  // expected-error@+1 {{schedule.unroll uses axis 'o', which rfactor has taken from stage 'y'; use the axes that schedule.rfactor gives}}
  schedule.unroll %o
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
  // expected-error@+1 {{stage 'z' is an output of the kernel, whose axis 'i' cannot be longer; use cache_write and pad the cache}}
  schedule.pad_to_multiple %j factor 3
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
  // expected-error@+1 {{axis 'n' was made by a split or fuse: only an axis of a tensor is padded; pad before splitting}}
  schedule.pad_to_multiple %n factor 3
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4, l: i] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k, %l = schedule.stage "y" [i, k, l]
  // expected-error@+1 {{the extent i of axis 'l' depends on other axes; rfactor another}}
  %r, %a, %b, %c, %d = schedule.rfactor %y, %l at 0 [l, i, k]
}

// -----

// What is part of every step of a scan has time as its first dimension.

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %first = te.compute "first" [t: 1] : tensor<1xf32> {
    %v = te.read %x[t, 0] : tensor<8x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<8xf32>
  %sum = te.compute "sum" [t: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[t, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %step = te.compute "step" [t: 8] : tensor<8xf32> {
    %a = te.read %s[t - 1] : tensor<8xf32>
    %b = te.read %sum[t] : tensor<8xf32>
    %v = arith.addf %a, %b : f32
    te.yield %v : f32
  }
  %scan = te.scan "scan" [t: 1 to 8] init(%first) update(%step) state(%s) : tensor<1xf32> -> tensor<8xf32>
  te.return %scan : tensor<8xf32>
}
schedule.sequence @k {
  %step, %t = schedule.stage "step" [t]
  %o, %n = schedule.split %t factor 2
  // expected-error@+1 {{stage 'step' is part of every step of scan 'scan': axis 't' is time and stays its first dimension}}
  %c, %a, %b = schedule.cache_write %step "local" [t.outer, t.inner]
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %first = te.compute "first" [t: 1] : tensor<1xf32> {
    %v = te.read %x[t, 0] : tensor<8x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<8xf32>
  %step = te.compute "step" [t: 8] reduce [k: 4] : tensor<8xf32> {
    %a = te.read %s[t - 1] : tensor<8xf32>
    %b = te.read %x[t, k] : tensor<8x4xf32>
    %v = arith.addf %a, %b : f32
    te.reduce add %v : f32
  }
  %scan = te.scan "scan" [t: 1 to 8] init(%first) update(%step) state(%s) : tensor<1xf32> -> tensor<8xf32>
  te.return %scan : tensor<8xf32>
}
schedule.sequence @k {
  %step, %t, %k = schedule.stage "step" [t, k]
  %o, %n = schedule.split %k factor 2
  // expected-error@+1 {{stage 'step' is part of every step of scan 'scan': axis 't' is time and stays its first dimension; take 1 to 1}}
  %r, %a, %b, %c, %d = schedule.rfactor %step, %n at 0 [k.inner, t, k.outer]
}

// -----

// What only joins elements with what there is so far is not joined in parts.

te.kernel @squares(%x: tensor<4x12xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] reduce [k: 12] : tensor<4xf32> {
    %v = te.read %x[i, k] : tensor<4x12xf32>
    te.reduce %v from [0.0 : f32] : f32 {
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %b, %b : f32
      %s = arith.addf %a, %p : f32
      te.yield %s : f32
    }
  }
  te.return %y : tensor<4xf32>
}
schedule.sequence @squares {
  %y, %i, %k = schedule.stage "y" [i, k]
  %k_o, %k_i = schedule.split %k factor 4
  // expected-error@+1 {{rfactor of stage 'y' joins parts of its elements by themselves: reducer(1, 2) is 5 but reducer(2, 1) is 3: a reducer is commutative}}
  %rf, %i_1, %k_i_1, %k_o_1, %k_1 = schedule.rfactor %y, %k_i at 1 [i, k.inner, k.outer]
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
  schedule.unroll %k
  // expected-error@+1 {{cache_write of stage 'y' comes after schedule.unroll used its reduction, which moves into the cache; call it first}}
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
  schedule.decompose_reduction %y, %i
  // expected-error@+1 {{cache_write of stage 'y' comes after schedule.decompose_reduction used its reduction, which moves into the cache; call it first}}
  %c, %ci, %ck = schedule.cache_write %y "local" [i, k]
}

// -----

// A scan is not rewritten, nor is it a reader.

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %first = te.compute "first" [t: 1] : tensor<1xf32> {
    %v = te.read %x[t] : tensor<8xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<8xf32>
  %step = te.compute "step" [t: 8] : tensor<8xf32> {
    %a = te.read %s[t - 1] : tensor<8xf32>
    %b = te.read %x[t] : tensor<8xf32>
    %v = arith.addf %a, %b : f32
    te.yield %v : f32
  }
  %scan = te.scan "scan" [t: 1 to 8] init(%first) update(%step) state(%s) : tensor<1xf32> -> tensor<8xf32>
  te.return %scan : tensor<8xf32>
}
schedule.sequence @k {
  %scan, %t = schedule.stage "scan" [t]
  %step, %u = schedule.stage "step" [t]
  // expected-error@+1 {{schedule.cache_read of scan 'scan', which is not rewritten; rewrite the stages of its steps}}
  %c, %a = schedule.cache_read %step "local" readers(%scan) [a]
}

// -----

// What is asked of one stage among several is what it would be asked of it alone.
te.kernel @two(%x: tensor<10xf32>) -> tensor<10xf32> {
  %a = te.compute "a" [i: 10] : tensor<10xf32> {
    %0 = te.read %x[i] : tensor<10xf32>
    te.yield %0 : f32
  }
  %b = te.compute "b" [i: 10] : tensor<10xf32> {
    %1 = te.read %a[i] : tensor<10xf32>
    te.yield %1 : f32
  }
  te.return %b : tensor<10xf32>
}
schedule.sequence @two {
  %b, %bi = schedule.stage "b" [i]
  %a, %ai = schedule.stage "a" [i]
  %ao, %an = schedule.split %ai factor 4 tail pad
  // expected-error @below {{the split of axis 'i' of stage 'a' becomes a layout, which has no tail pad; use guard}}
  %c, %co, %cn = schedule.cache_write %a "global" [i.outer, i.inner]
}
