// RUN: opt-tool %s -p loop-simplify,loop-partition,loop-simplify | filecheck %s

// Kernels after TVM's tests of LoopPartition. A serial loop is cut around serial loops where it has the hint.

// Tiles of four of N elements: full ones first.
// tvm: test_pass_loop_partition/basic
// CHECK-LABEL: loop.kernel @basic
// CHECK-NOT:     loop.if
// CHECK:         loop.for %{{.*}} = 0 to %[[N:.*]] floordiv 4 "o" partition {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "i" {
// CHECK:         loop.for %{{.*}} = %[[N]] floordiv 4 to (%[[N]] + 3) floordiv 4 "o" partition {
// CHECK-NOT:     loop.if
loop.kernel @basic ins(%a: memref<?xf32> [N], %b: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %o = 0 to (%N + 3) floordiv 4 "o" partition {
    loop.for %i = 0 to 4 "i" {
      loop.if [%N - 4 * %o - %i - 1 >= 0] {
        %v = loop.load %a[4 * %o + %i] : memref<?xf32>
        %w = loop.load %b[4 * %o + %i] : memref<?xf32>
        %s = arith.addf %v, %w : f32
        loop.store %s, %y[4 * %o + %i] : memref<?xf32>
      }
    }
  }
}

// 21 elements: five full tiles, and one element by itself. With 60 in tiles of 16: three, and twelve elements.
// tvm: test_pass_loop_partition/const_loop test_pass_loop_partition/single_likely
// CHECK-LABEL: loop.kernel @const_loop
// CHECK-NOT:     loop.if
// CHECK:         loop.for %[[O:.*]] = 0 to 5 "o" partition {
// CHECK-NEXT:      loop.for %[[I:.*]] = 0 to 4 "i" {
// CHECK-NEXT:        loop.store %{{.*}}, %{{.*}}[4 * %[[O]] + %[[I]]]
// CHECK:         loop.store %{{.*}}, %{{.*}}[20]
// CHECK:         loop.for %[[P:.*]] = 0 to 3 "p" partition {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 16 "j" {
// CHECK:         loop.for %{{.*}} = 0 to 12 "j" {
loop.kernel @const_loop outs(%y: memref<21xf32>, %z: memref<60xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to 6 "o" partition {
    loop.for %i = 0 to 4 "i" {
      loop.if [20 - 4 * %o - %i >= 0] {
        loop.store %v, %y[4 * %o + %i] : memref<21xf32>
      }
    }
  }
  loop.for %p = 0 to 4 "p" partition {
    loop.for %j = 0 to 16 "j" {
      loop.if [59 - 16 * %p - %j >= 0] {
        loop.store %v, %z[16 * %p + %j] : memref<60xf32>
      }
    }
  }
}

// Sizes multiply: where the greatest k still passes, no j asks.
// tvm: test_pass_loop_partition/multi_loop
// CHECK-LABEL: loop.kernel @multi_loop
// CHECK:         loop.for %[[I:.*]] = 0 to 4 "i" {
// CHECK-NEXT:      loop.for %{{.*}} "j" {
// CHECK-NEXT:        loop.for %{{.*}} "k" {
// CHECK-NEXT:          loop.store %[[ONE:.*]], %y[0]
// CHECK-NEXT:        }
// CHECK-NEXT:      }
loop.kernel @multi_loop outs(%y: memref<1xf32>) symbols(%N, %M) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  loop.for %i = 0 to 4 "i" {
    loop.for %j = 0 to %N "j" {
      loop.for %k = 0 to %M "k" {
        loop.if [%N - %i * %M - %j - %k - 1 >= 0] {
          loop.store %one, %y[0] : memref<1xf32>
        } else {
          loop.store %two, %y[0] : memref<1xf32>
        }
      }
    }
  }
}

// Two conditions, certain at different ends of k.
// tvm: test_pass_loop_partition/multi_if
// CHECK-LABEL: loop.kernel @multi_if
// CHECK:         loop.for %[[I:.*]] = 0 to 4 "i" {
// CHECK-NEXT:      loop.for %{{.*}} "j" {
// CHECK-NEXT:        loop.for %{{.*}} "k" {
// CHECK-NEXT:          loop.store
// CHECK-NEXT:          loop.store
// CHECK-NEXT:        }
// CHECK-NEXT:      }
loop.kernel @multi_if outs(%y: memref<1xf32>) symbols(%N, %M) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  loop.for %i = 0 to 4 "i" {
    loop.for %j = 0 to %N "j" {
      loop.for %k = 0 to %M "k" {
        loop.if [%N - %i * %M - %j - %k - 1 >= 0] {
          loop.store %one, %y[0] : memref<1xf32>
        } else {
          loop.store %two, %y[0] : memref<1xf32>
        }
        loop.if [%N - %i * %M - %j + %k - 1 >= 0] {
          loop.store %two, %y[0] : memref<1xf32>
        } else {
          loop.store %one, %y[0] : memref<1xf32>
        }
      }
    }
  }
}

// Threads are not cut: the tiles around them are, and inside those all threads do the same.
// tvm: test_pass_loop_partition/thread_axis
// CHECK-LABEL: loop.kernel @thread_axis
// CHECK:         loop.for %{{.*}} = 0 to %[[M:.*]] floordiv 32 "o" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 16 "t" threadIdx.x {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 2 "i" unrolled {
// CHECK-NEXT:          loop.store
// CHECK:         loop.for %{{.*}} = %[[M]] floordiv 32 to (%[[M]] + 31) floordiv 32 "o" {
loop.kernel @thread_axis outs(%y: memref<?xf32> [M]) symbols(%M) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to (%M + 31) floordiv 32 "o" {
    loop.for %t = 0 to 16 "t" threadIdx.x {
      loop.for %i = 0 to 2 "i" unrolled {
        loop.if [%M - 32 * %o - 2 * %t - %i - 1 >= 0] {
          loop.store %v, %y[32 * %o + 2 * %t + %i] : memref<?xf32>
        }
      }
    }
  }
}

// Blocks and threads both: in a branch without conditions the vector is whole.
// tvm: test_pass_loop_partition/vectorize
// CHECK-LABEL: loop.kernel @vectorize
// CHECK:         loop.for %[[B:.*]] = 0 to (%[[N:.*]] + 127) floordiv 128 "b" blockIdx.x {
// CHECK-NEXT:      loop.if [{{.*}}] {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 32 "t" threadIdx.x {
// CHECK-NEXT:          loop.for %{{.*}} = 0 to 4 "i" vectorized {
// CHECK-NEXT:            loop.store
// CHECK:           } else {
loop.kernel @vectorize outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  loop.for %b = 0 to (%N + 127) floordiv 128 "b" blockIdx.x {
    loop.for %t = 0 to 32 "t" threadIdx.x {
      loop.for %i = 0 to min(4, %N - 128 * %b - 4 * %t) "i" vectorized {
        loop.store %v, %y[128 * %b + 4 * %t + %i] : memref<?xf32>
      }
    }
  }
}

// A choice of values.
// tvm: test_pass_loop_partition/condition
// CHECK-LABEL: loop.kernel @condition
// CHECK:         loop.for %{{.*}} = 0 to %[[N:.*]] floordiv 4 "i" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "j" {
// CHECK-NEXT:        loop.store
// CHECK:         loop.for %{{.*}} = %[[N]] floordiv 4 to (%[[N]] + 3) floordiv 4 "i" {
loop.kernel @condition outs(%y: memref<?xf32> [N + 3]) symbols(%N) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  loop.for %i = 0 to (%N + 3) floordiv 4 "i" {
    loop.for %j = 0 to 4 "j" {
      %v = loop.if [%N - 4 * %i - %j - 1 >= 0] -> f32 {
        loop.yield %one : f32
      } else {
        loop.yield %two : f32
      }
      loop.store %v, %y[4 * %i + %j] : memref<?xf32>
    }
  }
}

// One iteration in the middle.
// tvm: test_pass_loop_partition/condition_EQ
// CHECK-LABEL: loop.kernel @condition_EQ
// CHECK-NOT:     loop.if
// CHECK:         loop.for %[[I:.*]] = 0 to 5 "i" {
// CHECK-NEXT:      loop.store %[[TWO:.*]], %{{.*}}[%[[I]]]
// CHECK:         loop.store %{{.*}}, %{{.*}}[5]
// CHECK:         loop.for %[[I:.*]] = 6 to 10 "i" {
// CHECK-NEXT:      loop.store %[[TWO]], %{{.*}}[%[[I]]]
loop.kernel @condition_EQ outs(%y: memref<10xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  loop.for %i = 0 to 10 "i" {
    %v = loop.if [%i - 5 == 0] -> f32 {
      loop.yield %one : f32
    } else {
      loop.yield %two : f32
    }
    loop.store %v, %y[%i] : memref<10xf32>
  }
}

// A tile whose size is known at run time only, inside threads: nothing is cut by the thread's number.
// tvm: test_pass_loop_partition/thread_axis2
// CHECK-LABEL: loop.kernel @thread_axis2
// CHECK:         loop.for %{{.*}} = 0 to 128 "b" blockIdx.x {
// CHECK-NEXT:      loop.for %[[T:.*]] = 0 to 32 "t" threadIdx.x {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to min({{.*}}) "i" {
loop.kernel @thread_axis2 outs(%y: memref<4096xf32>) symbols(%M) {
  %v = arith.constant 1.0 : f32
  loop.for %b = 0 to 128 "b" blockIdx.x {
    loop.for %t = 0 to 32 "t" threadIdx.x {
      loop.for %i = 0 to %M "i" {
        loop.if [-%i >= 0] {
          loop.store %v, %y[32 * %b + %t + %i] : memref<4096xf32>
        }
      }
    }
  }
}

// A condition that no split decides, because it divides by an index, stays.
// tvm: test_pass_loop_partition/everything_during_deduction
// CHECK-LABEL: loop.kernel @everything_during_deduction
// CHECK:         loop.for %[[I:.*]] = 0 to %{{.*}} "i" {
// CHECK-NEXT:      loop.for %[[J:.*]] = 1 to 32 "j" {
// CHECK-NEXT:        loop.if [{{.*}}] {
// CHECK-NOT:     loop.for
loop.kernel @everything_during_deduction outs(%y: memref<1xf32>) symbols(%N, %M) {
  %v = arith.constant 1.0 : f32
  loop.for %i = 0 to %N "i" {
    loop.for %j = 1 to 32 "j" {
      loop.if [%M - %i floordiv %j - 1 >= 0] {
        loop.store %v, %y[0] : memref<1xf32>
      }
    }
  }
}

// 94 x 62 in tiles of 16 x 16: no tile asks.
// tvm: test_pass_loop_partition/multi_likely
// CHECK-LABEL: loop.kernel @multi_likely
// CHECK-NOT:     loop.if
// CHECK-NOT:     min
// CHECK:         loop.for %{{.*}} = 0 to 5 "xo" partition {
// CHECK:           loop.for %{{.*}} = 0 to 3 "yo" partition {
// CHECK:             loop.for %{{.*}} = 0 to 14 "yi"
// CHECK:         loop.for %{{.*}} = 0 to 14 "xi"
// CHECK-NOT:     loop.if
loop.kernel @multi_likely outs(%y: memref<94x62xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %xo = 0 to 6 "xo" partition {
    loop.for %yo = 0 to 4 "yo" partition {
      loop.for %xi = 0 to 16 "xi" {
        loop.for %yi = 0 to 16 "yi" {
          loop.if [93 - 16 * %xo - %xi >= 0, 61 - 16 * %yo - %yi >= 0] {
            loop.store %v, %y[16 * %xo + %xi, 16 * %yo + %yi] : memref<94x62xf32>
          }
        }
      }
    }
  }
}

// Pooling of a padded row, in three parts, each with its conditions.
// tvm: test_pass_loop_partition/oneD_pool
// CHECK-LABEL: loop.kernel @oneD_pool
// CHECK-NOT:     loop.if
// CHECK:         loop.for %{{.*}} = 1 to 15 "ow" {
// CHECK:         loop.for %{{.*}} = 1 to 3 "kw" {
// CHECK:         loop.for %{{.*}} = 0 to 2 "kw" {
// CHECK-NOT:     loop.if
loop.kernel @oneD_pool ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %o = 0 to 16 "ow" {
    loop.for %k = 0 to 3 "kw" {
      loop.if [%o - 1 >= 0] {
        loop.if [14 - %o >= 0] {
          %v = loop.load %x[%o + %k - 1] : memref<16xf32>
          loop.store %v, %y[%o] : memref<16xf32>
        }
      }
    }
  }
  loop.for %o = 0 to 16 "ow" {
    loop.for %k = 0 to 3 "kw" {
      loop.if [-%o >= 0] {
        loop.if [%k - 1 >= 0] {
          %v = loop.load %x[%o + %k - 1] : memref<16xf32>
          loop.store %v, %y[%o] : memref<16xf32>
        }
      }
    }
  }
  loop.for %o = 0 to 16 "ow" {
    loop.for %k = 0 to 3 "kw" {
      loop.if [%o - 15 >= 0] {
        loop.if [1 - %k >= 0] {
          %v = loop.load %x[%o + %k - 1] : memref<16xf32>
          loop.store %v, %y[%o] : memref<16xf32>
        }
      }
    }
  }
}

// The last tile is empty; 112 in tiles of 32; a prime number of elements.
// tvm: test_pass_loop_partition/cce_loop_1 test_pass_loop_partition/cce_loop_2 test_pass_loop_partition/cce_loop_3
// CHECK-LABEL: loop.kernel @cce_loops
// CHECK-NOT:     loop.if
// CHECK:         loop.for %{{.*}} = 0 to 10 "i" partition {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 160 "j" {
// CHECK:         loop.for %[[K:.*]] = 0 to 3 "k" {
// CHECK-NEXT:      loop.store %{{.*}}, %{{.*}}[32 * %[[K]] + 32]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.store %{{.*}}, %{{.*}}[112]
// CHECK:         loop.for %{{.*}} = 0 to 9997 "l" partition {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "m" {
// CHECK:         loop.for %{{.*}} = 0 to 3 "m" {
// CHECK-NOT:     loop.if
loop.kernel @cce_loops outs(%y: memref<1600xf32>, %z: memref<129xf32>, %w: memref<39992xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %i = 0 to 11 "i" partition {
    loop.for %j = 0 to 160 "j" {
      loop.if [1599 - 160 * %i - %j >= 0] {
        loop.store %v, %y[160 * %i + %j] : memref<1600xf32>
      }
    }
  }
  loop.for %k = 0 to 4 "k" {
    loop.if [32 * %k - 81 >= 0] {
      loop.store %v, %z[112] : memref<129xf32>
    } else {
      loop.store %v, %z[32 * %k + 32] : memref<129xf32>
    }
  }
  loop.for %l = 0 to 9998 "l" partition {
    loop.for %m = 0 to 4 "m" {
      loop.if [39990 - 4 * %l - %m >= 0] {
        loop.store %v, %w[4 * %l + %m] : memref<39992xf32>
      }
    }
  }
}

// A convolution of 62 x 62 in tiles of 16 x 16, the reduction inside.
// tvm: test_pass_loop_partition/conv_tiling
// CHECK-LABEL: loop.kernel @conv_tiling
// CHECK-NOT:     loop.if
// CHECK-NOT:     min
// CHECK:         loop.for %{{.*}} = 0 to 3 "oho" partition {
// CHECK:           loop.for %{{.*}} = 0 to 3 "owo" partition {
// CHECK-NOT:     loop.if
loop.kernel @conv_tiling ins(%x: memref<64x64xf32>) outs(%y: memref<62x62xf32>) {
  loop.for %oho = 0 to 4 "oho" partition {
    loop.for %owo = 0 to 4 "owo" partition {
      loop.for %ohi = 0 to 16 "ohi" {
        loop.for %owi = 0 to 16 "owi" {
          loop.for %kh = 0 to 3 "kh" {
            loop.if [61 - 16 * %oho - %ohi >= 0, 61 - 16 * %owo - %owi >= 0] {
              %v = loop.load %x[16 * %oho + %ohi + %kh, 16 * %owo + %owi] : memref<64x64xf32>
              loop.store %v, %y[16 * %oho + %ohi, 16 * %owo + %owi] : memref<62x62xf32>
            }
          }
        }
      }
    }
  }
}

// 130 in tiles of 8, those in tiles of 16: one full tile of tiles, and two elements.
// tvm: test_pass_loop_partition/multilevel_splitting_with_indivisble_factors
// CHECK-LABEL: loop.kernel @multilevel
// CHECK-NOT:     loop.if
// CHECK:         loop.for %{{.*}} = 0 to 16 "yoi" partition {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 8 "yi" unrolled {
// CHECK:         loop.for %[[Y:.*]] = 0 to 2 "yi" unrolled {
// CHECK-NEXT:      loop.store %{{.*}}, %{{.*}}[%[[Y]] + 128]
// CHECK-NOT:     loop.if
loop.kernel @multilevel outs(%y: memref<130xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %yoo = 0 to 2 "yoo" partition {
    loop.for %yoi = 0 to 16 "yoi" partition {
      loop.for %yi = 0 to 8 "yi" unrolled {
        loop.if [16 - 16 * %yoo - %yoi >= 0, 129 - 128 * %yoo - 8 * %yoi - %yi >= 0] {
          loop.store %v, %y[128 * %yoo + 8 * %yoi + %yi] : memref<130xf32>
        }
      }
    }
  }
}

// 48 in tiles of 10, each in tiles of 3, where neither divides.
// tvm: test_pass_loop_partition/double_splitting_with_indivisible_factors
// CHECK-LABEL: loop.kernel @double_splitting
// CHECK-NOT:     loop.if
// CHECK:         loop.for %{{.*}} = 0 to 4 "o" partition {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 3 "io" partition {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 3 "ii" {
// CHECK-NOT:     loop.if
loop.kernel @double_splitting outs(%y: memref<48xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to 5 "o" partition {
    loop.for %io = 0 to 4 "io" partition {
      loop.for %ii = 0 to 3 "ii" {
        loop.if [9 - 3 * %io - %ii >= 0, 47 - 10 * %o - 3 * %io - %ii >= 0] {
          loop.store %v, %y[10 * %o + 3 * %io + %ii] : memref<48xf32>
        }
      }
    }
  }
}

// 68 terms in 16 sums: four full rounds, and four sums of one term more.
// tvm: test_pass_loop_partition/simple_rfactor
// CHECK-LABEL: loop.kernel @simple_rfactor
// CHECK-NOT:     loop.if
// CHECK:         loop.for %{{.*}} = 0 to 4 "ko" partition {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 16 "ki" {
// CHECK:         loop.for %{{.*}} = 0 to 4 "ki" {
// CHECK-NOT:     loop.if
loop.kernel @simple_rfactor ins(%x: memref<68xf32>) outs(%y: memref<16xf32>) {
  loop.for %ko = 0 to 5 "ko" partition {
    loop.for %ki = 0 to 16 "ki" {
      loop.if [67 - 16 * %ko - %ki >= 0] {
        %v = loop.load %x[16 * %ko + %ki] : memref<68xf32>
        %old = loop.load %y[%ki] : memref<16xf32>
        %new = arith.addf %old, %v : f32
        loop.store %new, %y[%ki] : memref<16xf32>
      }
    }
  }
}

// With the hint an unrolled loop is cut too.
// tvm: test_pass_loop_partition/explicit_partition_hint
// CHECK-LABEL: loop.kernel @explicit_partition_hint
// CHECK:         loop.for %{{.*}} = 0 to 8 "i" unrolled {
// CHECK-NEXT:      loop.if
// CHECK:         loop.for %{{.*}} = 1 to 8 "j" unrolled partition {
// CHECK-NEXT:      loop.load
loop.kernel @explicit_partition_hint ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 8 "i" unrolled {
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %w = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %w : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %v, %y[%i] : memref<8xf32>
  }
  loop.for %j = 0 to 8 "j" unrolled partition {
    %v = loop.if [%j - 1 >= 0] -> f32 {
      %w = loop.load %x[%j - 1] : memref<8xf32>
      loop.yield %w : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %v, %y[%j] : memref<8xf32>
  }
}
