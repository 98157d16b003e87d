// RUN: opt-tool %s -p schedule-to-loop --split-input-file --verify-diagnostics

// What schedule-to-loop refuses: the message names stage, axis and reason, at the schedule's operation.

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
  // expected-error@+1 {{kernel @k has no stage 'q'; its stages are y, z}}
  %q, %i = schedule.stage "q" [i]
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
  // expected-error@+1 {{stage 'y' has axes [i, k], not [i]}}
  %y, %i = schedule.stage "y" [i]
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
  // expected-error@+1 {{stage 'y' has a handle already}}
  %y2, %i2, %k2 = schedule.stage "y" [i, k]
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
  // expected-error@+1 {{axis 'k' of stage 'y' is a reduction and cannot be vectorized: its iterations write the same element}}
  schedule.vectorize %k
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
  // expected-error@+1 {{axis 'k' of stage 'y' is a reduction and cannot be parallel}}
  schedule.parallel %k
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
  // expected-error@+1 {{axis 'k' of stage 'y' is a reduction: tail shift would count elements twice; use guard, partition or mask}}
  %o, %n = schedule.split %k factor 3 tail shift
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
  schedule.parallel %i
  // expected-error@+1 {{axis 'i' of stage 'y' is already parallel}}
  schedule.unroll %i
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
  // expected-error@+1 {{cannot fuse spatial with reduce axes of stage 'y': 'i', 'k'}}
  %f = schedule.fuse %i, %k
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
  // expected-error@+1 {{axes 'i.inner', 'i.outer' of stage 'y' are not adjacent in this order; reorder first}}
  %f = schedule.fuse %n, %o
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
  // expected-error@+1 {{the axes belong to stages 'y' and 'z'}}
  schedule.reorder %i, %j
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
  // expected-error@+1 {{stage 'z' is computed at 'y', which does not consume it; take a consumer}}
  schedule.compute_at %z, %i
}

// -----

// Of an output, every second element would be missing.
te.kernel @k(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %y[i * 2] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %y, %z : tensor<8xf32>, tensor<4xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  %z, %j = schedule.stage "z" [i]
  // expected-error@+1 {{stage 'y' is an output of the kernel, and its consumers do not read all of it element by element: compute it at the root}}
  schedule.compute_at %y, %j
}

// -----

// Each row of the product needs all sums, so that threads would store them together.
te.kernel @k(%x: tensor<8x4xf32>) -> (tensor<8xf32>, tensor<4x8xf32>) {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 4, j: 8] : tensor<4x8xf32> {
    %v = te.read %y[j] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %y, %z : tensor<8xf32>, tensor<4x8xf32>
}
schedule.sequence @k {
  %y, %l, %k = schedule.stage "y" [i, k]
  %z, %i, %j = schedule.stage "z" [i, j]
  schedule.parallel %i
  // expected-error@+1 {{stage 'y' is an output of the kernel, and iterations of parallel axis 'i' may store the same element: take another axis}}
  schedule.compute_at %y, %j
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
  // expected-error@+1 {{stage 'y' is computed at axis 'i' of stage 'z', which is not a leaf: it was split or fused}}
  schedule.compute_at %y, %j
  %o, %n = schedule.split %j factor 2
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
  schedule.vectorize %j
  // expected-error@+1 {{stage 'y' cannot be computed inside the vectorized axis 'i'}}
  schedule.compute_at %y, %j
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
  // expected-error@+1 {{stage 'y' is computed at 'y', which does not consume it}}
  schedule.compute_at %y, %i
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
  // expected-error@+1 {{axis 'i' of stage 'z' cannot be vectorized: its extent N is not constant; split it first}}
  schedule.vectorize %j
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
  // expected-error@+1 {{axis 'i' of stage 'z' cannot be unrolled: its extent N is not constant}}
  schedule.unroll %j
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
  // expected-error@+1 {{tail shift of axis 'i' of stage 'z' needs a constant extent, not N; use guard, partition or mask}}
  %o, %n = schedule.split %j factor 4 tail shift
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
  // expected-error@+1 {{tail mask of axis 'i' of stage 'z' makes the inner axis depend on the outer: both must stay leaves, the outer one outside}}
  %o, %n = schedule.split %j factor 4 tail mask
  schedule.reorder %n, %o
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
  // expected-error@+1 {{schedule.cache_write rewrites the kernel: run schedule-apply-dataflow first}}
  %c, %ci, %ck = schedule.cache_write %y "local" [i, k]
}

// -----

// expected-error@+1 {{schedule of @nothing, but there is no such kernel}}
schedule.sequence @nothing {
}

// -----

// Overlapping tiles below a reduce axis (found by fuzzing: elements of two tiles were added twice).

te.kernel @k(%x: tensor<7x4xf32>) -> tensor<7xf32> {
  %y = te.compute "y" [i: 7] reduce [k: 4] : tensor<7xf32> {
    %v = te.read %x[i, k] : tensor<7x4xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<7xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  // expected-error@+1 {{tail shift of axis 'i' of stage 'y' makes tiles overlap: reduce axis 'k' outside 'i.outer' would count elements twice; reorder it inside, or use guard, partition or mask}}
  %o, %n = schedule.split %i factor 4 tail shift
  schedule.reorder %k, %o, %n
}

// -----

// expected-error@+1 {{result 1 of kernel @k is an argument: compute a copy}}
te.kernel @k(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %y, %x : tensor<8xf32>, tensor<8xf32>
}
