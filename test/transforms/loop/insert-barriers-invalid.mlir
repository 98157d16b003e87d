// RUN: opt-tool %s -p loop-insert-barriers --split-input-file --verify-diagnostics

// Half of the threads would not come to the barrier.
loop.kernel @divergent ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %s = memref.alloca() : memref<16xf32, "shared">
    loop.for %t = 0 to 16 "t" threadIdx.x {
      // expected-note@+1 {{the other threads}}
      loop.if [-%t + 7 >= 0] {
        loop.for %u = 0 to 16 "u" threadIdx.x {
          %v = loop.load %x[%u] : memref<16xf32>
          loop.store %v, %s[%u] : memref<16xf32, "shared">
        }
        // expected-error@+1 {{threads must wait for each other in front of this, and a condition around depends on the thread: compute it outside}}
        loop.for %w = 0 to 16 "w" threadIdx.x {
          %v = loop.load %s[-%w + 15] : memref<16xf32, "shared">
          loop.store %v, %y[%w] : memref<16xf32>
        }
      }
    }
  }
}

// -----

// Threads would come to the barrier as often as their number says.
loop.kernel @often ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %s = memref.alloca() : memref<16xf32, "shared">
    loop.for %t = 0 to 16 "t" threadIdx.x {
      // expected-note@+1 {{the other threads}}
      loop.for %i = 0 to %t "i" {
        loop.for %u = 0 to 16 "u" threadIdx.x {
          %v = loop.load %x[%u] : memref<16xf32>
          loop.store %v, %s[%u] : memref<16xf32, "shared">
        }
        // expected-error@+1 {{threads must wait for each other in front of this, and how often loop 'i' runs depends on the thread: compute it outside}}
        loop.for %w = 0 to 16 "w" threadIdx.x {
          %v = loop.load %s[-%w + 15] : memref<16xf32, "shared">
          loop.store %v, %y[%w] : memref<16xf32>
        }
      }
    }
  }
}

// -----

loop.kernel @unknown ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  // expected-error@+1 {{threadIdx.x has N threads: how many a block has must be known; split the axis}}
  loop.for %t = 0 to %N "t" threadIdx.x {
    %v = loop.load %x[%t] : memref<?xf32>
    loop.store %v, %y[%t] : memref<?xf32>
  }
}
