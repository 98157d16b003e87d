// RUN: opt-tool %s --split-input-file --target='c -mcpu=haswell' --verify-diagnostics -t c

loop.kernel @vectorized outs(%y: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  // expected-error @below {{loop 'x' is still vectorized: run loop-vectorize before emitting code}}
  loop.for %i = 0 to 8 "x" vectorized {
    loop.store %one, %y[%i] : memref<8xf32>
  }
}

// -----

loop.kernel @unknown outs(%y: memref<8xf32>) {
  // expected-error @below {{the C backend does not know 'memref.alloc' here}}
  %t = memref.alloc() : memref<8xf32>
}

// -----

loop.kernel @stack outs(%y: memref<8xf32>) {
  %small = memref.alloca() : memref<1024xf32>
  // expected-error @below {{local buffer 'big' of type memref<400x512xf32> brings the stack of 'stack' to 823296 bytes: at most 819200 fit; compute it at an inner loop, or at the root, where it becomes scratch}}
  %big = memref.alloca() : memref<400x512xf32>
}

// -----

loop.kernel @overwritten outs(%y: memref<8xf32>) {
  %v = loop.load %y[0] : memref<8xf32>, vector<4xf32>
  // expected-error @below {{a store of a vector with stride 0 would write one element many times}}
  loop.store %v, %y[0] stride 0 : memref<8xf32>, vector<4xf32>
}

// -----

loop.kernel @matrix outs(%y: memref<8xf32>) {
  // expected-error @below {{C has no type for vector<2x4xf32>; it knows scalars and vectors of one dimension}}
  %v = arith.constant dense<0.0> : vector<2x4xf32>
  %w = arith.addf %v, %v : vector<2x4xf32>
}

// -----

loop.kernel @virtual outs(%y: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  // expected-error @below {{loop 'x' is still vthread: run loop-inject-virtual-thread before}}
  loop.for %i = 0 to 8 "x" vthread {
    loop.store %one, %y[%i] : memref<8xf32>
  }
}

// -----

loop.kernel @threads outs(%y: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  // expected-error @below {{loop 'x' is bound to threadIdx.x, which a CPU does not have; use parallel}}
  loop.for %i = 0 to 8 "x" threadIdx.x {
    loop.store %one, %y[%i] : memref<8xf32>
  }
}

// -----

loop.kernel @shared outs(%y: memref<8xf32>) {
  // expected-error @below {{a CPU has no shared memory; use scope local or register}}
  %s = memref.alloca() : memref<8xf32, "shared.tile">
}

// -----

loop.kernel @halves ins(%x: memref<8xi4>) outs(%y: memref<8xi4>) {
  // expected-error @below {{i4 is half a byte, which has no address: run loop-emulate-narrow-types before}}
  %v = loop.load %x[0] : memref<8xi4>
  loop.store %v, %y[0] : memref<8xi4>
}

// -----

loop.kernel @halves_prefetched ins(%x: memref<8xi4>) {
  // expected-error @below {{i4 is half a byte, which has no address: run loop-emulate-narrow-types before}}
  loop.prefetch %x[0] : memref<8xi4>
}

// -----

loop.kernel @bfloats ins(%x: memref<8xbf16>) outs(%y: memref<8xbf16>) {
  %v = loop.load %x[0] : memref<8xbf16>
  // expected-error @below {{'arith.addf' computes with bf16: run loop-widen-bfloat16 before}}
  %w = arith.addf %v, %v : bf16
  loop.store %w, %y[0] : memref<8xbf16>
}

// -----

func.func @main(%x: memref<8xi4>, %y: memref<8xi4> {tilework.output}) {
  // expected-error @below {{a model has no memref<8xi4> outside of its kernels: cast it to 8 bits there}}
  "memref.copy"(%x, %y) : (memref<8xi4>, memref<8xi4>) -> ()
  func.return
}

// -----

loop.kernel @tiles outs(%y: memref<256xf32>) {
  %sums = memref.alloca() : memref<256xf32, "amx">
  // expected-error @below {{'loop.intrinsic' needs an instruction for @amx.tile_zero: the back end of 'c' has no emitter for it, and the declaration no snippet; give one for 'c', or compile for another target}}
  loop.intrinsic @amx.tile_zero writes %sums[0] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
}

// -----

te.intrinsic @my.nothing(%x: f32) -> f32 attributes {snippets = {c = " "}} {
  te.yield %x : f32
}
loop.kernel @empty outs(%y: memref<16xf32>) {
  %v = loop.load %y[0] : memref<16xf32>
  // expected-error @below {{the snippet of @my.nothing for 'c' has no expression}}
  %w = loop.call_intrinsic @my.nothing(%v) : (f32) -> f32
  loop.store %w, %y[0] : memref<16xf32>
}

// -----

te.intrinsic @my.half(%x: f16) -> f16 attributes {snippets = {c = "$x + $x"}} {
  %y = arith.addf %x, %x : f16
  te.yield %y : f16
}
loop.kernel @halves_of_snippets outs(%y: memref<16xf16>) {
  %v = loop.load %y[0] : memref<16xf16>
  // expected-error @below {{the snippet of @my.half for 'c' would compute with the bits of f16: leave it out, so that the meaning is written}}
  %w = loop.call_intrinsic @my.half(%v) : (f16) -> f16
  loop.store %w, %y[0] : memref<16xf16>
}
