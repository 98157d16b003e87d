// RUN: opt-tool %s -p loop-tensorize | filecheck %s
// RUN: opt-tool %s -p loop-tensorize --check-semantics -o /dev/null

// The nests of a sum: zeros, products, a copy. Which loop is which, the distances between elements say.
// CHECK-LABEL: loop.kernel @product
// CHECK:         amx.tile_zero %acc[0] stride 32 : memref<512xf32, "amx">
// CHECK-NEXT:    amx.tile_zero %acc[16] stride 32 : memref<512xf32, "amx">
// CHECK-NEXT:    loop.for %ko = 0 to 2 "ko" {
// CHECK-NEXT:      amx.tile_mulf %acc[0] stride 32, %a[32 * %ko] stride 64, %b[512 * %ko] stride 32 : memref<512xf32, "amx">, memref<1024xbf16>, memref<2048xbf16>
// CHECK-NEXT:      amx.tile_mulf %acc[16] stride 32, %a[32 * %ko] stride 64, %b[512 * %ko + 1024] stride 32
// CHECK-NEXT:    }
// CHECK-NEXT:    amx.tile_store %acc[0] stride 32, %y[0] stride 32 : memref<512xf32, "amx">, memref<512xf32>
// CHECK-NEXT:    amx.tile_store %acc[16] stride 32, %y[16] stride 32
// CHECK-NEXT:  }
loop.kernel @product ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
  loop.for %n = 0 to 16 "n" attributes {loop.tensorize = "amx"} {
    loop.for %m = 0 to 16 "m" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n + 16] : memref<512xf32, "amx">
    }
  }
  loop.for %ko = 0 to 2 "ko" {
    loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
      loop.for %n = 0 to 16 "n" {
        loop.for %k = 0 to 16 "k" {
          loop.for %h = 0 to 2 "h" {
            %c = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
            %x = loop.load %a[64 * %m + 32 * %ko + 2 * %k + %h] : memref<1024xbf16>
            %xw = arith.extf %x : bf16 to f32
            %w = loop.load %b[512 * %ko + 32 * %k + 2 * %n + %h + 0] : memref<2048xbf16>
            %ww = arith.extf %w : bf16 to f32
            %p = arith.mulf %xw, %ww : f32
            %s = arith.addf %c, %p : f32
            loop.store %s, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
          }
        }
      }
    }
    loop.for %h = 0 to 2 "h" attributes {loop.tensorize = "amx"} {
      loop.for %n = 0 to 16 "n" {
        loop.for %k = 0 to 16 "k" {
          loop.for %m = 0 to 16 "m" {
            %c = loop.load %acc[32 * %m + %n + 16] : memref<512xf32, "amx">
            %x = loop.load %a[64 * %m + 32 * %ko + 2 * %k + %h] : memref<1024xbf16>
            %xw = arith.extf %x : bf16 to f32
            %w = loop.load %b[512 * %ko + 32 * %k + 2 * %n + %h + 1024] : memref<2048xbf16>
            %ww = arith.extf %w : bf16 to f32
            %p = arith.mulf %ww, %xw : f32
            %s = arith.addf %p, %c : f32
            loop.store %s, %acc[32 * %m + %n + 16] : memref<512xf32, "amx">
          }
        }
      }
    }
  }
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      %v = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
      loop.store %v, %y[32 * %m + %n + 0] : memref<512xf32>
    }
  }
  loop.for %n = 0 to 16 "n" attributes {loop.tensorize = "amx"} {
    loop.for %m = 0 to 16 "m" {
      %v = loop.load %acc[32 * %m + %n + 16] : memref<512xf32, "amx">
      loop.store %v, %y[32 * %m + %n + 16] : memref<512xf32>
    }
  }
}

// Loops begin anywhere and may be unrolled; constants may stand in front.
// CHECK-LABEL: loop.kernel @edges
// CHECK:         amx.tile_zero %acc[0] stride 32
// CHECK-NEXT:    amx.tile_mulf %acc[0] stride 32, %a[9] stride 64, %b[5] stride 32
// CHECK-NEXT:    amx.tile_store %acc[0] stride 32, %y[0] stride 32
loop.kernel @edges ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  %z = arith.constant 0.0 : f32
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
  loop.for %k = 3 to 19 "k" attributes {loop.tensorize = "amx"} {
    loop.for %m = 3 to 19 "m" unrolled {
      loop.for %h = 3 to 5 "h" unrolled {
        loop.for %n = 3 to 19 "n" {
          %c = loop.load %acc[32 * %m + %n - 99] : memref<512xf32, "amx">
          %x = loop.load %a[64 * %m + 2 * %k + %h - 192] : memref<1024xbf16>
          %xw = arith.extf %x : bf16 to f32
          %w = loop.load %b[32 * %k + 2 * %n + %h - 100] : memref<2048xbf16>
          %ww = arith.extf %w : bf16 to f32
          %p = arith.mulf %xw, %ww : f32
          %s = arith.addf %c, %p : f32
          loop.store %s, %acc[32 * %m + %n - 99] : memref<512xf32, "amx">
        }
      }
    }
  }
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      %v = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
      loop.store %v, %y[32 * %m + %n + 0] : memref<512xf32>
    }
  }
}

// The pattern alone, at one nest; a loop in which nothing is asked for is none.
// RUN: opt-tool %s --apply-pattern loop-tensorize.nest-to-tiles@17 | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: loop.kernel @product
// ALONE:         amx.tile_zero %acc[0] stride 32
// ALONE-NEXT:    loop.for {{.*}} attributes {loop.tensorize = "amx"} {
// RUN: not opt-tool %s --apply-pattern loop-tensorize.nest-to-tiles@18 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: loop-tensorize.nest-to-tiles does not match at line 18
