// What passes over loads and stores make of intrinsics on buffers.

// RUN: opt-tool %s -p loop-simplify,loop-storage-rewrite | filecheck %s --check-prefix=KEPT
// RUN: opt-tool %s -p loop-hoist-invariant | filecheck %s --check-prefix=HOIST
// RUN: opt-tool %s -p loop-vectorize | filecheck %s --check-prefix=VECTOR
// RUN: opt-tool %s -p loop-unroll,loop-verify-registers,loop-simplify | filecheck %s --check-prefix=UNROLL
// RUN: opt-tool %s -p loop-unroll,loop-verify-registers,loop-simplify --check-semantics -o /dev/null
// RUN: opt-tool %s -p 'loop-unroll{auto-max-step=8},loop-simplify' | filecheck %s --check-prefix=SMALL
// RUN: opt-tool %s -p loop-transpose | filecheck %s --check-prefix=ROWS

// Stores to what only tiles read stay, and memory of its own.
// KEPT-LABEL: loop.kernel @read_by_tiles
// KEPT:         %t = memref.alloca() : memref<512xbf16, "local">
// KEPT-NEXT:    loop.for
// KEPT-NEXT:      loop.load
// KEPT-NEXT:      loop.store %{{.*}}, %t
// KEPT:         %u = memref.alloca() : memref<512xbf16, "local">
// KEPT:           loop.store %{{.*}}, %u
// KEPT:         loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [16, 1] from %t[0] of [16, 32] strides [32, 1], %u[0] of [16, 32] strides [32, 1]
loop.kernel @read_by_tiles ins(%x: memref<512xbf16>) outs(%y: memref<256xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
  %t = memref.alloca() : memref<512xbf16, "local">
  loop.for %i = 0 to 512 "i" {
    %v = loop.load %x[%i] : memref<512xbf16>
    loop.store %v, %t[%i] : memref<512xbf16, "local">
  }
  %u = memref.alloca() : memref<512xbf16, "local">
  loop.for %i = 0 to 512 "i" {
    %v = loop.load %x[-%i + 511] : memref<512xbf16>
    loop.store %v, %u[%i] : memref<512xbf16, "local">
  }
  loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [16, 1] from %t[0] of [16, 32] strides [32, 1], %u[0] of [16, 32] strides [32, 1] : memref<256xf32, "amx">, memref<512xbf16, "local">, memref<512xbf16, "local">
  loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [16, 1] from %acc[0] of [16, 16] strides [16, 1] : memref<256xf32>, memref<256xf32, "amx">
}

// A load of what a tile writes stays in the loop, others move.
// HOIST-LABEL: loop.kernel @written_by_tiles
// HOIST:         loop.load %x[0]
// HOIST-NEXT:    loop.for %i = 0 to 4 "i" {
// HOIST-NEXT:      loop.load %y[0]
loop.kernel @written_by_tiles ins(%x: memref<8xf32>) outs(%y: memref<1024xf32>, %z: memref<4xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
  loop.for %i = 0 to 4 "i" {
    %a = loop.load %y[0] : memref<1024xf32>
    %b = loop.load %x[0] : memref<8xf32>
    %c = arith.addf %a, %b : f32
    loop.store %c, %z[%i] : memref<4xf32>
    loop.intrinsic @amx.tile_store writes %y[256 * %i] of [16, 16] strides [16, 1] from %acc[0] of [16, 16] strides [16, 1] : memref<1024xf32>, memref<256xf32, "amx">
  }
}

// Lanes have no tiles each.
// VECTOR-LABEL: loop.kernel @in_lanes
// VECTOR:         loop.for %i = 0 to 4 "i" attributes {tilework.remark = "not vectorized: it holds intrinsics on buffers"} {
loop.kernel @in_lanes ins(%a: memref<512xbf16>) outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
  loop.for %i = 0 to 4 "i" vectorized {
    loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [16, 1] from %a[0] of [16, 32] strides [32, 1], %a[0] of [16, 32] strides [32, 1] : memref<256xf32, "amx">, memref<512xbf16>, memref<512xbf16>
  }
  loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [16, 1] from %acc[0] of [16, 16] strides [16, 1] : memref<1024xf32>, memref<256xf32, "amx">
}

// What tiles read of a local buffer counts, whatever lanes of it vectors write.
// VECTOR-LABEL: loop.kernel @lanes_of_tiles
// VECTOR:         loop.store %{{.*}}, %t[0] count
loop.kernel @lanes_of_tiles ins(%x: memref<?xbf16> [N]) outs(%y: memref<256xf32>) symbols(%N) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  %t = memref.alloca() : memref<512xbf16, "local">
  loop.for %i = 0 to min(%N, 16) "i" vectorized {
    %v = loop.load %x[%i] : memref<?xbf16>
    loop.store %v, %t[%i] : memref<512xbf16, "local">
  }
  loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [16, 1] from %t[0] of [16, 32] strides [32, 1], %t[0] of [16, 32] strides [32, 1] : memref<256xf32, "amx">, memref<512xbf16, "local">, memref<512xbf16, "local">
  loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [16, 1] from %acc[0] of [16, 16] strides [16, 1] : memref<256xf32>, memref<256xf32, "amx">
}

// Loops that say which register are written out, others stay.
// UNROLL-LABEL: loop.kernel @registers
// UNROLL:         loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16, 1]
// UNROLL-NEXT:    loop.intrinsic @amx.tile_zero writes %acc[256] of [16, 16] strides [16, 1]
// UNROLL-NEXT:    loop.for %k = 0 to 2 "k" {
// UNROLL-NEXT:      loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [16, 1] from %a[0] of [16, 32] strides [32, 1], %b[512 * %k] of [16, 32] strides [32, 1]
// UNROLL-NEXT:      loop.intrinsic @amx.tile_mulf updates %acc[256] of [16, 16] strides [16, 1] from %a[512] of [16, 32] strides [32, 1], %b[512 * %k] of [16, 32] strides [32, 1]
// UNROLL-NEXT:    }
// UNROLL-NEXT:    loop.intrinsic @amx.tile_store writes %y[0]
// SMALL-LABEL:  loop.kernel @registers
// SMALL-COUNT-4:  amx.tile_mulf
// SMALL-NOT:      loop.for
// SMALL-LABEL:  loop.kernel @columns
loop.kernel @registers ins(%a: memref<1024xbf16>, %b: memref<1024xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  loop.for %i = 0 to 2 "i" unrolled {
    loop.intrinsic @amx.tile_zero writes %acc[256 * %i] of [16, 16] strides [16, 1] : memref<512xf32, "amx">
  }
  loop.for %k = 0 to 2 "k" {
    loop.for %i = 0 to 2 "i" {
      loop.intrinsic @amx.tile_mulf updates %acc[256 * %i] of [16, 16] strides [16, 1] from %a[512 * %i] of [16, 32] strides [32, 1], %b[512 * %k] of [16, 32] strides [32, 1] : memref<512xf32, "amx">, memref<1024xbf16>, memref<1024xbf16>
    }
  }
  loop.for %i = 0 to 2 "i" {
    loop.intrinsic @amx.tile_store writes %y[256 * %i] of [16, 16] strides [16, 1] from %acc[256 * %i] of [16, 16] strides [16, 1] : memref<512xf32>, memref<512xf32, "amx">
  }
}

// Columns of what a tile writes in between are not kept.
// ROWS-LABEL: loop.kernel @columns
// ROWS-NOT:     loop.transpose
loop.kernel @columns ins(%src: memref<1024xf32>) outs(%y: memref<1024xf32>, %z: memref<1024xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
  loop.for %x = 0 to 16 "x" {
    %v = loop.load %y[%x] stride 64 : memref<1024xf32>, vector<16xf32>
    loop.store %v, %z[16 * %x] : memref<1024xf32>, vector<16xf32>
    loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [64, 1] from %acc[0] of [16, 16] strides [16, 1] : memref<1024xf32>, memref<256xf32, "amx">
  }
  loop.for %x = 0 to 16 "x" {
    %v = loop.load %src[16 * %x] : memref<1024xf32>, vector<16xf32>
    loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [64, 1] from %acc[0] of [16, 16] strides [16, 1] : memref<1024xf32>, memref<256xf32, "amx">
    loop.store %v, %y[%x] stride 64 : memref<1024xf32>, vector<16xf32>
  }
}

// Tiles get names; loops that are not unrolled, and those around loads and stores alone, do not become several.
// RUN: opt-tool %s --apply-pattern loop-unroll.separate-tiles | filecheck %s --check-prefix=SEPARATE
// SEPARATE-LABEL: loop.kernel @registers
// SEPARATE:         loop.for %i = 0 to 1 "i" unrolled {
// SEPARATE:         loop.for %i_1 = 1 to 2 "i" unrolled {
// SEPARATE:         loop.for %k = 0 to 2 "k" {
// SEPARATE-NEXT:      loop.for %i_2 = 0 to 2 "i" {
