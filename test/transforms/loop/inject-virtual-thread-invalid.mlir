// RUN: opt-tool %s -p loop-inject-virtual-thread --split-input-file --verify-diagnostics

loop.kernel @number ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  // expected-error@+1 {{loop 't' cannot be virtual threads that are interleaved: their number N is not constant; split the axis by a factor, with tail guard, and bind the inner one}}
  loop.for %t = 0 to %N "t" vthread {
    %v = loop.load %x[%t] : memref<?xf32>
    loop.store %v, %y[%t] : memref<?xf32>
  }
}

// -----

loop.kernel @one_element ins(%x: memref<8xf32>) outs(%y: memref<4xf32>) {
  // expected-error@+1 {{loop 't' cannot be virtual threads that are interleaved: one of them writes an element of %y that another one may write or read; bind an axis whose iterations have elements of their own}}
  loop.for %t = 0 to 2 "t" vthread {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %x[%t * 4 + %i] : memref<8xf32>
      loop.store %v, %y[%i] : memref<4xf32>
    }
  }
}

// -----

// Threads that overlap would add to the same sum twice.

loop.kernel @overlapping ins(%x: memref<6x8xf32>) outs(%y: memref<6xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error@+1 {{one of them writes an element of %y that another one may write or read}}
  loop.for %t = 0 to 2 "t" vthread {
    loop.for %i = 0 to 4 "i" {
      loop.store %zero, %y[%i + 2 * %t] : memref<6xf32>
      loop.for %k = 0 to 8 "k" {
        %v = loop.load %x[%i + 2 * %t, %k] : memref<6x8xf32>
        %old = loop.load %y[%i + 2 * %t] : memref<6xf32>
        %new = arith.addf %old, %v : f32
        loop.store %new, %y[%i + 2 * %t] : memref<6xf32>
      }
    }
  }
}

// -----

// The parts are longer by one than the distance between them.

loop.kernel @symbolic_parts ins(%x: memref<?xf32> [3 * N + 1]) outs(%y: memref<?xf32> [3 * N + 1]) symbols(%N) {
  // expected-error@+1 {{one of them writes an element of %y that another one may write or read}}
  loop.for %t = 0 to 3 "t" vthread {
    loop.for %i = 0 to %N + 1 "i" {
      %v = loop.load %x[%N * %t + %i] : memref<?xf32>
      %w = arith.negf %v : f32
      loop.store %w, %y[%N * %t + %i] : memref<?xf32>
    }
  }
}

// -----

// Remainders alone do not tell threads apart.

loop.kernel @remainders ins(%x: memref<26xf32>) outs(%y: memref<13xf32>) {
  // expected-error@+1 {{one of them writes an element of %y that another one may write or read}}
  loop.for %t = 0 to 2 "t" vthread {
    loop.for %i = 0 to 13 "i" {
      %v = loop.load %x[13 * %t + %i] : memref<26xf32>
      loop.store %v, %y[(13 * %t + 2 * %i) mod 13] : memref<13xf32>
    }
  }
}

// -----

// What all threads would do alike, one after the other, is not what one of them does.

loop.kernel @counted outs(%y: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  loop.store %zero, %y[0] : memref<1xf32>
  // expected-error@+1 {{one of them writes an element of %y that another one may write or read}}
  loop.for %t = 0 to 2 "t" vthread {
    %old = loop.load %y[0] : memref<1xf32>
    %new = arith.addf %old, %one : f32
    loop.store %new, %y[0] : memref<1xf32>
  }
}

// -----

// A buffer outside the loop is shared, and one thread reads there what the one before has written.

loop.kernel @carried ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  %b = memref.alloca() : memref<5xf32, "local">
  %zero = arith.constant 0.0 : f32
  loop.store %zero, %b[0] : memref<5xf32, "local">
  // expected-error@+1 {{one of them writes an element of %b that another one may write or read}}
  loop.for %t = 0 to 4 "t" vthread {
    %v = loop.load %x[%t] : memref<4xf32>
    %before = loop.load %b[%t] : memref<5xf32, "local">
    %s = arith.addf %before, %v : f32
    loop.store %s, %b[%t + 1] : memref<5xf32, "local">
    loop.store %s, %y[%t] : memref<4xf32>
  }
}

// -----

// The last thread that writes an element is another one where loops are shared.

loop.kernel @last ins(%x: memref<8xf32>) outs(%y: memref<1xf32>) {
  // expected-error@+1 {{one of them writes an element of %y that another one may write or read}}
  loop.for %t = 0 to 2 "t" vthread {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.if [-%i - 2 * %t + 3 >= 0] {
        loop.store %v, %y[0] : memref<1xf32>
      }
    }
  }
}

// -----

loop.kernel @ahead ins(%x: memref<2x8xf32>) outs(%y: memref<2x8xf32>) {
  // expected-error@+1 {{loop 't' cannot be virtual threads that are interleaved: none is a later iteration to prefetch for; prefetch at a loop around or inside}}
  loop.for %t = 0 to 2 "t" vthread attributes {loop.prefetch = [array<i64: 0, 1>]} {
    loop.for %i = 0 to 8 "i" {
      %v = loop.load %x[%t, %i] : memref<2x8xf32>
      loop.store %v, %y[%t, %i] : memref<2x8xf32>
    }
  }
}

// -----

loop.kernel @viewed ins(%x: memref<2xf32>) outs(%y: memref<2xf32>) {
  // expected-error@+1 {{loop 't' cannot be virtual threads that are interleaved: each needs a buffer %b of its own, but memref.cast takes all of it; run loop-inject-virtual-thread before the pass that inserts this operation}}
  loop.for %t = 0 to 2 "t" vthread {
    %b = memref.alloca() : memref<1xf32>
    %v = loop.load %x[%t] : memref<2xf32>
    loop.store %v, %b[0] : memref<1xf32>
    %c = "memref.cast"(%b) : (memref<1xf32>) -> memref<1xf32, strided<[1]>>
    %w = loop.load %c[0] : memref<1xf32, strided<[1]>>
    loop.store %w, %y[%t] : memref<2xf32>
  }
}
