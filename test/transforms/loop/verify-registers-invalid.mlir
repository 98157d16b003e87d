// RUN: opt-tool %s -p 'loop-unroll{max-trip=16},loop-verify-registers' --split-input-file --verify-diagnostics

loop.kernel @symbolic outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  %acc = memref.alloca() : memref<4xf32, "register">
  // expected-note@+1 {{the loop}}
  loop.for %n = 0 to min(%N, 400) "n" {
    // expected-error@+1 {{register buffer %acc is indexed in loop 'n', whose trip count is known at run time only: partition the loop around it, or pad}}
    loop.store %v, %acc[%n] : memref<4xf32, "register">
  }
}

// -----

loop.kernel @parallel outs(%y: memref<4xf32>) {
  %v = arith.constant 1.0 : f32
  %acc = memref.alloca() : memref<4xf32, "register">
  // expected-note@+1 {{the loop}}
  loop.for %i = 0 to 4 "i" parallel {
    // expected-error@+1 {{register buffer %acc is indexed in loop 'i', which is parallel: keep the buffer in a loop inside}}
    loop.store %v, %acc[%i] : memref<4xf32, "register">
  }
}

// -----

loop.kernel @long outs(%y: memref<4xf32>) {
  %v = arith.constant 1.0 : f32
  %acc = memref.alloca() : memref<17xf32, "register">
  // expected-note@+1 {{the loop}}
  loop.for %i = 0 to 17 "i" {
    // expected-error@+1 {{register buffer %acc is indexed in loop 'i', which runs 17 times and is not unrolled: split it, or keep the buffer in a loop inside}}
    loop.store %v, %acc[%i] : memref<17xf32, "register">
  }
}

// -----

loop.kernel @symbol outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  %acc = memref.alloca() : memref<4xf32, "register">
  // expected-error@+1 {{register buffer %acc is indexed by %N, which is known at run time only; keep it in scope "local"}}
  loop.store %v, %acc[%N] : memref<4xf32, "register">
}

// -----

// The bounds of an unrolled loop move with an outer loop that runs a number of times known at run time only.
loop.kernel @outer outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  %acc = memref.alloca() : memref<4xf32, "register">
  // expected-note@+1 {{the loop}}
  loop.for %o = 0 to %N "o" {
    loop.for %i = %o to %o + 4 "i" unrolled {
      // expected-error@+1 {{register buffer %acc is indexed in loop 'o', whose trip count is known at run time only}}
      loop.store %v, %acc[%i] : memref<4xf32, "register">
    }
  }
}
