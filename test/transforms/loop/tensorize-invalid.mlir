// RUN: opt-tool %s -p loop-tensorize --split-input-file --verify-diagnostics

loop.kernel @unknown ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop.tensorize names an intrinsic, such as @dot8, and is "gemv"}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "gemv"} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @short ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_zero: the loops differ: expected result[m, n] = 0.0 : f32 for m < 16, n < 16; found %acc[32 * m + n] = 0.0 : f32 for m < 8, n < 16}}
  loop.for %m = 0 to 8 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @one ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_zero: what is stored differs: expected result[m, n] = 0.0 : f32 for m < 16, n < 16; found %acc[32 * m + n] = 1.0 : f32 for m < 16, n < 16}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 1.0 : f32
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @overlapping ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_zero: elements of %acc would have one place: strides [8, 1] for shape [16, 16]}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[8 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @parallel ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_zero: loop 'n' is parallel, where iterations are to follow each other}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" parallel {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @condition ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_zero: the loops are to hold stores, and hold loop.if}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.if [%m - 1 >= 0] {
        loop.store %z, %acc[32 * %m + %n] : memref<512xf32, "amx">
      }
    }
  }
}

// -----

loop.kernel @more ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_zero: besides what they store, the loops hold loop.prefetch}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.prefetch %y[%m] : memref<512xf32>
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @divided ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_zero: %acc is not accessed evenly: %acc[32 * m + n floordiv 2]}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n floordiv 2] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @transposed ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_store: %y moves otherwise, by 1 with m, 32 with n: expected result[m, n] = tile[m, n] : f32 for m < 16, n < 16; found %y[32 * n + m] = %acc[32 * m + n] : f32 for m < 16, n < 16}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_store} {
    loop.for %n = 0 to 16 "n" {
      %v = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
      loop.store %v, %y[32 * %n + %m + 0] : memref<512xf32>
    }
  }
}

// -----

loop.kernel @k ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_mulf: the loops differ: expected result[m, n] = addf(result[m, n], mulf(extf(a[m, 2 * k + h]), extf(b[k, 2 * n + h]))) : f32 for m < 16, n < 16, k < 16, h < 2; found %acc[32 * m + n] = addf(%acc[32 * m + n], mulf(extf(%a[64 * m + 2 * k + h]), extf(%b[32 * k + 2 * n + h]))) : f32 for m < 16, n < 16, k < 8, h < 2}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_mulf} {
    loop.for %n = 0 to 16 "n" {
      loop.for %k = 0 to 8 "k" {
        loop.for %h = 0 to 2 "h" {
          %c = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
          %x = loop.load %a[64 * %m + 2 * %k + %h] : memref<1024xbf16>
          %xw = arith.extf %x : bf16 to f32
          %w = loop.load %b[32 * %k + 2 * %n + %h + 0] : memref<2048xbf16>
          %ww = arith.extf %w : bf16 to f32
          %p = arith.mulf %xw, %ww : f32
          %s = arith.addf %c, %p : f32
          loop.store %s, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
        }
      }
    }
  }
}

// -----

loop.kernel @pairs ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_mulf: %b moves otherwise, by 0 with m, 1 with n, 32 with k, 16 with h: expected result[m, n] = addf(result[m, n], mulf(extf(a[m, 2 * k + h]), extf(b[k, 2 * n + h]))) : f32 for m < 16, n < 16, k < 16, h < 2; found %acc[32 * m + n] = addf(%acc[32 * m + n], mulf(extf(%a[64 * m + 2 * k + h]), extf(%b[32 * k + n + 16 * h]))) : f32 for m < 16, n < 16, k < 16, h < 2}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_mulf} {
    loop.for %n = 0 to 16 "n" {
      loop.for %k = 0 to 16 "k" {
        loop.for %h = 0 to 2 "h" {
          %c = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
          %x = loop.load %a[64 * %m + 2 * %k + %h] : memref<1024xbf16>
          %xw = arith.extf %x : bf16 to f32
          %w = loop.load %b[32 * %k + %n + 16 * %h + 0] : memref<2048xbf16>
          %ww = arith.extf %w : bf16 to f32
          %p = arith.mulf %xw, %ww : f32
          %s = arith.addf %c, %p : f32
          loop.store %s, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
        }
      }
    }
  }
}

// -----

loop.kernel @product ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_mulf: besides what they store, the loops hold loop.load}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_mulf} {
    loop.for %n = 0 to 16 "n" {
      loop.for %k = 0 to 16 "k" {
        loop.for %h = 0 to 2 "h" {
          %c = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
          %x = loop.load %a[64 * %m + 2 * %k + %h] : memref<1024xbf16>
          %xw = arith.extf %x : bf16 to f32
          %w = loop.load %b[32 * %k + 2 * %n + %h + 0] : memref<2048xbf16>
          %ww = arith.extf %w : bf16 to f32
          %p = arith.mulf %xw, %c : f32
          %s = arith.addf %c, %p : f32
          loop.store %s, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
        }
      }
    }
  }
}

// -----

loop.kernel @difference ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_mulf: what is stored differs: expected result[m, n] = addf(result[m, n], mulf(extf(a[m, 2 * k + h]), extf(b[k, 2 * n + h]))) : f32 for m < 16, n < 16, k < 16, h < 2; found %acc[32 * m + n] = subf(%acc[32 * m + n], mulf(extf(%a[64 * m + 2 * k + h]), extf(%b[32 * k + 2 * n + h]))) : f32 for m < 16, n < 16, k < 16, h < 2}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_mulf} {
    loop.for %n = 0 to 16 "n" {
      loop.for %k = 0 to 16 "k" {
        loop.for %h = 0 to 2 "h" {
          %c = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
          %x = loop.load %a[64 * %m + 2 * %k + %h] : memref<1024xbf16>
          %xw = arith.extf %x : bf16 to f32
          %w = loop.load %b[32 * %k + 2 * %n + %h + 0] : memref<2048xbf16>
          %ww = arith.extf %w : bf16 to f32
          %p = arith.mulf %xw, %ww : f32
          %s = arith.subf %c, %p : f32
          loop.store %s, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
        }
      }
    }
  }
}

// -----

loop.kernel @elsewhere ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_mulf: what is stored differs: expected result[m, n] = addf(result[m, n], mulf(extf(a[m, 2 * k + h]), extf(b[k, 2 * n + h]))) : f32 for m < 16, n < 16, k < 16, h < 2; found %acc[32 * m + n + 16] = addf(%acc[32 * m + n], mulf(extf(%a[64 * m + 2 * k + h]), extf(%b[32 * k + 2 * n + h]))) : f32 for m < 16, n < 16, k < 16, h < 2}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_mulf} {
    loop.for %n = 0 to 16 "n" {
      loop.for %k = 0 to 16 "k" {
        loop.for %h = 0 to 2 "h" {
          %c = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
          %x = loop.load %a[64 * %m + 2 * %k + %h] : memref<1024xbf16>
          %xw = arith.extf %x : bf16 to f32
          %w = loop.load %b[32 * %k + 2 * %n + %h + 0] : memref<2048xbf16>
          %ww = arith.extf %w : bf16 to f32
          %p = arith.mulf %xw, %ww : f32
          %s = arith.addf %c, %p : f32
          loop.store %s, %acc[32 * %m + %n + 16] : memref<512xf32, "amx">
        }
      }
    }
  }
}

// -----

loop.kernel @untouched ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  loop.for %m = 0 to 16 "m" {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      // expected-error@+1 {{%acc of scope "amx" is touched by loops that are not tensorized}}
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @dimensions ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  %b2 = memref.alloca() : memref<16x16xf32, "amx">
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      // expected-error@+1 {{loop.store has 2 subscripts: run loop-flatten-storage first}}
      loop.store %z, %b2[%m, %n] : memref<16x16xf32, "amx">
    }
  }
}

// -----

loop.kernel @triangle outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<1024xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_zero: loop 'n' begins at another index each time}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_zero} {
    loop.for %n = %m to %m + 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n] : memref<1024xf32, "amx">
    }
  }
}

// -----

loop.kernel @vector outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<1024xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as @amx.tile_store: the loops are to hold scalars, and store a vector<16xf32>}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @amx.tile_store} {
    loop.for %n = 0 to 16 "n" {
      %v = loop.load %acc[32 * %m + %n] : memref<1024xf32, "amx">, vector<16xf32>
      loop.store %v, %y[32 * %m + %n] : memref<1024xf32>, vector<16xf32>
    }
  }
}

// -----

te.intrinsic @my.sums(%a: tensor<2x4xf32>) -> tensor<2xf32> {
  %y = te.compute "y" [i: 2] reduce [k: 4] : tensor<2xf32> {
    %x = te.read %a[i, k] : tensor<2x4xf32>
    te.reduce max %x : f32
  }
  te.return %y : tensor<2xf32>
}
loop.kernel @no_identity ins(%x: memref<8xf32>) outs(%y: memref<2xf32>) {
  // expected-error@+1 {{loop 'i' cannot be tensorized as @my.sums: the nest is to set the result to the identity first, which it does not: expected result[i] = maximumf(result[i], a[i, k]) : f32 for i < 2, k < 4}}
  loop.for %i = 0 to 2 "i" attributes {loop.tensorize = @my.sums} {
    loop.for %k = 0 to 4 "k" {
      %c = loop.load %y[%i] : memref<2xf32>
      %v = loop.load %x[4 * %i + %k] : memref<8xf32>
      %s = arith.maximumf %c, %v : f32
      loop.store %s, %y[%i] : memref<2xf32>
    }
  }
}

// -----

te.intrinsic @my.sums(%a: tensor<2x4xf32>) -> tensor<2xf32> {
  %y = te.compute "y" [i: 2] reduce [k: 4] : tensor<2xf32> {
    %x = te.read %a[i, k] : tensor<2x4xf32>
    te.reduce max %x : f32
  }
  te.return %y : tensor<2xf32>
}
loop.kernel @other_identity ins(%x: memref<8xf32>) outs(%y: memref<2xf32>) {
  // expected-error@+1 {{loop 'i' cannot be tensorized as @my.sums: the result is to be set to -inf first}}
  loop.for %i = 0 to 2 "i" attributes {loop.tensorize = @my.sums} {
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %y[%i] : memref<2xf32>
    loop.for %k = 0 to 4 "k" {
      %c = loop.load %y[%i] : memref<2xf32>
      %v = loop.load %x[4 * %i + %k] : memref<8xf32>
      %s = arith.maximumf %c, %v : f32
      loop.store %s, %y[%i] : memref<2xf32>
    }
  }
}

// -----

te.intrinsic @my.sums(%a: tensor<2x4xf32>) -> tensor<2xf32> {
  %y = te.compute "y" [i: 2] reduce [k: 4] : tensor<2xf32> {
    %x = te.read %a[i, k] : tensor<2x4xf32>
    te.reduce add %x : f32
  }
  te.return %y : tensor<2xf32>
}
loop.kernel @another_part ins(%x: memref<8xf32>) outs(%y: memref<4xf32>) {
  // expected-error@+1 {{loop 'i' cannot be tensorized as @my.sums: another part is set to 0.0 first: %y[2 * i]}}
  loop.for %i = 0 to 2 "i" attributes {loop.tensorize = @my.sums} {
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %y[2 * %i] : memref<4xf32>
    loop.for %k = 0 to 4 "k" {
      %c = loop.load %y[%i] : memref<4xf32>
      %v = loop.load %x[4 * %i + %k] : memref<8xf32>
      %s = arith.addf %c, %v : f32
      loop.store %s, %y[%i] : memref<4xf32>
    }
  }
}

// -----

te.intrinsic @my.sums(%a: tensor<2x4xf32>) -> tensor<2xf32> attributes {accumulates} {
  %y = te.compute "y" [i: 2] reduce [k: 4] : tensor<2xf32> {
    %x = te.read %a[i, k] : tensor<2x4xf32>
    te.reduce add %x : f32
  }
  te.return %y : tensor<2xf32>
}
loop.kernel @no_reset ins(%x: memref<8xf32>) outs(%y: memref<2xf32>) {
  // expected-error@+1 {{loop 'i' cannot be tensorized as @my.sums: the nest sets the result to the identity first, and the declaration names no 'reset' that does}}
  loop.for %i = 0 to 2 "i" attributes {loop.tensorize = @my.sums} {
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %y[%i] : memref<2xf32>
    loop.for %k = 0 to 4 "k" {
      %c = loop.load %y[%i] : memref<2xf32>
      %v = loop.load %x[4 * %i + %k] : memref<8xf32>
      %s = arith.addf %c, %v : f32
      loop.store %s, %y[%i] : memref<2xf32>
    }
  }
}

// -----

te.intrinsic @my.copy(%a: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %x = te.read %a[i] : tensor<4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
loop.kernel @moved_along outs(%y: memref<8xf32>) {
  // expected-error@+1 {{loop 'i' cannot be tensorized as @my.copy: the nest reads %y while it writes it, which intrinsics do not}}
  loop.for %i = 0 to 4 "i" attributes {loop.tensorize = @my.copy} {
    %v = loop.load %y[%i] : memref<8xf32>
    loop.store %v, %y[%i + 1] : memref<8xf32>
  }
}

// -----

te.intrinsic @my.copy(%a: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %x = te.read %a[i] : tensor<4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
loop.kernel @larger ins(%x: memref<24xf32>) outs(%y: memref<24xf32>) {
  // expected-error@+1 {{loop 'i' cannot be tensorized as @my.copy: the loops differ (split 'j' by 4, put 'i' outside of them, and tensorize the inner loops): expected}}
  loop.for %i = 0 to 3 "i" attributes {loop.tensorize = @my.copy} {
    loop.for %j = 0 to 8 "j" {
      %v = loop.load %x[8 * %i + %j] : memref<24xf32>
      loop.store %v, %y[8 * %i + %j] : memref<24xf32>
    }
  }
}
