// RUN: opt-tool %s -p loop-vectorize --split-input-file --verify-diagnostics

// A reduction over lanes.
loop.kernel @reduction ins(%x: memref<16xf32>) outs(%y: memref<1xf32>) {
  // expected-error@+1 {{loop 'k' cannot be vectorized: %y[0] of one lane is %y[0] of another; reduce into separate elements first, or leave the loop serial}}
  loop.for %k = 0 to 16 "k" vectorized {
    %v = loop.load %x[%k] : memref<16xf32>
    %old = loop.load %y[0] : memref<1xf32>
    %new = arith.addf %old, %v : f32
    loop.store %new, %y[0] : memref<1xf32>
  }
}

// -----

// A recurrence: a lane reads what the lane before it writes.
loop.kernel @recurrence outs(%y: memref<17xf32>) {
  // expected-error@+1 {{loop 'i' cannot be vectorized: %y[i] of one lane is %y[i + 1] of another}}
  loop.for %i = 0 to 16 "i" vectorized {
    %v = loop.load %y[%i] : memref<17xf32>
    loop.store %v, %y[%i + 1] : memref<17xf32>
  }
}

// -----

// Elements that are as far apart as there are lanes do not meet.
loop.kernel @apart outs(%y: memref<32xf32>) {
  loop.for %i = 0 to 16 "i" vectorized {
    %v = loop.load %y[%i] : memref<32xf32>
    loop.store %v, %y[%i + 16] : memref<32xf32>
  }
}

// -----

loop.kernel @not_flat outs(%y: memref<4x4xf32>) {
  loop.for %i = 0 to 4 "i" vectorized {
    %v = arith.constant 1.0 : f32
    // expected-error@+1 {{loop.store has 2 subscripts: run loop-flatten-storage first}}
    loop.store %v, %y[%i, 0] : memref<4x4xf32>
  }
}
