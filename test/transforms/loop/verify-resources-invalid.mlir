// RUN: opt-tool %s -p loop-verify-resources --split-input-file --verify-diagnostics

builtin.module attributes {tilework.targets = "opencl -threads=256 -shared-kib=1"} {
  loop.kernel @threads outs(%y: memref<16x32xf32>) {
    %zero = arith.constant 0.0 : f32
    // expected-error@+1 {{a block has 512 threads (16 of threadIdx.y x 32 of threadIdx.x), and 'opencl -threads=256 -shared-kib=1 -warp=1 -cores=16' allows 256: split the axes by less}}
    loop.for %t = 0 to 16 "t" threadIdx.y {
      loop.for %u = 0 to 32 "u" threadIdx.x {
        loop.store %zero, %y[%t, %u] : memref<16x32xf32>
      }
    }
  }
}

// -----

builtin.module attributes {tilework.targets = "opencl -threads=256 -shared-kib=1"} {
  loop.kernel @shared outs(%y: memref<256xf32>) {
    loop.for %b = 0 to 1 "b" blockIdx.x {
      %s = memref.alloca() : memref<256xf32, "shared">
      // expected-error@+1 {{a block's shared buffers take 1028 bytes with %r, and 'opencl -threads=256 -shared-kib=1 -warp=1 -cores=16' allows 1024: compute the stage at an inner loop, or split by less}}
      %r = memref.alloca() : memref<1xf32, "shared">
      loop.for %t = 0 to 16 "t" threadIdx.x {
        %v = loop.load %s[%t] : memref<256xf32, "shared">
        loop.store %v, %y[%t] : memref<256xf32>
      }
    }
  }
}

// -----

builtin.module attributes {tilework.targets = "opencl"} {
  loop.kernel @own outs(%y: memref<16xf32>) {
    loop.for %t = 0 to 16 "t" threadIdx.x {
      // expected-error@+1 {{a thread's own buffers take 40000 bytes with %a, and 'opencl -threads=256 -shared-kib=32 -warp=1 -cores=16' allows 16384: compute the stage at an inner loop, or split by less}}
      %a = memref.alloca() : memref<10000xf32, "local">
      %v = loop.load %a[%t] : memref<10000xf32, "local">
      loop.store %v, %y[%t] : memref<16xf32>
    }
  }
}

// -----

builtin.module attributes {tilework.targets = "opencl"} {
  loop.kernel @blocks outs(%y: memref<70000xf32>) {
    %zero = arith.constant 0.0 : f32
    // expected-error@+1 {{blockIdx.y has 70000 iterations, and at most 65535 are possible: bind the axis to blockIdx.x, or split it}}
    loop.for %b = 0 to 70000 "b" blockIdx.y {
      loop.store %zero, %y[%b] : memref<70000xf32>
    }
  }
}

// -----

// Neither is there memory of a warp, nor can threads allocate what all blocks see.
builtin.module attributes {tilework.targets = "opencl"} {
  loop.kernel @global outs(%y: memref<16xf32>) {
    loop.for %b = 0 to 16 "b" blockIdx.x {
      // expected-error@+1 {{%g is in memory "global", and threads have only "shared" and "local" memory: put it into one of these, or compute its stage at the root}}
      %g = memref.alloca() : memref<4xf32, "global">
      %v = loop.load %g[0] : memref<4xf32, "global">
      loop.store %v, %y[%b] : memref<16xf32>
    }
  }
}

// -----

builtin.module attributes {tilework.targets = "opencl"} {
  loop.kernel @warp outs(%y: memref<16xf32>) {
    loop.for %t = 0 to 16 "t" threadIdx.x {
      // expected-error@+1 {{%w is in memory "warp", and threads have only "shared" and "local" memory}}
      %w = memref.alloca() : memref<4xf32, "warp">
      %v = loop.load %w[0] : memref<4xf32, "warp">
      loop.store %v, %y[%t] : memref<16xf32>
    }
  }
}
