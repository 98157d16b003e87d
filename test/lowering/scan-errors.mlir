// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %part = te.compute "part" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %part[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y, %z = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) outputs(%out) : tensor<1x4xf32> -> tensor<9x4xf32>, tensor<8x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %scan, %t = schedule.stage "scan" [t]
  // expected-error@+1 {{axis 't' of scan 'scan' is time: its iterations run one after another}}
  schedule.parallel %t
}

// -----

te.kernel @k(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %part = te.compute "part" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %part[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y, %z = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) outputs(%out) : tensor<1x4xf32> -> tensor<9x4xf32>, tensor<8x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %scan, %t = schedule.stage "scan" [t]
  // expected-error@+1 {{axis 't' of scan 'scan' is time: its iterations run one after another}}
  schedule.bind %t "blockIdx.x"
}

// -----

te.kernel @k(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %part = te.compute "part" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %part[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y, %z = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) outputs(%out) : tensor<1x4xf32> -> tensor<9x4xf32>, tensor<8x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %next, %t, %i = schedule.stage "next" [t, i]
  // expected-error@+1 {{stage 'next' is taken by a scan as a whole and cannot be inlined}}
  schedule.compute_inline %next
}

// -----

te.kernel @k(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %part = te.compute "part" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %part[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y, %z = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) outputs(%out) : tensor<1x4xf32> -> tensor<9x4xf32>, tensor<8x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %next, %t, %i = schedule.stage "next" [t, i]
  %out, %u, %j = schedule.stage "out" [t, i]
  // expected-error@+1 {{stage 'next' is a result of scan 'scan', of which every step makes all: compute it at axis 't' of the scan}}
  schedule.compute_at %next, %j
}

// -----

te.kernel @k(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %part = te.compute "part" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %part[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y, %z = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) outputs(%out) : tensor<1x4xf32> -> tensor<9x4xf32>, tensor<8x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %part, %t, %i = schedule.stage "part" [t, i]
  %scan, %u = schedule.stage "scan" [t]
  %o, %n = schedule.split %u factor 4
  // expected-error@+1 {{stage 'part' is part of every step of scan 'scan': compute it at the innermost axis 't.inner'}}
  schedule.compute_at %part, %o
}

// -----

te.kernel @k(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %part = te.compute "part" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %part[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y, %z = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) outputs(%out) : tensor<1x4xf32> -> tensor<9x4xf32>, tensor<8x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %out, %t, %i = schedule.stage "out" [t, i]
  // expected-error@+1 {{stage 'out' is taken by a scan as a whole: its axis 'i' cannot be longer; use cache_write and pad the cache}}
  schedule.pad_to_multiple %i factor 3
}

// -----

te.kernel @k(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %part = te.compute "part" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %part[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y, %z = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) outputs(%out) : tensor<1x4xf32> -> tensor<9x4xf32>, tensor<8x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %out, %t, %i = schedule.stage "out" [t, i]
  // expected-error@+1 {{axis 'i' of stage 'out' belongs to the steps of a scan, whose buffers have no room for padding; use guard}}
  %o, %n = schedule.split %i factor 3 tail pad
}

// -----

// Nor have axes of the scan itself, where nothing reads its results.
te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %scan = te.scan "scan" [t: 1 to 9, b: 4] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  %y = te.compute "y" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %x[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %scan, %t, %b = schedule.stage "scan" [t, b]
  // expected-error@+1 {{axis 'b' of stage 'scan' belongs to the steps of a scan, whose buffers have no room for padding; use guard}}
  %o, %n = schedule.split %b factor 3 tail pad
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y = te.scan "scan" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %first, %t, %i = schedule.stage "first" [t, i]
  %scan, %u = schedule.stage "scan" [t]
  // expected-error@+1 {{stage 'first' is where a scan begins: it is computed at the root}}
  schedule.compute_at %first, %u
}

// -----

te.kernel @k(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %part = te.compute "part" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %part[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y, %z = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) outputs(%out) : tensor<1x4xf32> -> tensor<9x4xf32>, tensor<8x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %scan, %t = schedule.stage "scan" [t]
  // expected-error@+1 {{axis 't' of scan 'scan' is time: tail pad would run steps that there are not; use guard, partition or mask}}
  %o, %n = schedule.split %t factor 3 tail pad
}

// -----

te.kernel @k(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %part = te.compute "part" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %part[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y, %z = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) outputs(%out) : tensor<1x4xf32> -> tensor<9x4xf32>, tensor<8x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %next, %t, %i = schedule.stage "next" [t, i]
  // expected-error@+1 {{stage 'next' is a result of scan 'scan' and lives in its buffer: it has no storage of its own; use cache_write}}
  schedule.set_scope %next "local"
}

// -----

// The parts of time stay in their order, also where one is fused with another axis.

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y = te.scan "scan" [t: 1 to 9, i: 4] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %scan, %t, %i = schedule.stage "scan" [t, i]
  %o, %n = schedule.split %t factor 2
  // expected-error@+1 {{axes 't.outer', 't.inner' of scan 'scan' are time: its iterations run one after another; keep the axes in this order}}
  schedule.reorder %n, %i, %o
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y = te.scan "scan" [t: 1 to 9, i: 4] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %scan, %t, %i = schedule.stage "scan" [t, i]
  %o, %n = schedule.split %t factor 2
  schedule.reorder %o, %i, %n
  %f = schedule.fuse %o, %i
  // expected-error@+1 {{axes 't.outer.i', 't.inner' of scan 'scan' are time: its iterations run one after another; keep the axes in this order}}
  schedule.reorder %n, %f
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y = te.scan "scan" [t: 1 to 9, i: 4] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @k {
  %scan, %t, %i = schedule.stage "scan" [t, i]
  %f = schedule.fuse %t, %i
  // expected-error@+1 {{axis 't.i' of scan 'scan' is time: its iterations run one after another}}
  schedule.parallel %f
}
