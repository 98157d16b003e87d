// RUN: opt-tool %s -p loop-map-threads | filecheck %s

// Two loops over threads are one; of the shorter one, some threads do nothing but wait. What is shared is in the block.
// CHECK-LABEL: loop.kernel @two
// CHECK-NEXT:    loop.for %[[b:.*]] = 0 to 4 "b" blockIdx.x {
// CHECK-NEXT:      memref.alloca() : memref<16xf32, "shared">
// CHECK-NEXT:      loop.for %[[t:.*]] = 0 to 16 "t" threadIdx.x {
// CHECK:             loop.store %{{.*}}, %{{.*}}[%[[t]]] : memref<16xf32, "shared">
// CHECK-NEXT:        loop.barrier
// CHECK-NEXT:        loop.if [-%[[t]] + 7 >= 0] {
// CHECK-NEXT:          loop.load %{{.*}}[-%[[t]] + 15]
loop.kernel @two ins(%x: memref<4x16xf32>) outs(%y: memref<4x8xf32>) {
  loop.for %b = 0 to 4 "b" blockIdx.x {
    %s = memref.alloca() : memref<16xf32, "shared">
    loop.for %t = 0 to 16 "t" threadIdx.x {
      %v = loop.load %x[%b, %t] : memref<4x16xf32>
      loop.store %v, %s[%t] : memref<16xf32, "shared">
    }
    loop.barrier
    loop.for %u = 0 to 8 "u" threadIdx.x {
      %w = loop.load %s[-%u + 15] : memref<16xf32, "shared">
      loop.store %w, %y[%b, %u] : memref<4x8xf32>
    }
  }
}

// A loop inside another one deals its iterations out again: all 16 threads fetch, though 2 compute.
// CHECK-LABEL: loop.kernel @nested
// CHECK:         loop.for %[[t:.*]] = 0 to 16 "t" threadIdx.x {
// CHECK-NEXT:      loop.load %{{.*}}[%[[t]]]
// CHECK-NEXT:      loop.store
// CHECK-NEXT:      loop.barrier
// CHECK-NEXT:      loop.if [-%[[t]] + 1 >= 0] {
loop.kernel @nested ins(%x: memref<16xf32>) outs(%y: memref<2xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %s = memref.alloca() : memref<16xf32, "shared">
    loop.for %t = 0 to 2 "t" threadIdx.x {
      loop.for %u = 0 to 16 "u" threadIdx.x {
        %v = loop.load %x[%u] : memref<16xf32>
        loop.store %v, %s[%u] : memref<16xf32, "shared">
      }
      loop.barrier
      %w = loop.load %s[8 * %t] : memref<16xf32, "shared">
      loop.store %w, %y[%t] : memref<2xf32>
    }
  }
}

// A serial loop around blocks is the host's: each of its iterations is a launch.
// CHECK-LABEL: loop.kernel @steps
// CHECK-NEXT:    loop.for %{{.*}} = 0 to 3 "step" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "b" blockIdx.x {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 8 "t" threadIdx.x {
loop.kernel @steps outs(%y: memref<4x32xf32>) {
  loop.for %i = 0 to 3 "step" {
    loop.for %b = 0 to 4 "b" blockIdx.x {
      loop.for %t = 0 to 8 "t" threadIdx.x {
        %v = loop.load %y[%i, -8 * %b - %t + 31] : memref<4x32xf32>
        loop.store %v, %y[%i + 1, 8 * %b + %t] : memref<4x32xf32>
      }
    }
  }
}

// A tag behind the scope changes nothing: the buffer is one for the block, and is hoisted out of its threads. These are
// in no loop over blocks, so that there is one.
// CHECK-LABEL: loop.kernel @tagged
// CHECK-NEXT:    loop.for %{{.*}} = 0 to 1 "block" blockIdx.x {
// CHECK-NEXT:      memref.alloca() : memref<16xf32, "shared.rows">
// CHECK-NEXT:    loop.for %[[t:.*]] = 0 to 16 "t" threadIdx.x {
loop.kernel @tagged ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %t = 0 to 16 "t" threadIdx.x {
    %s = memref.alloca() : memref<16xf32, "shared.rows">
    loop.for %u = 0 to 16 "u" threadIdx.x {
      %v = loop.load %x[%u] : memref<16xf32>
      loop.store %v, %s[%u] : memref<16xf32, "shared.rows">
    }
    loop.barrier
    %w = loop.load %s[-%t + 15] : memref<16xf32, "shared.rows">
    loop.store %w, %y[%t] : memref<16xf32>
  }
}

// A block of one thread has shared memory, too: it is the block's, outside of all that it does.
// CHECK-LABEL: loop.kernel @alone
// CHECK-NEXT:    loop.for %{{.*}} = 0 to 4 "b" blockIdx.x {
// CHECK-NEXT:      memref.alloca() : memref<1xf32, "shared">
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 2 "i" {
loop.kernel @alone ins(%x: memref<4x2xf32>) outs(%y: memref<4x2xf32>) {
  loop.for %b = 0 to 4 "b" blockIdx.x {
    loop.for %i = 0 to 2 "i" {
      %s = memref.alloca() : memref<1xf32, "shared">
      %v = loop.load %x[%b, %i] : memref<4x2xf32>
      loop.store %v, %s[0] : memref<1xf32, "shared">
      %w = loop.load %s[0] : memref<1xf32, "shared">
      loop.store %w, %y[%b, %i] : memref<4x2xf32>
    }
  }
}
