// RUN: opt-tool %s -p loop-map-threads --split-input-file --verify-diagnostics

// The stage is bound to blocks alone, and 16 threads of a block run it.
loop.kernel @all ins(%x: memref<16xf32>) outs(%y: memref<16xf32>, %z: memref<1xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    loop.for %t = 0 to 16 "t" threadIdx.x {
      %v = loop.load %x[%t] : memref<16xf32>
      loop.store %v, %y[%t] : memref<16xf32>
    }
    %w = loop.load %x[0] : memref<16xf32>
    // expected-error@+1 {{every thread of threadIdx.x would store to %z here: bind an axis of the stage to it}}
    loop.store %w, %z[0] : memref<1xf32>
  }
}

// -----

// A thread would read its own copy of what another one has written.
loop.kernel @foreign ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %a = memref.alloca() : memref<16xf32, "local">
    loop.for %t = 0 to 16 "t" threadIdx.x {
      %v = loop.load %x[%t] : memref<16xf32>
      loop.store %v, %a[%t] : memref<16xf32, "local">
    }
    loop.for %u = 0 to 16 "u" threadIdx.x {
      // expected-error@+1 {{%a is "local", of which every thread has its own, and a thread reads here what others write: put it into "shared"}}
      %w = loop.load %a[-%u + 15] : memref<16xf32, "local">
      loop.store %w, %y[%u] : memref<16xf32>
    }
  }
}

// -----

loop.kernel @differs ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N, %M) {
  loop.for %b = 0 to %N "b" blockIdx.x {
    // expected-error@+1 {{loop 'c' has M iterations on blockIdx.x, which has N: which is more is not known; give both axes the same extent}}
    loop.for %c = 0 to %M "c" blockIdx.x {
      %v = loop.load %x[%c] : memref<?xf32>
      loop.store %v, %y[%c] : memref<?xf32>
    }
  }
}

// -----

// A thread cannot be number t of the outer loop and number u of the inner one.
loop.kernel @meeting ins(%x: memref<4x4xf32>) outs(%y: memref<4x4xf32>) {
  // expected-note@+1 {{the loop around}}
  loop.for %t = 0 to 4 "t" threadIdx.x {
    // expected-error@+1 {{loop 'u' deals its iterations out to the threads of threadIdx.x, and what it does is for one iteration of loop 't', which has these threads already: bind one of the two axes to others}}
    loop.for %u = 0 to 4 "u" threadIdx.x {
      %v = loop.load %x[%t, %u] : memref<4x4xf32>
      loop.store %v, %y[%t, %u] : memref<4x4xf32>
    }
  }
}

// -----

// Each of the threads would fill all of what they share.
loop.kernel @filled_by_all ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %s = memref.alloca() : memref<4xf32, "shared">
    loop.for %t = 0 to 4 "t" threadIdx.x {
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %x[%i] : memref<4xf32>
        // expected-error@+1 {{several threads would store to one element of %s here: bind an axis of the stage to them}}
        loop.store %v, %s[%i] : memref<4xf32, "shared">
      }
      %w = loop.load %s[-%t + 3] : memref<4xf32, "shared">
      loop.store %w, %y[%t] : memref<4xf32>
    }
  }
}

// -----

// A sum of all threads would be one of each thread's own values alone.
loop.kernel @own_sums ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %a = memref.alloca() : memref<1xf32, "local">
    loop.for %k = 0 to 4 "k" threadIdx.x {
      %s = loop.load %a[0] : memref<1xf32, "local">
      %v = loop.load %x[%k] : memref<4xf32>
      %t = arith.addf %s, %v : f32
      // expected-error@+1 {{%a is "local", of which every thread has its own, and several threads store to one element of it here: put it into "shared", or sum up by rfactor}}
      loop.store %t, %a[0] : memref<1xf32, "local">
    }
    loop.for %u = 0 to 4 "u" threadIdx.x {
      %s = loop.load %a[0] : memref<1xf32, "local">
      loop.store %s, %y[%u] : memref<4xf32>
    }
  }
}
