// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p loop-inject-prefetch | filecheck %s

// The box that the loads of two iterations later span, by cache lines of 16 numbers; the request is gone.

// CHECK-LABEL: loop.kernel @window
// CHECK-NEXT:    loop.for %i = 0 to 8 "i" {
// CHECK-NEXT:      loop.for %prefetch = 0 to 3 "prefetch" {
// CHECK-NEXT:        loop.for %prefetch_1 = 0 to 3 "prefetch" {
// CHECK-NEXT:          loop.prefetch %x[%i + %prefetch + 2, 16 * %prefetch_1] : memref<10x40xf32>
// CHECK-NOT:           prefetch
loop.kernel @window ins(%x: memref<10x40xf32>) outs(%y: memref<8x40xf32>) {
  loop.for %i = 0 to 8 "i" attributes {loop.prefetch = [array<i64: 0, 2>]} {
    loop.for %j = 0 to 40 "j" {
      %a = loop.load %x[%i, %j] : memref<10x40xf32>
      %b = loop.load %x[%i + 2, %j] : memref<10x40xf32>
      %c = arith.addf %a, %b : f32
      loop.store %c, %y[%i, %j] : memref<8x40xf32>
    }
  }
}

// One line needs no loop; what nobody knows in advance, an index that is data, is left out.

// CHECK-LABEL: loop.kernel @line
// CHECK-NEXT:    loop.for %i = 0 to 8 "i" {
// CHECK-NEXT:      loop.prefetch %x[%i + 1, 0] : memref<8x4xf32>
// CHECK-NEXT:      loop.for %j
loop.kernel @line ins(%x: memref<8x4xf32>, %n: memref<8xindex>) outs(%y: memref<8x4xf32>) {
  loop.for %i = 0 to 8 "i" attributes {loop.prefetch = [array<i64: 0, 1>]} {
    loop.for %j = 0 to 4 "j" {
      %a = loop.load %x[%i, %j] : memref<8x4xf32>
      %k = loop.load %n[%i] : memref<8xindex>
      %b = loop.load %x[%k, %j] : memref<8x4xf32>
      loop.store %a, %y[%i, %j] : memref<8x4xf32>
    }
  }
}

// A block of weights, 64 rows of 32 numbers: two tiles read all of it, and each asks for half of the next, in four runs.

// CHECK-LABEL: loop.kernel @tiles
// CHECK:             loop.for %k = 0 to 64 "k" {
// CHECK-NEXT:          loop.prefetch %w[0, 0, 2048 * %o + 508 * (%k mod 4) + 256 * %t + 4 * %k + 2048] locality 2 : memref<4x64x32xf32>
// CHECK-NOT:           prefetch
loop.kernel @tiles ins(%x: memref<2x64xf32>, %w: memref<4x64x32xf32>) outs(%y: memref<4x2x32xf32>) {
  loop.for %o = 0 to 4 "o" attributes {loop.prefetch_spread = [array<i64: 1, 1>]} {
    loop.for %t = 0 to 2 "t" {
      loop.for %k = 0 to 64 "k" {
        loop.for %l = 0 to 32 "l" vectorized {
          %a = loop.load %x[%t, %k] : memref<2x64xf32>
          %b = loop.load %w[%o, %k, %l] : memref<4x64x32xf32>
          %p = arith.mulf %a, %b : f32
          %c = loop.load %y[%o, %t, %l] : memref<4x2x32xf32>
          %s = arith.addf %c, %p : f32
          loop.store %s, %y[%o, %t, %l] : memref<4x2x32xf32>
        }
      }
    }
  }
}

// Nests that become intrinsics are left alone: the loop around them asks.

// CHECK-LABEL: loop.kernel @tensorized
// CHECK:           loop.for %k = 0 to 8 "k" {
// CHECK-NEXT:        loop.for %prefetch = 0 to 16 "prefetch" {
// CHECK-NEXT:          loop.prefetch %w[0, 0, {{.*}}] locality 2 : memref<4x128x16xf32>
// CHECK:             loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_store} {
// CHECK-NOT:           prefetch
loop.kernel @tensorized ins(%w: memref<4x128x16xf32>) outs(%y: memref<4x16xf32>) {
  loop.for %o = 0 to 4 "o" attributes {loop.prefetch_spread = [array<i64: 0, 1>]} {
    loop.for %k = 0 to 8 "k" {
      loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_store} {
        loop.for %n = 0 to 16 "n" {
          %v = loop.load %w[%o, 16 * %k + %m, %n] : memref<4x128x16xf32>
          loop.store %v, %y[%o, %n] : memref<4x16xf32>
        }
      }
    }
  }
}

// Two blocks at a time, inside one of several groups of them, and three tiles, whose thirds of a row are no runs.

// CHECK-LABEL: loop.kernel @two_blocks
// CHECK:               loop.for %k = 0 to 64 "k" {
// CHECK-NEXT:            loop.for %prefetch = 0 to 2 "prefetch" {
// CHECK-NEXT:              loop.prefetch %w[0, 0, 0, 4096 * %g + 2048 * %o + (1024 * %t + 16 * %k) floordiv 3 + 1024 * %prefetch + 2048] locality 2
loop.kernel @two_blocks ins(%w: memref<3x4x64x16xf32>) outs(%y: memref<3x4x3x16xf32>) {
  loop.for %g = 0 to 3 "g" {
    loop.for %o = 0 to 2 "o" attributes {loop.prefetch_spread = [array<i64: 0, 1>]} {
      loop.for %t = 0 to 3 "t" {
        loop.for %k = 0 to 64 "k" {
          loop.for %b = 0 to 2 "b" unrolled {
            loop.for %l = 0 to 16 "l" vectorized {
              %v = loop.load %w[%g, 2 * %o + %b, %k, %l] : memref<3x4x64x16xf32>
              loop.store %v, %y[%g, 2 * %o + %b, %t, %l] : memref<3x4x3x16xf32>
            }
          }
        }
      }
    }
  }
}

// Forty tiles: a row of 16 numbers, a line, holds 40 parts of less than one, four rows hold less than a line each, too,
// so that the loop around them asks.

// CHECK-LABEL: loop.kernel @many_tiles
// CHECK:             loop.for %r = 0 to 8 "r" {
// CHECK-NEXT:          loop.prefetch %w[0, 0, 512 * %o + (64 * %t + 8 * %r) floordiv 5 + 512] locality 2
// CHECK-NEXT:          loop.for %k = 0 to 4 "k" {
// CHECK-NOT:             prefetch
loop.kernel @many_tiles ins(%w: memref<4x32x16xf32>) outs(%y: memref<4x40x16xf32>) {
  loop.for %o = 0 to 4 "o" attributes {loop.prefetch_spread = [array<i64: 0, 1>]} {
    loop.for %t = 0 to 40 "t" {
      loop.for %r = 0 to 8 "r" {
        loop.for %k = 0 to 4 "k" {
          loop.for %l = 0 to 16 "l" vectorized {
            %v = loop.load %w[%o, 4 * %r + %k, %l] : memref<4x32x16xf32>
            loop.store %v, %y[%o, %t, %l] : memref<4x40x16xf32>
          }
        }
      }
    }
  }
}

// Two tiles: each row of four lines has two for each; the innermost loop asks.

// CHECK-LABEL: loop.kernel @few_tiles
// CHECK:               loop.for %k = 0 to 4 "k" {
// CHECK-NEXT:            loop.for %prefetch
// CHECK-NEXT:              loop.prefetch %w
loop.kernel @few_tiles ins(%w: memref<4x32x64xf32>) outs(%y: memref<4x2x64xf32>) {
  loop.for %o = 0 to 4 "o" attributes {loop.prefetch_spread = [array<i64: 0, 1>]} {
    loop.for %t = 0 to 2 "t" {
      loop.for %r = 0 to 8 "r" {
        loop.for %k = 0 to 4 "k" {
          loop.for %l = 0 to 64 "l" vectorized {
            %v = loop.load %w[%o, 4 * %r + %k, %l] : memref<4x32x64xf32>
            loop.store %v, %y[%o, %t, %l] : memref<4x2x64xf32>
          }
        }
      }
    }
  }
}

// Left out: no loop inside to spread it over; places that do not move evenly.

// CHECK-LABEL: loop.kernel @uneven
// CHECK-NOT:     prefetch
loop.kernel @uneven ins(%x: memref<8x16xf32>) outs(%y: memref<8x16xf32>) {
  loop.for %i = 0 to 8 "i" attributes {loop.prefetch_spread = [array<i64: 0, 1>]} {
    loop.for %l = 0 to 16 "l" vectorized {
      %v = loop.load %x[%i, %l] : memref<8x16xf32>
      loop.store %v, %y[%i, %l] : memref<8x16xf32>
    }
    loop.for %j = 0 to 16 "j" {
      %v = loop.load %x[%i floordiv 2, %j] : memref<8x16xf32>
      loop.store %v, %y[%i, %j] : memref<8x16xf32>
    }
  }
}

// Each pattern alone, which leaves the requests of the other one.
// RUN: opt-tool %s --apply-pattern loop-inject-prefetch.prefetch-ahead | filecheck %s --check-prefix=AHEAD
// AHEAD-LABEL: loop.kernel @line
// AHEAD:         loop.prefetch %x[%i + 1, 0]
// AHEAD-LABEL: loop.kernel @tiles
// AHEAD-NEXT:    loop.prefetch_spread
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --apply-pattern loop-inject-prefetch.prefetch-pieces | filecheck %s --check-prefix=PIECES
// PIECES-LABEL: loop.kernel @line
// PIECES-NOT:     loop.prefetch %
// PIECES-LABEL: loop.kernel @tiles
// PIECES:         loop.prefetch %w
