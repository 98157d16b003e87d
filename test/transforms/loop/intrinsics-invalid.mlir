// RUN: opt-tool %s -p loop-rewrite-unsafe-select,loop-inject-double-buffer,loop-unroll,loop-verify-registers --split-input-file --verify-diagnostics

loop.kernel @stored_between outs(%y: memref<1024xf32>, %z: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %acc = memref.alloca() : memref<256xf32, "amx">
  loop.for %i = 0 to 8 "i" {
    %c = arith.cmpi sge, %i, %one : index
    // expected-error@+1 {{%y may be read outside of it unless the condition of arith.select holds, but is stored to in between}}
    %v = loop.load %y[%i - 1] : memref<1024xf32>
    // expected-note@+1 {{the store}}
    loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [16, 1] from %acc[0] of [16, 16] strides [16, 1] : memref<1024xf32>, memref<256xf32, "amx">
    %r = arith.select %c, %v, %zero : f32
    loop.store %r, %z[%i] : memref<8xf32>
  }
}

// -----

loop.kernel @double_buffer ins(%x: memref<1024xbf16>) outs(%y: memref<256xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  loop.for %i = 0 to 2 "i" {
    // expected-error@+1 {{buffer %t cannot be a double buffer: it is in a loop with intrinsics on buffers; run loop-tensorize behind this pass}}
    %t = memref.alloca() {loop.double_buffer} : memref<512xbf16, "local">
    loop.for %j = 0 to 512 "j" {
      %v = loop.load %x[512 * %i + %j] : memref<1024xbf16>
      loop.store %v, %t[%j] : memref<512xbf16, "local">
    }
    loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [16, 1] from %t[0] of [16, 32] strides [32, 1], %t[0] of [16, 32] strides [32, 1] : memref<256xf32, "amx">, memref<512xbf16, "local">, memref<512xbf16, "local">
  }
}

// -----

loop.kernel @no_register outs(%y: memref<256xf32>) symbols(%N) {
  %acc = memref.alloca() : memref<1024xf32, "amx">
  // expected-note@+1 {{the loop}}
  loop.for %i = 0 to %N "i" {
    // expected-error@+1 {{register buffer %acc is indexed in loop 'i', whose trip count is known at run time only}}
    loop.intrinsic @amx.tile_zero writes %acc[256 * %i] of [16, 16] strides [16, 1] : memref<1024xf32, "amx">
  }
}
