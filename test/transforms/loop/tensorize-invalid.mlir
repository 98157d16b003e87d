// RUN: opt-tool %s -p loop-tensorize --split-input-file --verify-diagnostics

loop.kernel @unknown ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' is to be "gemv": the known intrinsic is "amx"}}
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
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected acc[m, n] = 0 for m, n < 16, found loops 'm' of 8, 'n' of 16 that move %acc by 32, 1}}
  loop.for %m = 0 to 8 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @one ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected 0.0 or a sum to be stored to a buffer of scope "amx", or an element of one elsewhere, found what arith.constant gives}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 1.0 : f32
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @overlapping ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected acc[m, n] = 0 for m, n < 16}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[8 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @parallel ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected loops that run one iteration after the other, found 'n' is parallel}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" parallel {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @condition ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected loops inside each other around one store, found arith.constant, loop.if}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
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
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected nothing else in the loops, found loop.prefetch}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
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
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected subscripts that move evenly with the loops, found those of %acc}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n floordiv 2] : memref<512xf32, "amx">
    }
  }
}

// -----

loop.kernel @transposed ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected y[m, n] = acc[m, n] for m, n < 16}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      %v = loop.load %acc[32 * %m + %n + 0] : memref<512xf32, "amx">
      loop.store %v, %y[32 * %n + %m + 0] : memref<512xf32>
    }
  }
}

// -----

loop.kernel @k ins(%a: memref<1024xbf16>, %b: memref<2048xbf16>) outs(%y: memref<512xf32>) {
  %acc = memref.alloca() : memref<512xf32, "amx">
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected acc[m, n] + extf(a[m, 2 * k + h]) * extf(b[k, n, h]) for m, n, k < 16 and h < 2, found loops 'm' of 16, 'n' of 16, 'k' of 8, 'h' of 2 that move %acc by 32, 1, 0, 0; %a by 64, 0, 2, 1; %b by 0, 2, 32, 1}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
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
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected acc[m, n] + extf(a[m, 2 * k + h]) * extf(b[k, n, h]) for m, n, k < 16 and h < 2}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
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
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected acc[m, n] + extf(a[m, 2 * k + h]) * extf(b[k, n, h]), found a product of something else}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
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
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected 0.0 or a sum}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
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
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected acc[m, n] + extf(a[m, 2 * k + h]) * extf(b[k, n, h]), found a product of something else, or a sum that is stored elsewhere}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
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
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
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
  // expected-error@+1 {{loop 'm' cannot be tensorized as "amx": expected loops that begin at the same index each time, found 'n' that does not}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = %m to %m + 16 "n" {
      %z = arith.constant 0.0 : f32
      loop.store %z, %acc[32 * %m + %n] : memref<1024xf32, "amx">
    }
  }
}

// -----

loop.kernel @vector outs(%y: memref<1024xf32>) {
  %acc = memref.alloca() : memref<1024xf32, "amx">
  // expected-error@+1 {{found what loop.load gives, stored to memref<1024xf32>}}
  loop.for %m = 0 to 16 "m" attributes {loop.tensorize = "amx"} {
    loop.for %n = 0 to 16 "n" {
      %v = loop.load %acc[32 * %m + %n] : memref<1024xf32, "amx">, vector<16xf32>
      loop.store %v, %y[32 * %m + %n] : memref<1024xf32>, vector<16xf32>
    }
  }
}
