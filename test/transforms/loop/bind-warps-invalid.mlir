// RUN: opt-tool %s -p loop-bind-warps --target='cuda -arch=sm_80' --split-input-file --verify-diagnostics

// Half a warp cannot do what takes all of its threads.
loop.kernel @half outs(%y: memref<16xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %r = memref.alloca() : memref<16x16xf32, "mma">
    // expected-error@+1 {{the threads along threadIdx.x do @mma.zero together, and there are 16: bind axes of 32, as many as a warp has, to threadIdx.x}}
    loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @mma.zero} {
      loop.for %n = 0 to 16 "n" {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %r[%m, %n] : memref<16x16xf32, "mma">
      }
    }
    loop.for %t = 0 to 16 "t" threadIdx.x {
      %one = arith.constant 1.0 : f32
      loop.store %one, %y[%t] : memref<16xf32>
    }
  }
}

// -----

// Each thread would do by itself what they do together.
loop.kernel @each outs(%y: memref<32xf32>) {
  loop.for %t = 0 to 32 "t" threadIdx.x {
    %r = memref.alloca() : memref<16x16xf32, "mma">
    // expected-error@+1 {{the threads along threadIdx.x do @mma.zero together, and loop 't' around is over them: bind that axis to threadIdx.y or threadIdx.z}}
    loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @mma.zero} {
      loop.for %n = 0 to 16 "n" {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %r[%m, %n] : memref<16x16xf32, "mma">
      }
    }
    %one = arith.constant 1.0 : f32
    loop.store %one, %y[%t] : memref<32xf32>
  }
}
