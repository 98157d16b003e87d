// RUN: opt-tool %s -p loop-tensorize | filecheck %s
// RUN: opt-tool %s -p loop-tensorize --check-semantics -o /dev/null

// The nests of a sum: zeros, products, a copy. Which loop is which, the distances between elements say.
// CHECK-LABEL: loop.kernel @product
// CHECK:         loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [32, 1] : memref<512xf32, "amx">
// CHECK-NEXT:    loop.intrinsic @amx.tile_zero writes %acc[16] of [16, 16] strides [32, 1] : memref<512xf32, "amx">
// CHECK-NEXT:    loop.for %ko = 0 to 2 "ko" {
// CHECK-NEXT:      loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [32, 1] from %a[32 * %ko] of [16, 32] strides [64, 1], %b[512 * %ko] of [16, 32] strides [32, 1] : memref<512xf32, "amx">, memref<1024xbf16>, memref<2048xbf16>
// CHECK-NEXT:      loop.intrinsic @amx.tile_mulf updates %acc[16] of [16, 16] strides [32, 1] from %a[32 * %ko] of [16, 32] strides [64, 1], %b[512 * %ko + 1024] of [16, 32] strides [32, 1]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [32, 1] from %acc[0] of [16, 16] strides [32, 1] : memref<512xf32>, memref<512xf32, "amx">
// CHECK-NEXT:    loop.intrinsic @amx.tile_store writes %y[16] of [16, 16] strides [32, 1] from %acc[16] of [16, 16] strides [32, 1]
// CHECK-NEXT:  }
loop.kernel @product ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
  loop.for %n = 0 to 16 "n" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %m = 0 to 16 "m" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n + 16] : memref<512xf32, "amx">
    }
  }
  loop.for %ko = 0 to 2 "ko" {
    loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_mulf} {
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
    loop.for %h = 0 to 2 "h" attributes {loop.tensorize = @amx.tile_mulf} {
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
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_store} {
    loop.for %n = 0 to 16 "n" {
      %v = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
      loop.store %v, %y[32 * %m + %n + 0] : memref<512xf32>
    }
  }
  loop.for %n = 0 to 16 "n" attributes {loop.tensorize = @amx.tile_store} {
    loop.for %m = 0 to 16 "m" {
      %v = loop.load %acc[32 * %m + %n + 16] : memref<512xf32, "amx">
      loop.store %v, %y[32 * %m + %n + 16] : memref<512xf32>
    }
  }
}

// Loops begin anywhere and may be unrolled; constants may stand in front.
// CHECK-LABEL: loop.kernel @edges
// CHECK:         loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [32, 1]
// CHECK-NEXT:    loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [32, 1] from %a[9] of [16, 32] strides [64, 1], %b[5] of [16, 32] strides [32, 1]
// CHECK-NEXT:    loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [32, 1] from %acc[0] of [16, 16] strides [32, 1]
loop.kernel @edges ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  %z = arith.constant 0.0 : f32
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" {
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
  loop.for %k = 3 to 19 "k" attributes {loop.tensorize = @amx.tile_mulf} {
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
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_store} {
    loop.for %n = 0 to 16 "n" {
      %v = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
      loop.store %v, %y[32 * %m + %n + 0] : memref<512xf32>
    }
  }
}

// An intrinsic of the program's own: a product of vectors, whose sum is an element. Constants and choices are compared,
// operands of what commutes are in any order, and one argument may stand twice.
te.intrinsic @my.dot4(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<f32> attributes {
  accumulates, buffers = [memref<4xf32, strided<[?]>>, memref<4xf32>, memref<f32>]
} {
  %y = te.compute "y" [] reduce [k: 4] : tensor<f32> {
    %x = te.read %a[3 - k] : tensor<4xf32>
    %w = te.read %b[k] : tensor<4xf32>
    %two = arith.constant 2.0 : f32
    %xx = arith.mulf %x, %x : f32
    %p = arith.mulf %xx, %w : f32
    %r = arith.subf %two, %p : f32
    te.reduce add %r : f32
  }
  te.return %y : tensor<f32>
}
// CHECK-LABEL: loop.kernel @dot
// CHECK:         loop.intrinsic @my.dot4 updates %y[%i] of [] strides [] from %a[12 * %i - 9] of [4] strides [3], %b[%i + 7] of [4] strides [1]
loop.kernel @dot ins(%a: memref<1024xf32>, %b: memref<2048xf32>) outs(%y: memref<16xf32>) {
  loop.for %i = 1 to 16 "i" {
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %y[%i] : memref<16xf32>
    loop.for %k = 0 to 4 "k" attributes {loop.tensorize = @my.dot4} {
      %x = loop.load %a[12 * %i - 3 * %k] : memref<1024xf32>
      %w = loop.load %b[%i + %k + 7] : memref<2048xf32>
      %two = arith.constant 2.0 : f32
      %xx = arith.mulf %x, %x : f32
      %p = arith.mulf %w, %xx : f32
      %r = arith.subf %two, %p : f32
      %c = loop.load %y[%i] : memref<16xf32>
      %s = arith.addf %r, %c : f32
      loop.store %s, %y[%i] : memref<16xf32>
    }
  }
}

// The pattern alone, at one nest; a loop in which nothing is asked for is none.
// RUN: opt-tool %s --apply-pattern loop-tensorize.nest-to-intrinsic@17 | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: loop.kernel @product
// ALONE:         loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [32, 1]
// ALONE-NEXT:    loop.for {{.*}} attributes {loop.tensorize = @amx.tile_zero} {
// RUN: not opt-tool %s --apply-pattern loop-tensorize.nest-to-intrinsic@18 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: loop-tensorize.nest-to-intrinsic does not match at line 18
