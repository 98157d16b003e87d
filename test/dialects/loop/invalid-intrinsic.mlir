// RUN: opt-tool %s --split-input-file --verify-diagnostics

loop.kernel @memory outs(%y: memref<1024xf32>) {
  // expected-error@+1 {{a part of @amx.tile_zero is of scope "amx", not in a buffer of memref<1024xf32>}}
  loop.intrinsic @amx.tile_zero writes %y[0] of [16, 16] strides [16, 1] : memref<1024xf32>
}

// -----

loop.kernel @registers outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  %r = memref.alloca() : memref<256xf32, "register">
  // expected-error@+1 {{a part of @amx.tile_store is in memory, not in a buffer of memref<256xf32, "register">}}
  loop.intrinsic @amx.tile_store writes %r[0] of [16, 16] strides [16, 1] from %acc[0] of [16, 16] strides [16, 1] : memref<256xf32, "register">, memref<256xf32, "amx">
}

// -----

loop.kernel @element outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xbf16, "amx">
  // expected-error@+1 {{@amx.tile_zero writes the first of these parts: [16, 16] of f32}}
  loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16, 1] : memref<256xbf16, "amx">
}

// -----

loop.kernel @shape outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{@amx.tile_zero writes the first of these parts: [16, 16] of f32}}
  loop.intrinsic @amx.tile_zero writes %acc[0] of [8, 16] strides [16, 1] : memref<256xf32, "amx">
}

// -----

loop.kernel @updates outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{@amx.tile_zero writes the first of these parts: [16, 16] of f32}}
  loop.intrinsic @amx.tile_zero updates %acc[0] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
}

// -----

loop.kernel @count outs(%y: memref<1024xf32>) {
  // expected-error@+1 {{@amx.tile_store writes the first of these parts: [16, 16] of f32, [16, 16] of f32}}
  loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [16, 1] : memref<1024xf32>
}

// -----

loop.kernel @scalars outs(%y: memref<1024xi32>) {
  // expected-error@+1 {{@dot4.ui8i8 is an intrinsic on scalars, which loop.call_intrinsic calls}}
  loop.intrinsic @dot4.ui8i8 writes %y[0] of [] strides [] : memref<1024xi32>
}

// -----

loop.kernel @unknown outs(%y: memref<1024xf32>) {
  // expected-error@+1 {{no te.intrinsic declares @amx.tile_zeros; there are}}
  loop.intrinsic @amx.tile_zeros writes %y[0] of [16, 16] strides [16, 1] : memref<1024xf32>
}

// -----

loop.kernel @dimensions ins(%a: memref<16x32xbf16>) outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{a part of memref<16x32xbf16>: expected a buffer with one dimension}}
  loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [16, 1] from %a[0] of [16, 32] strides [32, 1], %a[0] of [16, 32] strides [32, 1] : memref<256xf32, "amx">, memref<16x32xbf16>, memref<16x32xbf16>
}

// -----

loop.kernel @strides outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{1 strides for 2 dimensions}}
  loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16] : memref<256xf32, "amx">
}

// -----

loop.kernel @overlapping outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{a part of shape [16, 16] with strides [15, 1] overlaps itself}}
  loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [15, 1] from %acc[0] of [16, 16] strides [16, 1] : memref<1024xf32>, memref<256xf32, "amx">
}

// -----

loop.kernel @nothing outs(%y: memref<1024xf32>) {
  // expected-error@+1 {{a part of shape [0] has no elements}}
  loop.intrinsic @amx.tile_zero writes %y[0] of [0] strides [1] : memref<1024xf32>
}

// -----

loop.kernel @subscripts outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{a part has one subscript, not 2}}
  loop.intrinsic @amx.tile_zero writes %acc[0, 1] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
}

// -----

func.func @f(%v: vector<16xf32>) {
  // expected-error@+1 {{@bf16.round works lane by lane: all vectors have as many lanes}}
  %0 = loop.call_intrinsic @bf16.round(%v) : (vector<16xf32>) -> vector<8xbf16>
  func.return
}

// -----

func.func @f(%v: vector<16xi32>) {
  // expected-error@+1 {{@bf16.dot works lane by lane: all vectors have as many lanes}}
  %0 = loop.call_intrinsic @bf16.dot(%v, %v) : (vector<16xi32>, vector<16xi32>) -> vector<8xf32>
  func.return
}

// -----

func.func @f(%v: vector<16xbf16>) {
  // expected-error@+1 {{@bf16.dot is (i32, i32) -> f32, on scalars or on vectors of as many lanes}}
  %0 = loop.call_intrinsic @bf16.dot(%v, %v) : (vector<16xbf16>, vector<16xbf16>) -> vector<8xf32>
  func.return
}

// -----

te.intrinsic @my.reversed(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[3 - i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}
loop.kernel @apart ins(%x: memref<16xf32>) outs(%y: memref<4xf32>) {
  // expected-error@+1 {{a part of @my.reversed has strides [1], not [3]}}
  loop.intrinsic @my.reversed writes %y[0] of [4] strides [1] from %x[0] of [4] strides [3] : memref<4xf32>, memref<16xf32>
}

// -----

te.intrinsic @my.copy(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}
loop.kernel @outside ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  // expected-error@+1 {{a part from 2 to 5 is not in a buffer of 4 elements}}
  loop.intrinsic @my.copy writes %y[0] of [4] strides [1] from %x[2] of [4] strides [1] : memref<4xf32>, memref<4xf32>
}

// -----

te.intrinsic @my.copy(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}
loop.kernel @in_place outs(%y: memref<8xf32>) {
  // expected-error@+1 {{@my.copy reads a buffer that it writes, and intrinsics do not}}
  loop.intrinsic @my.copy writes %y[0] of [4] strides [1] from %y[4] of [4] strides [1] : memref<8xf32>, memref<8xf32>
}
