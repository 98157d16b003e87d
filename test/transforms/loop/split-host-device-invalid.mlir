// RUN: opt-tool %s -p loop-split-host-device --split-input-file --verify-diagnostics

loop.kernel @unbound ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  // expected-error@+1 {{what stores to %y is bound to no threads: bind axes of the stage to blockIdx and threadIdx, or give no schedule}}
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %x[%i] : memref<8xf32>
    loop.store %v, %y[%i] : memref<8xf32>
  }
}

// -----

loop.kernel @outside ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  // expected-error@+1 {{'loop.load' is outside of all threads, and what is inside needs it}}
  %v = loop.load %x[0] : memref<8xf32>
  loop.for %b = 0 to 8 "b" blockIdx.x {
    loop.store %v, %y[%b] : memref<8xf32>
  }
}
