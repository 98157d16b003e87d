// RUN: opt-tool %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(schedule-apply-dataflow,schedule-to-loop)'

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  %e = te.extern "e" ins(%a = %y : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %a[%i] : memref<4xf32>
      loop.store %v, %b[%i] : memref<4xf32>
    }
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %e[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<4xf32>
}
schedule.sequence @k {
  %e = schedule.stage "e" []
  %z, %j = schedule.stage "z" [i]
  // expected-error@+1 {{extern 'e' runs as a whole, at the root: it takes set_scope, nothing else}}
  schedule.compute_at %e, %j
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  %e = te.extern "e" ins(%a = %y : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %a[%i] : memref<4xf32>
      loop.store %v, %b[%i] : memref<4xf32>
    }
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %e[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<4xf32>
}
schedule.sequence @k {
  %e = schedule.stage "e" []
  %y, %i = schedule.stage "y" [i]
  // expected-error@+1 {{extern 'e' runs as a whole, at the root: it takes set_scope, nothing else}}
  schedule.reverse_compute_at %e, %i
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  %e = te.extern "e" ins(%a = %y : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %a[%i] : memref<4xf32>
      loop.store %v, %b[%i] : memref<4xf32>
    }
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %e[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<4xf32>
}
schedule.sequence @k {
  %e = schedule.stage "e" []
  // expected-error@+1 {{extern 'e' runs as a whole, at the root: it takes set_scope, nothing else}}
  schedule.double_buffer %e
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  %e = te.extern "e" ins(%a = %y : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %a[%i] : memref<4xf32>
      loop.store %v, %b[%i] : memref<4xf32>
    }
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %e[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<4xf32>
}
schedule.sequence @k {
  %e = schedule.stage "e" []
  // expected-error@+1 {{extern 'e' runs as a whole: it takes set_scope, and no axis}}
  %s = schedule.singleton %e
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  %e = te.extern "e" ins(%a = %y : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %a[%i] : memref<4xf32>
      loop.store %v, %b[%i] : memref<4xf32>
    }
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %e[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<4xf32>
}
schedule.sequence @k {
  %e = schedule.stage "e" []
  // expected-error@+1 {{schedule.compute_inline of extern 'e': it takes set_scope, and is not rewritten}}
  schedule.compute_inline %e
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  %e = te.extern "e" ins(%a = %y : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %a[%i] : memref<4xf32>
      loop.store %v, %b[%i] : memref<4xf32>
    }
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %e[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<4xf32>
}
schedule.sequence @k {
  %e = schedule.stage "e" []
  // expected-error@+1 {{schedule.cache_write of extern 'e': it takes set_scope, and is not rewritten}}
  %c = schedule.cache_write %e "local" []
}

// -----

// What an extern reads is there as a whole.

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  %e = te.extern "e" ins(%a = %y : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %a[%i] : memref<4xf32>
      loop.store %v, %b[%i] : memref<4xf32>
    }
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %e[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<4xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  %z, %j = schedule.stage "z" [i]
  // expected-error@+1 {{stage 'y' is read whole by extern 'e': it is computed at the root}}
  schedule.compute_at %y, %j
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  %e = te.extern "e" ins(%a = %y : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %a[%i] : memref<4xf32>
      loop.store %v, %b[%i] : memref<4xf32>
    }
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %e[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<4xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  // expected-error@+1 {{stage 'y' is taken by an extern as a whole and cannot be inlined}}
  schedule.compute_inline %y
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  %e = te.extern "e" ins(%a = %y : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %a[%i] : memref<4xf32>
      loop.store %v, %b[%i] : memref<4xf32>
    }
  }
  %z = te.compute "z" [i: 4] : tensor<4xf32> {
    %v = te.read %e[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<4xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  // expected-error@+1 {{stage 'y' is taken by an extern as a whole: its axis 'i' cannot be longer; use cache_write and pad the cache}}
  schedule.pad_to_multiple %i factor 8
}
