// RUN: opt-tool %s -p loop-verify-resources | filecheck %s

// As many threads, and as much shared memory, as the device has.
// CHECK-LABEL: loop.kernel @fits
builtin.module attributes {tilework.targets = "opencl -threads=256 -shared-kib=1"} {
  loop.kernel @fits outs(%y: memref<256xf32>) {
    %zero = arith.constant 0.0 : f32
    loop.for %b = 0 to 1 "b" blockIdx.x {
      %s = memref.alloca() : memref<256xf32, "shared">
      loop.for %t = 0 to 256 "t" threadIdx.x {
        loop.store %zero, %s[%t] : memref<256xf32, "shared">
      }
    }
  }
  loop.kernel @declared ins(%arg0: memref<4xf32>) outs(%arg1: memref<4xf32>)
}
