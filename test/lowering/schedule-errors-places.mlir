// RUN: opt-tool %s -p schedule-to-loop --split-input-file --verify-diagnostics

// What schedule-to-loop refuses of places, threads and storage: stage, axis, reason and remedy, at the schedule's
// operation; a note shows the loop nest with the place marked.

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{axis 'k' of stage 'y' is a reduction: tail pad would count too many elements; use pad_to_multiple}}
  %o, %n = schedule.split %k factor 3 tail pad
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{axis 'i' of stage 'w' belongs to an output of the kernel, whose buffer has no room for padding; use cache_write}}
  %o, %n = schedule.split %l factor 3 tail pad
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  %o, %n = schedule.split %i factor 4
  // expected-error@+1 {{axis 'i.inner' of stage 'y' was made by a split or fuse: only an axis of the tensor is padded; use guard or partition}}
  %p, %q = schedule.split %n factor 3 tail pad
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{axis 'k' of stage 'y' is a reduction: blockIdx.x does not share results; bind it to a threadIdx axis, or rfactor it}}
  schedule.bind %k "blockIdx.x"
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  schedule.bind %i "threadIdx.x"
  // expected-error@+1 {{axis 'i' of stage 'y' is bound to threadIdx.x already; fuse the two, or bind another}}
  schedule.bind %k "threadIdx.x"
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  schedule.bind %i "threadIdx.x"
  // expected-error@+1 {{axis 'i' of stage 'y' is already threadIdx.x; schedule an axis before it is annotated}}
  schedule.vectorize %i
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{no te.intrinsic declares @gemv; there are}}
  schedule.tensorize %i @gemv
}

// -----

te.intrinsic @my.sum(%x: tensor<8x4xf32>) -> tensor<8xf32> attributes {accumulates} {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
te.kernel @k(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 8] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x8xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %ko, %ki = schedule.split %k factor 4
  schedule.reorder %ko, %i, %ki
  // expected-error@+1 {{axis 'i' of stage 'y' cannot be tensorized as @my.sum: loops around run parts of a reduction, and the declaration names no 'reset' that stores its identity}}
  schedule.tensorize %i @my.sum
}

// -----

te.kernel @k(%x: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %y = te.compute "y" [i: 8, j: 4] : tensor<8x4xi32> {
    %v = te.read %x[i, j] : tensor<8x4xi32>
    te.yield %v : i32
  }
  te.return %y : tensor<8x4xi32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, j]
  // expected-error@+1 {{@dot4.ui8i8 is an intrinsic on scalars, which bodies call by te.call_intrinsic}}
  schedule.tensorize %i @dot4.ui8i8
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{stage 'z' is not a reduction: it needs no decomposing}}
  schedule.decompose_reduction %z, %j
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{axis 'i' belongs to stage 'z', not to 'y'; take an axis of 'y'}}
  schedule.decompose_reduction %y, %j
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  %o, %n = schedule.split %k factor 2
  // expected-error@+1 {{stage 'y' cannot be set before axis 'k.inner': every iteration of reduce axis 'k.outer' outside would set it again; take that axis or one outside it}}
  schedule.decompose_reduction %y, %n
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{the reduction of stage 'y' is set before axis 'i', which was split or fused since; decompose it last}}
  schedule.decompose_reduction %y, %i
  %o, %n = schedule.split %i factor 2
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{tail shift of axis 'i' of stage 'y' makes tiles overlap: setting them before 'i.outer' would count elements twice; reorder it inside, or use guard, partition or mask}}
  %o, %n = schedule.split %i factor 3 tail shift
  schedule.decompose_reduction %y, %o
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{stage 'w' cannot follow axis 'i' of stage 'z': it does not read that element by element; use compute_at}}
  schedule.reverse_compute_at %w, %j
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{stage 'w' cannot follow axis 'i' of stage 'y': it does not read that; use compute_at on a producer}}
  schedule.reverse_compute_at %w, %i
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{stage 'z' cannot follow axis 'k' of stage 'y': inside a reduce axis its elements are not finished; take an axis outside the reduction}}
  schedule.reverse_compute_at %z, %k
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  schedule.compute_at %y, %l
  // expected-error@+1 {{stage 'z' cannot follow axis 'i' of stage 'y': 'y' is not at the root; use compute_root}}
  schedule.reverse_compute_at %z, %i
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  %o, %n = schedule.split %i factor 4
  %p, %q = schedule.split %n factor 3
  schedule.reorder %o, %p, %q
  // expected-error@+1 {{stage 'z' cannot follow axis 'i.inner.outer' of stage 'y': one iteration does not make a contiguous part of axis 'i'; take an axis outside its splits, or divide evenly}}
  schedule.reverse_compute_at %z, %p
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  %o, %n = schedule.split %i factor 4
  schedule.reorder %n, %o
  // expected-error@+1 {{stage 'z' cannot follow axis 'i.inner' of stage 'y': one iteration does not make a contiguous part of axis 'i'; take an axis outside its splits, or divide evenly}}
  schedule.reverse_compute_at %z, %n
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{axis 'k' of stage 'y' is not a reduce axis bound to threads: only these would store the same element; bind it first, or leave the predicate out}}
  schedule.set_store_predicate %y, %k == 0
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{stage 'y' is not a scan: threads around it come from its axes; use bind}}
  schedule.env_threads %y "threadIdx.x" 8
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  %g = schedule.create_group outputs(%z) inputs(%y) include_inputs
  // expected-error@+1 {{the group is computed at axis 'i' of stage 'z', which is one of its own; take a stage outside}}
  schedule.compute_at %g, %j
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  %g = schedule.create_group outputs(%z) inputs(%y) include_inputs
  // expected-error@+1 {{stage 'z' is in another group already; groups nest or are apart}}
  %h = schedule.create_group outputs(%w) inputs(%z) include_inputs
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  %g = schedule.create_group outputs(%z) inputs(%y) include_inputs
  // expected-error@+1 {{schedule.set_scope takes a stage, not a group; use the handle of a compute}}
  schedule.set_scope %g "local"
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  %x = schedule.argument 0
  // expected-error@+1 {{schedule.compute_at takes a stage, not an argument of the kernel; use the handle of a compute}}
  schedule.compute_at %x, %i
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{kernel @k has no argument 3; it has 1, from 0 on}}
  %x = schedule.argument 3
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  %o, %n = schedule.split %i factor 4
  // expected-error@+1 {{axis 'i.inner' of stage 'y' is no dimension of its tensor: only those have strides; align one of [i]}}
  schedule.storage_align %n factor 8 offset 1
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{storage_align of stage 'y': its buffer is not allocated in a loop; use compute_at}}
  schedule.storage_align %i factor 8 offset 1
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{double_buffer of stage 'y': its buffer is not allocated in a loop; use compute_at}}
  schedule.double_buffer %y
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  schedule.compute_at %y, %j
  // expected-error@+1 {{prefetch at axis 'i' of stage 'z': the tensor lives in a buffer made in a loop, near already; prefetch an argument of the kernel, or a stage at the root}}
  schedule.prefetch %y, %j offset 1
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
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %v = te.read %z[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %w, %l = schedule.stage "w" [i]
  // expected-error@+1 {{stage 'y' of scope register is at the root; compute it at a consumer's axis}}
  schedule.set_scope %y "register"
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
  // expected-error@+1 {{tail pad of axis 'i' of stage 'y' needs a constant extent, not N; use guard, partition or mask}}
  %o, %n = schedule.split %i factor 4 tail pad
}

// -----

// A consumer that reads something else, which is computed after the producer.

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %u = te.compute "u" [i: 8] : tensor<8xf32> {
    %v = te.read %x[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %a = te.read %y[i] : tensor<8xf32>
    %b = te.read %u[i] : tensor<8xf32>
    %v = arith.addf %a, %b : f32
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  %z, %j = schedule.stage "z" [i]
  // expected-error@+1 {{stage 'z' cannot follow axis 'i' of stage 'y': it also needs 'u', which is not finished there; compute that one inside it}}
  schedule.reverse_compute_at %z, %i
}

// -----

// So does what is computed inside that consumer: it reads all of the producer.

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %u = te.compute "u" [i: 8] : tensor<8xf32> {
    %v = te.read %y[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %a = te.read %y[i] : tensor<8xf32>
    %b = te.read %u[i] : tensor<8xf32>
    %v = arith.addf %a, %b : f32
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  %u, %l = schedule.stage "u" [i]
  %z, %j = schedule.stage "z" [i]
  schedule.compute_at %u, %j
  // expected-error@+1 {{stage 'z' cannot follow axis 'i' of stage 'y': it also needs 'y', which is not finished there; compute that one inside it}}
  schedule.reverse_compute_at %z, %i
}

// -----

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %first = te.compute "first" [t: 1] : tensor<1xf32> {
    %v = te.read %x[t] : tensor<8xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<8xf32>
  %step = te.compute "step" [t: 8] : tensor<8xf32> {
    %a = te.read %s[t - 1] : tensor<8xf32>
    te.yield %a : f32
  }
  %scan = te.scan "scan" [t: 1 to 8] init(%first) update(%step) state(%s) : tensor<1xf32> -> tensor<8xf32>
  te.return %scan : tensor<8xf32>
}
schedule.sequence @k {
  %scan, %t = schedule.stage "scan" [t]
  schedule.env_threads %scan "threadIdx.x" 8
  // expected-error@+1 {{threadIdx.x runs around scan 'scan' already; a thread axis is launched once}}
  schedule.env_threads %scan "threadIdx.x" 4
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
  schedule.parallel %j
  schedule.compute_at %y, %j
  // expected-error@+1 {{stage 'y' cannot have a double buffer: axis 'i' of stage 'z' is parallel; compute it at an axis that runs serially}}
  schedule.double_buffer %y
}

// -----

// Two stages inside each other, and one before them whose place depends on what is around whom.

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = te.compute "a" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %b = te.compute "b" [i: 8] : tensor<8xf32> {
    %v = te.read %a[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %c = te.compute "c" [i: 8] : tensor<8xf32> {
    %v = te.read %b[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %d = te.compute "d" [i: 8] : tensor<8xf32> {
    %v = te.read %c[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %e = te.compute "e" [i: 8] : tensor<8xf32> {
    %v = te.read %d[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %e : tensor<8xf32>
}
schedule.sequence @k {
  %a, %i = schedule.stage "a" [i]
  %b, %j = schedule.stage "b" [i]
  %c, %k = schedule.stage "c" [i]
  %d, %l = schedule.stage "d" [i]
  schedule.reverse_compute_at %b, %i
  schedule.compute_at %c, %l
  // expected-error@+1 {{stage 'd' is computed at 'c', which does not consume it; take a consumer}}
  schedule.compute_at %d, %k
}

// -----

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = te.compute "a" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %b = te.compute "b" [i: 8] : tensor<8xf32> {
    %v = te.read %a[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %b : tensor<8xf32>
}
schedule.sequence @k {
  %b, %i = schedule.stage "b" [i]
  // expected-error@+1 {{stage 'b' cannot follow axis 'i' of stage 'b': 'b' is not at the root; use compute_root}}
  schedule.reverse_compute_at %b, %i
}
