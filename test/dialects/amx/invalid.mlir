// RUN: opt-tool %s --split-input-file --verify-diagnostics

loop.kernel @memory outs(%y: memref<1024xf32>) {
  // expected-error@+1 {{a tile register of memref<1024xf32>: expected a buffer of scope "amx"}}
  amx.tile_zero %y[0] stride 16 : memref<1024xf32>
}

// -----

loop.kernel @element outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xbf16, "amx">
  // expected-error@+1 {{a tile of memref<256xbf16, "amx">: expected a buffer of f32 with one dimension}}
  amx.tile_zero %acc[0] stride 16 : memref<256xbf16, "amx">
}

// -----

loop.kernel @dimensions ins(%a: memref<16x32xbf16>) outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{a tile of memref<16x32xbf16>: expected a buffer of bf16 with one dimension}}
  amx.tile_mulf %acc[0] stride 16, %a[0] stride 32, %a[0] stride 32 : memref<256xf32, "amx">, memref<16x32xbf16>, memref<16x32xbf16>
}

// -----

loop.kernel @strided ins(%a: memref<512xbf16, strided<[2]>>) outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{expected a buffer of bf16 with one dimension}}
  amx.tile_mulf %acc[0] stride 16, %a[0] stride 32, %a[0] stride 32 : memref<256xf32, "amx">, memref<512xbf16, strided<[2]>>, memref<512xbf16, strided<[2]>>
}

// -----

loop.kernel @stride ins(%a: memref<512xbf16>) outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{rows of 32 elements are at least 1 apart, not 0}}
  amx.tile_mulf %acc[0] stride 16, %a[0] stride 32, %a[0] stride 0 : memref<256xf32, "amx">, memref<512xbf16>, memref<512xbf16>
}

// -----

loop.kernel @overlapping outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{rows of 16 elements are at least 16 apart, not 15}}
  amx.tile_store %acc[0] stride 16, %y[0] stride 15 : memref<256xf32, "amx">, memref<1024xf32>
}

// -----

loop.kernel @registers outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  %r = memref.alloca() : memref<256xf32, "register">
  // expected-error@+1 {{a tile in memory of memref<256xf32, "register">: registers have no addresses}}
  amx.tile_store %acc[0] stride 16, %r[0] stride 16 : memref<256xf32, "amx">, memref<256xf32, "register">
}

// -----

loop.kernel @count outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{expected 2 tiles, each with a subscript and a stride}}
  amx.tile_store %acc[0] stride 16 : memref<256xf32, "amx">
}

// -----

loop.kernel @subscripts outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  // expected-error@+1 {{a tile has one subscript, not 2}}
  amx.tile_zero %acc[0, 1] stride 16 : memref<256xf32, "amx">
}

// -----

func.func @f(%v: vector<16xf32>) {
  // expected-error@+1 {{vector<16xf32> is rounded lane by lane, not to vector<8xbf16>}}
  %0 = amx.round %v : vector<16xf32> to vector<8xbf16>
  func.return
}
