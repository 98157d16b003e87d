// RUN: opt-tool %s -p loop-inject-virtual-thread --check-semantics | filecheck %s

// Two threads copy rows and compute with them. Loops are shared, statements repeated; each thread needs a sum and a row
// of its own, whereas one copy of the weights serves both.

// CHECK-LABEL: loop.kernel @copy_compute
// CHECK-NEXT:    %zero = arith.constant
// CHECK-NEXT:    %sum = memref.alloca() : memref<2x4xf32, "local">
// CHECK-NEXT:    loop.for %i = 0 to 4 "i" {
// CHECK-NEXT:      loop.for %t = 0 to 2 "t" unrolled {
// CHECK-NEXT:        loop.store %zero, %sum[%t, %i] : memref<2x4xf32, "local">
// CHECK:         loop.for %k = 0 to 8 "k" {
// CHECK-NEXT:      %row = memref.alloca() {loop.double_buffer} : memref<2x4xf32, "local">
// CHECK-NEXT:      loop.for %i_1 = 0 to 4 "i" {
// CHECK-NEXT:        loop.for %t_1 = 0 to 2 "t" unrolled {
// CHECK-NEXT:          %v = loop.load %x[%t_1, %k, %i_1] : memref<2x8x4xf32>
// CHECK-NEXT:          loop.store %v, %row[%t_1, %i_1] : memref<2x4xf32, "local">
// CHECK:           %weight = memref.alloca() : memref<4xf32, "local">
// CHECK-NEXT:      loop.for %i_2 = 0 to 4 "i" {
// CHECK-NEXT:        %v_1 = loop.load %w[%k, %i_2] : memref<8x4xf32>
// CHECK-NEXT:        loop.store %v_1, %weight[%i_2] : memref<4xf32, "local">
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.for %i_3 = 0 to 4 "i" {
// CHECK-NEXT:        %b = loop.load %weight[%i_3] : memref<4xf32, "local">
// CHECK-NEXT:        loop.for %t_2 = 0 to 2 "t" unrolled {
// CHECK-NEXT:          %old = loop.load %sum[%t_2, %i_3] : memref<2x4xf32, "local">
// CHECK-NEXT:          %a = loop.load %row[%t_2, %i_3] : memref<2x4xf32, "local">
// CHECK:         loop.for %i_4 = 0 to 4 "i" {
// CHECK-NEXT:      loop.for %t_3 = 0 to 2 "t" unrolled {
// CHECK-NEXT:        %r = loop.load %sum[%t_3, %i_4] : memref<2x4xf32, "local">
// CHECK-NEXT:        loop.store %r, %y[%t_3, %i_4] : memref<2x4xf32>
loop.kernel @copy_compute ins(%x: memref<2x8x4xf32>, %w: memref<8x4xf32>) outs(%y: memref<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %t = 0 to 2 "t" vthread {
    %sum = memref.alloca() : memref<4xf32, "local">
    loop.for %i = 0 to 4 "i" {
      loop.store %zero, %sum[%i] : memref<4xf32, "local">
    }
    loop.for %k = 0 to 8 "k" {
      %row = memref.alloca() {loop.double_buffer} : memref<4xf32, "local">
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %x[%t, %k, %i] : memref<2x8x4xf32>
        loop.store %v, %row[%i] : memref<4xf32, "local">
      }
      %weight = memref.alloca() : memref<4xf32, "local">
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %w[%k, %i] : memref<8x4xf32>
        loop.store %v, %weight[%i] : memref<4xf32, "local">
      }
      loop.for %i = 0 to 4 "i" {
        %old = loop.load %sum[%i] : memref<4xf32, "local">
        %a = loop.load %row[%i] : memref<4xf32, "local">
        %b = loop.load %weight[%i] : memref<4xf32, "local">
        %product = arith.mulf %a, %b : f32
        %new = arith.addf %old, %product : f32
        loop.store %new, %sum[%i] : memref<4xf32, "local">
      }
    }
    loop.for %i = 0 to 4 "i" {
      %r = loop.load %sum[%i] : memref<4xf32, "local">
      loop.store %r, %y[%t, %i] : memref<2x4xf32>
    }
  }
}

// The double buffer is filled for all threads at once, an iteration early.
// RUN: opt-tool %s -p loop-inject-virtual-thread,loop-inject-double-buffer --check-semantics | filecheck %s --check-prefix=DOUBLE
// DOUBLE-LABEL: loop.kernel @copy_compute
// DOUBLE:         %row = memref.alloca() : memref<2x2x4xf32, "local">
// DOUBLE:         loop.for %k_1 = 0 to 8 "k" {
// DOUBLE-NEXT:      loop.for %k_2 = %k_1 + 1 to min(8, %k_1 + 2) "k.next" {
// DOUBLE-NEXT:        loop.for %{{.*}} = 0 to 4 "i" {
// DOUBLE-NEXT:          loop.for %t_2 = 0 to 2 "t" unrolled {
// DOUBLE-NEXT:            loop.load %x[%t_2, %k_2, %{{.*}}] : memref<2x8x4xf32>
// DOUBLE-NEXT:            loop.store %{{.*}}, %row[%k_2 mod 2, %t_2, %{{.*}}] : memref<2x2x4xf32, "local">

// Threads of threads: a buffer that depends on the inner ones is there once for each of those, whichever the outer one.

// CHECK-LABEL: loop.kernel @nested
// CHECK-NEXT:    loop.for %i = 0 to 10 "i" {
// CHECK-NEXT:      %b = memref.alloca() : memref<3x4xf32, "local">
// CHECK-NEXT:      loop.for %tx = 0 to 3 "tx" unrolled {
// CHECK-NEXT:        loop.load %x[3 * %i + %tx] : memref<30xf32>
// CHECK-NEXT:        loop.store %{{.*}}, %b[%tx, %i mod 4] : memref<3x4xf32, "local">
// CHECK-NEXT:      }
// CHECK-NEXT:      %c = memref.alloca() : memref<2x3xf32, "local">
// CHECK-NEXT:      loop.for %ty = 0 to 2 "ty" unrolled {
// CHECK-NEXT:        %u = loop.load %z[%ty] : memref<2xf32>
// CHECK-NEXT:        loop.for %tx_1 = 0 to 3 "tx" unrolled {
// CHECK-NEXT:          %s = loop.load %b[%tx_1, %i mod 4] : memref<3x4xf32, "local">
// CHECK-NEXT:          %w = arith.mulf %s, %u : f32
// CHECK-NEXT:          loop.store %w, %c[%ty, %tx_1] : memref<2x3xf32, "local">
loop.kernel @nested ins(%x: memref<30xf32>, %z: memref<2xf32>) outs(%y: memref<2x30xf32>) {
  loop.for %i = 0 to 10 "i" {
    loop.for %ty = 0 to 2 "ty" vthread {
      loop.for %tx = 0 to 3 "tx" vthread {
        %b = memref.alloca() : memref<4xf32, "local">
        %v = loop.load %x[%i * 3 + %tx] : memref<30xf32>
        loop.store %v, %b[%i mod 4] : memref<4xf32, "local">
        %c = memref.alloca() : memref<f32, "local">
        %s = loop.load %b[%i mod 4] : memref<4xf32, "local">
        %u = loop.load %z[%ty] : memref<2xf32>
        %w = arith.mulf %s, %u : f32
        loop.store %w, %c[] : memref<f32, "local">
        %r = loop.load %c[] : memref<f32, "local">
        loop.store %r, %y[%ty, %i * 3 + %tx] : memref<2x30xf32>
      }
    }
  }
}

// One thread has no other to be interleaved with, and none runs nothing: both are serial loops, which other passes
// replace.

// CHECK-LABEL: loop.kernel @few
// CHECK-NEXT:    loop.for %t = 0 to 1 "one" {
// CHECK-NEXT:      %b = memref.alloca() : memref<f32, "local">
// CHECK:         loop.for %{{.*}} = 3 to 3 "none" {
// CHECK-NEXT:      loop.load
loop.kernel @few ins(%x: memref<4xf32>) outs(%y: memref<1xf32>) {
  loop.for %t = 0 to 1 "one" vthread {
    %b = memref.alloca() : memref<f32, "local">
    %v = loop.load %x[%t] : memref<4xf32>
    loop.store %v, %b[] : memref<f32, "local">
    %w = loop.load %b[] : memref<f32, "local">
    loop.store %w, %y[0] : memref<1xf32>
  }
  loop.for %t = 3 to 3 "none" vthread {
    %v = loop.load %x[%t] : memref<4xf32>
    loop.store %v, %y[0] : memref<1xf32>
  }
}

// A condition that is the same for all threads is shared. One that is not is a statement, and so is what depends on it:
// the buffer that some threads alone write.

// CHECK-LABEL: loop.kernel @conditions
// CHECK-NEXT:    loop.for %i = 0 to 9 "i" {
// CHECK-NEXT:      %b = memref.alloca() : memref<2xf32, "local">
// CHECK-NEXT:      loop.if [-%i + 5 >= 0] {
// CHECK-NEXT:        loop.for %t = 0 to 2 "t" unrolled {
// CHECK-NEXT:          loop.load %x[2 * %i + %t]
// CHECK-NEXT:          loop.store %{{.*}}, %b[%t]
// CHECK-NEXT:        }
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %one = arith.constant
// CHECK-NEXT:        loop.for %t_1 = 0 to 2 "t" unrolled {
// CHECK-NEXT:          loop.store %one, %b[%t_1]
// CHECK:           loop.for %t_2 = 0 to 2 "t" unrolled {
// CHECK-NEXT:        loop.if [-2 * %i - %t_2 + 14 >= 0] {
loop.kernel @conditions ins(%x: memref<18xf32>) outs(%y: memref<15xf32>) {
  loop.for %t = 0 to 2 "t" vthread {
    loop.for %i = 0 to 9 "i" {
      %b = memref.alloca() : memref<f32, "local">
      loop.if [-%i + 5 >= 0] {
        %v = loop.load %x[%i * 2 + %t] : memref<18xf32>
        loop.store %v, %b[] : memref<f32, "local">
      } else {
        %one = arith.constant 1.0 : f32
        loop.store %one, %b[] : memref<f32, "local">
      }
      loop.if [-2 * %i - %t + 14 >= 0] {
        %v = loop.load %b[] : memref<f32, "local">
        loop.store %v, %y[%i * 2 + %t] : memref<15xf32>
      }
    }
  }
}

// CHECK-LABEL: loop.kernel @own_condition
// CHECK-NEXT:    %b = memref.alloca() : memref<2xf32, "local">
// CHECK-NEXT:    %zero = arith.constant
// CHECK-NEXT:    loop.for %t = 0 to 2 "t" unrolled {
// CHECK-NEXT:      loop.store %zero, %b[%t]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.for %t_1 = 0 to 2 "t" unrolled {
// CHECK-NEXT:      loop.if [%t_1 - 1 >= 0] {
loop.kernel @own_condition outs(%y: memref<2xf32>) {
  loop.for %t = 0 to 2 "t" vthread {
    %b = memref.alloca() : memref<f32, "local">
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %b[] : memref<f32, "local">
    loop.if [%t - 1 >= 0] {
      %one = arith.constant 1.0 : f32
      loop.store %one, %b[] : memref<f32, "local">
    }
    %v = loop.load %b[] : memref<f32, "local">
    loop.store %v, %y[%t] : memref<2xf32>
  }
}

// A loop whose length depends on the thread stays whole, and its buffer inside it. Threads of such a statement are not
// unrolled.

// CHECK-LABEL: loop.kernel @own_length
// CHECK-NEXT:    loop.for %t = 0 to 2 "t" {
// CHECK-NEXT:      loop.for %i = 0 to min(-4 * %t + 7, 4) "i" {
// CHECK-NEXT:        %b = memref.alloca() : memref<f32, "local">
loop.kernel @own_length ins(%x: memref<7xf32>) outs(%y: memref<7xf32>) {
  loop.for %t = 0 to 2 "t" vthread {
    loop.for %i = 0 to min(-4 * %t + 7, 4) "i" {
      %b = memref.alloca() : memref<f32, "local">
      %v = loop.load %x[%t * 4 + %i] : memref<7xf32>
      loop.store %v, %b[] : memref<f32, "local">
      %w = loop.load %b[] : memref<f32, "local">
      loop.store %w, %y[%t * 4 + %i] : memref<7xf32>
    }
  }
}

// Several read what one statement writes; threads that start elsewhere count from there, and limits of unrolling stay.

// CHECK-LABEL: loop.kernel @several
// CHECK-NEXT:    %b = memref.alloca() : memref<3x2x4xf32, strided<[10, 5, 1]>, "local">
// CHECK-NEXT:    loop.for %j = 0 to 4 "j" attributes {loop.auto_unroll_max_step = 8 : i64} {
// CHECK-NEXT:      loop.for %t = %N to %N + 3 "t" unrolled {
// CHECK:             loop.store %{{.*}}, %b[%t - %N, 1, %j]
// CHECK:         loop.for %j_1 = 0 to 4 "j" attributes {loop.auto_unroll_max_step = 2 : i64} {
// CHECK:         loop.for %j_2 = 0 to 4 "j" attributes {loop.auto_unroll_max_step = 8 : i64} {
loop.kernel @several ins(%x: memref<?x4xf32> [N + 3, 4]) outs(%y: memref<?x4xf32> [N + 3, 4], %z: memref<?x4xf32> [N + 3, 4]) symbols(%N) {
  loop.for %t = %N to %N + 3 "t" vthread attributes {loop.auto_unroll_max_step = 8 : i64} {
    %b = memref.alloca() : memref<2x4xf32, strided<[5, 1]>, "local">
    loop.for %j = 0 to 4 "j" {
      %v = loop.load %x[%t, %j] : memref<?x4xf32>
      loop.store %v, %b[1, %j] : memref<2x4xf32, strided<[5, 1]>, "local">
    }
    loop.for %j = 0 to 4 "j" attributes {loop.auto_unroll_max_step = 2 : i64} {
      %v = loop.load %b[1, %j] : memref<2x4xf32, strided<[5, 1]>, "local">
      loop.store %v, %y[%t, %j] : memref<?x4xf32>
    }
    loop.for %j = 0 to 4 "j" {
      %v = loop.load %b[1, %j] : memref<2x4xf32, strided<[5, 1]>, "local">
      loop.store %v, %z[%t, %j] : memref<?x4xf32>
    }
  }
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to %N "i" {
    loop.for %j = 0 to 4 "j" {
      loop.store %zero, %y[%i, %j] : memref<?x4xf32>
      loop.store %zero, %z[%i, %j] : memref<?x4xf32>
    }
  }
}

// A value of one thread stays where its thread is: the loop that uses it is repeated as a whole. What that loop writes
// depends on the thread then, though every thread would write the same, since reading it before has to be done first.

// CHECK-LABEL: loop.kernel @values
// CHECK-NEXT:    %zero = arith.constant
// CHECK-NEXT:    %b = memref.alloca() : memref<2xf32, "local">
// CHECK-NEXT:    loop.for %t = 0 to 2 "t" unrolled {
// CHECK-NEXT:      loop.store %zero, %b[%t]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.for %t_1 = 0 to 2 "t" {
// CHECK-NEXT:      %v = loop.load %x[%t_1]
// CHECK-NEXT:      loop.for %j = 0 to 4 "j" {
// CHECK-NEXT:        %count = loop.load %b[%t_1]
loop.kernel @values ins(%x: memref<2xf32>) outs(%y: memref<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %t = 0 to 2 "t" vthread {
    %b = memref.alloca() : memref<f32, "local">
    loop.store %zero, %b[] : memref<f32, "local">
    %v = loop.load %x[%t] : memref<2xf32>
    loop.for %j = 0 to 4 "j" {
      %count = loop.load %b[] : memref<f32, "local">
      %s = arith.addf %count, %v : f32
      loop.store %s, %y[%t, %j] : memref<2x4xf32>
      %one = arith.constant 1.0 : f32
      %next = arith.addf %count, %one : f32
      loop.store %next, %b[] : memref<f32, "local">
    }
  }
}

// A value is read before all threads write the same there, and used behind: the threads cannot share the buffer.

// CHECK-LABEL: loop.kernel @read_before
// CHECK:         %b = memref.alloca() : memref<2x2xf32, "local">
// CHECK:         loop.for %t_1 = 0 to 2 "t" unrolled {
// CHECK-NEXT:      %before = loop.load %b[%t_1, %t_1]
// CHECK-NEXT:      loop.store %zero, %b[%t_1, 0]
// CHECK-NEXT:      loop.store %before, %y[%t_1]
loop.kernel @read_before ins(%x: memref<2xf32>) outs(%y: memref<2xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %t = 0 to 2 "t" vthread {
    %b = memref.alloca() : memref<2xf32, "local">
    loop.for %i = 0 to 2 "i" {
      %v = loop.load %x[%i] : memref<2xf32>
      loop.store %v, %b[%i] : memref<2xf32, "local">
    }
    %before = loop.load %b[%t] : memref<2xf32, "local">
    loop.store %zero, %b[0] : memref<2xf32, "local">
    loop.store %before, %y[%t] : memref<2xf32>
  }
}

// A loop that runs once tells threads apart as well as no loop.

// CHECK-LABEL: loop.kernel @once
// CHECK:         loop.for %j = 1 to 2 "j" {
// CHECK-NEXT:      loop.for %t = 0 to 2 "t" unrolled {
loop.kernel @once ins(%x: memref<3xf32>) outs(%y: memref<3xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.store %zero, %y[0] : memref<3xf32>
  loop.for %t = 0 to 2 "t" vthread {
    loop.for %j = 1 to 2 "j" {
      %v = loop.load %x[%t + %j] : memref<3xf32>
      loop.store %v, %y[%t + %j] : memref<3xf32>
    }
  }
}

// Each thread has a part of the rows, as many as a symbol says; or of two dimensions that are one loop.

// CHECK-LABEL: loop.kernel @parts
// CHECK-NEXT:    loop.for %i = 0 to (%N + 1) floordiv 2 "i" {
// CHECK-NEXT:      loop.for %t = 0 to 2 "t" unrolled {
// CHECK-NEXT:        loop.if
loop.kernel @parts ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %t = 0 to 2 "t" vthread {
    loop.for %i = 0 to (%N + 1) floordiv 2 "i" {
      loop.if [%N - ((%N + 1) floordiv 2) * %t - %i - 1 >= 0] {
        %v = loop.load %x[((%N + 1) floordiv 2) * %t + %i] : memref<?xf32>
        loop.store %v, %y[((%N + 1) floordiv 2) * %t + %i] : memref<?xf32>
      }
    }
  }
}

// CHECK-LABEL: loop.kernel @fused
// CHECK-NEXT:    loop.for %i = 0 to 5 "i" {
// CHECK-NEXT:      loop.for %t = 0 to 8 "t" unrolled {
loop.kernel @fused ins(%x: memref<3x13xf32>) outs(%y: memref<3x13xf32>) {
  loop.for %t = 0 to 8 "t" vthread {
    loop.for %i = 0 to 5 "i" {
      loop.if [-5 * %t - %i + 38 >= 0] {
        %v = loop.load %x[(5 * %t + %i) floordiv 13, (5 * %t + %i) mod 13] : memref<3x13xf32>
        loop.store %v, %y[(5 * %t + %i) floordiv 13, (5 * %t + %i) mod 13] : memref<3x13xf32>
      }
    }
  }
}

// Lanes are one statement. Sixteen threads and more are a loop that stays, and an element that all of them would set to
// the same value is set once.

// CHECK-LABEL: loop.kernel @lanes
// CHECK-NEXT:    loop.for %o = 0 to %N "o" {
// CHECK-NEXT:      loop.for %k = 0 to 2 "k" {
// CHECK-NEXT:        loop.for %t = 0 to 3 "t" unrolled {
// CHECK-NEXT:          loop.for %i = 0 to 8 "i" vectorized {
// CHECK:         loop.for %k_1 = 0 to 2 "k" {
// CHECK-NEXT:      loop.load %x[%k_1] : memref<?xf32>
// CHECK-NEXT:      loop.store %{{.*}}, %s[%k_1] : memref<2xf32>
// CHECK-NEXT:      loop.for %t_1 = 0 to 16 "many" {
// CHECK-NEXT:        loop.store %zero, %z[%t_1, %k_1] : memref<16x2xf32>
loop.kernel @lanes ins(%x: memref<?xf32> [48 * N + 2]) outs(%y: memref<?xf32> [48 * N], %s: memref<2xf32>, %z: memref<16x2xf32>) symbols(%N) {
  loop.for %o = 0 to %N "o" {
    loop.for %t = 0 to 3 "t" vthread {
      loop.for %k = 0 to 2 "k" {
        loop.for %i = 0 to 8 "i" vectorized {
          %v = loop.load %x[%o * 48 + %t * 16 + %k * 8 + %i] : memref<?xf32>
          loop.store %v, %y[%o * 48 + %t * 16 + %k * 8 + %i] : memref<?xf32>
        }
      }
    }
  }
  %zero = arith.constant 0.0 : f32
  loop.for %t = 0 to 16 "many" vthread {
    loop.for %k = 0 to 2 "k" {
      %v = loop.load %x[%k] : memref<?xf32>
      loop.store %v, %s[%k] : memref<2xf32>
      loop.store %zero, %z[%t, %k] : memref<16x2xf32>
    }
  }
}

// The pattern alone, at one loop; another loop in its place is none.
// RUN: opt-tool %s --apply-pattern loop-inject-virtual-thread.interleave-threads@96 | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: loop.kernel @copy_compute
// ALONE:         loop.for %t = 0 to 2 "t" vthread {
// ALONE-LABEL: loop.kernel @nested
// ALONE:         loop.for %ty = 0 to 2 "ty" vthread {
// ALONE-NEXT:      %b = memref.alloca() : memref<3x4xf32, "local">
// RUN: not opt-tool %s --apply-pattern loop-inject-virtual-thread.interleave-threads@36 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: loop-inject-virtual-thread.interleave-threads does not match at line 36
