// RUN: opt-tool %s --target='llvm -mcpu=haswell' --split-input-file --verify-diagnostics -t llvmir

loop.kernel @vectorized outs(%y: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  // expected-error @below {{loop 'x' is still vectorized: run loop-vectorize before emitting code}}
  loop.for %i = 0 to 8 "x" vectorized {
    loop.store %one, %y[%i] : memref<8xf32>
  }
}

// -----

loop.kernel @unknown outs(%y: memref<8xf32>) {
  // expected-error @below {{the LLVM backend does not know 'memref.alloc' here}}
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
  // expected-error @below {{the LLVM backend has no type for vector<2x4xf32>; it knows scalars and one-dimensional vectors}}
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

te.intrinsic @my.f(%x: f32) -> f32 attributes {snippets = {llvm = "this is not llvm"}} {
  te.yield %x : f32
}
loop.kernel @invalid outs(%y: memref<16xf32>) {
  %v = loop.load %y[0] : memref<16xf32>
  // expected-error @below {{LLVM refuses the snippet of @my.f for 'llvm': LLVM IR parsing error}}
  %w = loop.call_intrinsic @my.f(%v) : (f32) -> f32
  loop.store %w, %y[0] : memref<16xf32>
}

// -----

te.intrinsic @my.copy(%x: tensor<4xf32>) -> tensor<4xf32> attributes {snippets = {llvm = "label:"}} {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}
loop.kernel @labels ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  // expected-error @below {{LLVM refuses the snippet of @my.copy for 'llvm'}}
  loop.intrinsic @my.copy writes %y[0] of [4] strides [1] from %x[0] of [4] strides [1] : memref<4xf32>, memref<4xf32>
}

// -----

te.intrinsic @my.copy(%x: tensor<4xf32>) -> tensor<4xf32> attributes {snippets = {c = ""}} {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}
loop.kernel @elsewhere ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  // expected-error @below {{'loop.intrinsic' needs an instruction for @my.copy: the back end of 'llvm' has no emitter for it, and the declaration no snippet; give one for 'llvm', or compile for another target}}
  loop.intrinsic @my.copy writes %y[0] of [4] strides [1] from %x[0] of [4] strides [1] : memref<4xf32>, memref<4xf32>
}
