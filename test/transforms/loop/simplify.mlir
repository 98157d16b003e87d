// RUN: opt-tool %s -p loop-simplify --verify-each | filecheck %s

// A condition that guards a whole body is a bound; a loop that runs once is its body; a proved condition goes.
// tvm: test_pass_unroll/unroll_fake_loop
// CHECK-LABEL: loop.kernel @bounds
// CHECK-NEXT:    %[[V:.*]] = loop.load
// CHECK-NEXT:    loop.for %[[I:.*]] = 0 to 5 "i" {
// CHECK-NEXT:      loop.store %[[V]], %{{.*}}[%[[I]]] : memref<16xf32>
// CHECK-NEXT:    }
loop.kernel @bounds ins(%x: memref<1xf32>) outs(%y: memref<16xf32>) {
  %v = loop.load %x[0] : memref<1xf32>
  loop.for %i = 0 to 16 "i" {
    loop.for %j = 0 to 1 "j" {
      loop.if [%i >= 0, 4 - %i >= 0, %j >= 0] {
        loop.store %v, %y[%i + %j] : memref<16xf32>
      }
    }
  }
}

// Prime sizes: 17 elements in tiles of 4. The guard becomes a bound that is not constant.
// CHECK-LABEL: loop.kernel @prime
// CHECK:         loop.for %[[O:.*]] = 0 to 5 "o" {
// CHECK-NEXT:      loop.for %[[I:.*]] = 0 to min({{.*}}) "i" {
// CHECK-NEXT:        loop.store
loop.kernel @prime outs(%y: memref<17xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to 5 "o" {
    loop.for %i = 0 to 4 "i" {
      loop.if [16 - 4 * %o - %i >= 0] {
        loop.store %v, %y[4 * %o + %i] : memref<17xf32>
      }
    }
  }
}

// Tiles that divide the size need no guard.
// CHECK-LABEL: loop.kernel @divides
// CHECK-NOT:     loop.if
// CHECK-NOT:     min
// CHECK:         loop.store %{{.*}}, %{{.*}}[4 * %{{.*}} + %{{.*}}]
loop.kernel @divides outs(%y: memref<16xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to 4 "o" {
    loop.for %i = 0 to 4 "i" {
      loop.if [15 - 4 * %o - %i >= 0] {
        loop.store %v, %y[4 * %o + %i] : memref<16xf32>
      }
    }
  }
}

// An unrolled loop keeps a guard that would make its bound run-time, and takes one that leaves it constant.
// CHECK-LABEL: loop.kernel @unrolled
// CHECK:         loop.for %{{.*}} = 0 to 4 "i" unrolled {
// CHECK-NEXT:      loop.if
// CHECK:         loop.for %{{.*}} = 1 to 4 "j" unrolled {
// CHECK-NEXT:      loop.store
loop.kernel @unrolled outs(%y: memref<17xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to 5 "o" {
    loop.for %i = 0 to 4 "i" unrolled {
      loop.if [16 - 4 * %o - %i >= 0] {
        loop.store %v, %y[4 * %o + %i] : memref<17xf32>
      }
    }
    loop.for %j = 0 to 4 "j" unrolled {
      loop.if [%j - 1 >= 0] {
        loop.store %v, %y[%o + %j] : memref<17xf32>
      }
    }
  }
}

// Extents 0 and below: nothing is left, not even the loop around.
// CHECK-LABEL: loop.kernel @empty
// CHECK-NEXT:  }
loop.kernel @empty outs(%y: memref<16xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %i = 0 to 4 "i" {
    loop.for %j = 0 to 0 "j" {
      loop.store %v, %y[%i] : memref<16xf32>
    }
    loop.for %k = 3 to 1 "k" {
      loop.store %v, %y[%k] : memref<16xf32>
    }
    loop.if [-1 - %i >= 0] {
      loop.store %v, %y[%i] : memref<16xf32>
    }
  }
}

// A condition on outer indices leaves the loop, and then narrows the outer one.
// CHECK-LABEL: loop.kernel @invariant
// CHECK:         loop.for %{{.*}} = 2 to 8 "i" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 8 "j" {
// CHECK-NEXT:        loop.store
loop.kernel @invariant outs(%y: memref<8x8xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %i = 0 to 8 "i" {
    loop.for %j = 0 to 8 "j" {
      loop.if [%i - 2 >= 0] {
        loop.store %v, %y[%i, %j] : memref<8x8xf32>
      }
    }
  }
}

// Symbolic: 4 * ceil(N / 4) covers N; the guard is the inner bound, and what the bound implies is not asked again.
// CHECK-LABEL: loop.kernel @symbolic
// CHECK:         loop.for %[[O:.*]] = 0 to (%{{.*}} + 3) floordiv 4 "o" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to min({{.*}}) "i" {
// CHECK-NEXT:        loop.store
loop.kernel @symbolic outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to (%N + 3) floordiv 4 "o" {
    loop.for %i = 0 to 4 "i" {
      loop.if [%N - 4 * %o - %i - 1 >= 0] {
        loop.if [%N - 4 * %o - %i - 1 >= 0, %N - %i - 1 >= 0, %N - 4 * %o - 1 >= 0] {
          loop.store %v, %y[4 * %o + %i] : memref<?xf32>
        }
      }
    }
  }
}

// Values: a known condition gives its branch, an open one stays; conditions are merged.
// CHECK-LABEL: loop.kernel @values
// CHECK:         loop.for %[[I:.*]] = 0 to 16
// CHECK-NEXT:      %[[A:.*]] = loop.load %{{.*}}[%[[I]]]
// CHECK-NEXT:      %[[B:.*]] = loop.if [%[[I]] - 3 >= 0] -> f32 {
// CHECK:           arith.addf %[[A]], %[[B]]
loop.kernel @values ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 16 "i" {
    %a = loop.if [%i >= 0] -> f32 {
      %v = loop.load %x[%i] : memref<16xf32>
      loop.yield %v : f32
    } else {
      loop.yield %zero : f32
    }
    %b = loop.if [%i - 1 >= 0, 2 * %i - 5 >= 0, %i - 2 >= 0] -> f32 {
      %v = loop.load %x[%i] : memref<16xf32>
      loop.yield %v : f32
    } else {
      loop.yield %zero : f32
    }
    %c = arith.addf %a, %b : f32
    loop.store %c, %y[%i] : memref<16xf32>
  }
}

// Subscripts: a fused index is taken apart and put together.
// CHECK-LABEL: loop.kernel @fused
// CHECK:         loop.load %{{.*}}[%[[F:.*]] floordiv 14, %[[F]] mod 14]
// CHECK-NEXT:    loop.store %{{.*}}, %{{.*}}[%[[F]]]
loop.kernel @fused ins(%x: memref<8x14xf32>) outs(%y: memref<112xf32>) {
  loop.for %f = 0 to 112 "f" {
    %v = loop.load %x[(%f floordiv 14) mod 8, %f mod 14] : memref<8x14xf32>
    loop.store %v, %y[14 * (%f floordiv 14) + %f mod 14] : memref<112xf32>
  }
}

// A local buffer that nobody reads goes, with what was computed for it and what was read for that.
// CHECK-LABEL: loop.kernel @dead
// CHECK-NOT:     alloca
// CHECK-NOT:     loop.load
// CHECK-NOT:     math.exp
// CHECK:         loop.store %{{.*}}, %{{.*}}[%{{.*}}]
loop.kernel @dead ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) scratch(%s: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 16 "i" {
    %t = memref.alloca() : memref<1xf32, "local">
    %u = memref.alloca() : memref<1xf32, "local">
    %v = loop.load %x[%i] : memref<16xf32>
    %e = math.exp %v : f32
    loop.store %e, %t[0] : memref<1xf32, "local">
    %f = loop.load %t[0] : memref<1xf32, "local">
    loop.store %f, %u[0] : memref<1xf32, "local">
    loop.store %f, %s[%i] : memref<16xf32>
    loop.store %zero, %y[%i] : memref<16xf32>
  }
}

// The index of a loop that is gone lives on where another dialect takes it.
// CHECK-LABEL: loop.kernel @foreign
// CHECK:         loop.for %[[I:.*]] = 0 to 4
// CHECK-NEXT:      %[[A:.*]] = loop.apply %[[I]] + 1
// CHECK-NEXT:      arith.index_cast %[[A]]
loop.kernel @foreign outs(%y: memref<4xi64>) {
  loop.for %i = 0 to 4 "i" {
    loop.for %j = %i + 1 to %i + 2 "j" {
      %v = arith.index_cast %j : index to i64
      loop.store %v, %y[%i] : memref<4xi64>
    }
  }
}

// Of ten iterations all are among the first twelve; so are those of ten threads, the second axis of which has one.
// tvm: test_arith_stmt_simplify/stmt_simplify test_arith_stmt_simplify/thread_extent_simplify
// CHECK-LABEL: loop.kernel @decided
// CHECK-NOT:     loop.if
// CHECK:         loop.for %[[I:.*]] = 0 to 10 "i" {
// CHECK-NEXT:      loop.load %{{.*}}[%[[I]]]
// CHECK:         loop.for %[[X:.*]] = 0 to 10 "x" threadIdx.x {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 1 "y" threadIdx.y {
// CHECK-NEXT:        loop.load %{{.*}}[%[[X]]]
loop.kernel @decided ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %i = 0 to 10 "i" {
    loop.if [11 - %i >= 0] {
      %v = loop.load %x[%i] : memref<16xf32>
      loop.store %v, %y[%i] : memref<16xf32>
    }
  }
  loop.for %t = 0 to 10 "x" threadIdx.x {
    loop.for %u = 0 to 1 "y" threadIdx.y {
      loop.if [11 - %t - %u >= 0] {
        %v = loop.load %x[%t + %u] : memref<16xf32>
        loop.store %v, %y[%t] : memref<16xf32>
      }
    }
  }
}

// What does nothing goes: values nobody uses, loops that never run, conditions around nothing, and those that contradict
// each other with all they hold. Of conditions that follow from others nothing is left.
// tvm: test_pass_remove_no_op/remove_no_op test_arith_rewrite_simplify/logical_simplify
// CHECK-LABEL: loop.kernel @no_op
// CHECK-NEXT:    loop.for %[[I:.*]] = 0 to %{{.*}} "i" {
// CHECK-NEXT:      loop.if [%[[I]] - %{{.*}} - 3 >= 0] -> f32 {
// CHECK-COUNT-1:   loop.store
// CHECK-NOT:       loop.store
loop.kernel @no_op ins(%x: memref<?xf32> [N], %m: memref<?xf32> [M]) outs(%y: memref<?xf32> [N]) symbols(%N, %M) {
  loop.for %i = 0 to %N "i" {
    loop.for %j = 0 to 0 "j" {
      %v = loop.load %x[%j] : memref<?xf32>
      loop.store %v, %y[%i] : memref<?xf32>
    }
    loop.if [%i - %M - 1 >= 0] {
      loop.for %k = 0 to %M "k" {
        %v = loop.load %x[%k] : memref<?xf32>
      }
    }
    loop.if [%i - %M - 1 >= 0, %M - %i >= 0] {
      %v = loop.load %x[%i] : memref<?xf32>
      loop.store %v, %y[%i] : memref<?xf32>
    }
    %w = loop.if [%i - %M - 3 >= 0, 2 * %i - %M - 3 >= 0] -> f32 {
      %v = loop.load %x[%i - 1] : memref<?xf32>
      loop.yield %v : f32
    } else {
      %v = loop.load %x[%i] : memref<?xf32>
      loop.yield %v : f32
    }
    loop.store %w, %y[%i] : memref<?xf32>
  }
}

// Conditions leave a remainder one value, which decides another condition and is known in subscripts.
// CHECK-LABEL: loop.kernel @one_value
// CHECK:           loop.if [{{.*}} mod 3 - 1 >= 0, {{.*}} mod 3) + 1 >= 0] {
// CHECK-NEXT:        loop.for %[[Y:.*]] = 0 to 11 "y" {
// CHECK-NEXT:          loop.store %{{.*}}, %{{.*}}[%[[Y]] + 10] : memref<33xf32>
loop.kernel @one_value outs(%y: memref<33xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %i = 0 to 24 "i" {
    loop.if [(%i floordiv 4) mod 3 - 1 >= 0, 1 - (%i floordiv 4) mod 3 >= 0] {
      loop.for %j = 0 to 11 "y" {
        loop.if [11 * ((%i floordiv 4) mod 3) + %j - 2 >= 0] {
          loop.store %v, %y[11 * ((%i floordiv 4) mod 3) + %j - 1] : memref<33xf32>
        }
      }
    }
  }
}

// A loop that runs ends at the argument of its maximum that is no empty range, and begins at that of its minimum.
// CHECK-LABEL: loop.kernel @not_empty
// CHECK:         loop.for %[[I:.*]] = 0 to 33 "i" {
// CHECK-NEXT:      loop.for %[[J:.*]] = 0 to max(-(%[[I]] floordiv 2) + 1, 0) "j" {
// CHECK-NEXT:        loop.store %{{.*}}, %{{.*}}[0]
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.for %[[K:.*]] = min(-%[[I]] + 31, 3) to 3 "k" {
// CHECK-NEXT:        loop.store %{{.*}}, %{{.*}}[1]
// CHECK-NEXT:      }
loop.kernel @not_empty outs(%y: memref<4xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %i = 0 to 33 "i" {
    loop.for %j = 0 to max(1 - %i floordiv 2, 0) "j" {
      loop.store %v, %y[0] : memref<4xf32>
      loop.if [%i + 2 * %j - 2 >= 0] {
        loop.store %v, %y[2] : memref<4xf32>
      }
    }
    loop.for %k = min(31 - %i, 3) to 3 "k" {
      loop.store %v, %y[1] : memref<4xf32>
      loop.if [30 - %i - %k >= 0] {
        loop.store %v, %y[3] : memref<4xf32>
      }
    }
  }
}

// A declaration has nothing to simplify.
// CHECK-LABEL: loop.kernel @declared
loop.kernel @declared ins(%arg0: memref<4xf32>) outs(%arg1: memref<4xf32>) in_place [0 -> 0]

// When several threads run a loop: a condition that is proved goes, with one that cannot hold a single thread does.
// CHECK-LABEL: loop.kernel @threads
// CHECK:         loop.for %{{.*}} = 0 to %N "always" parallel {
// CHECK:         loop.for %{{.*}} = 0 to %N "never" {
// CHECK:         loop.for %{{.*}} = 0 to %N "some" parallel when [%N - 8 >= 0] {
loop.kernel @threads outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  loop.for %i = 0 to %N "always" parallel when [3 >= 0] {
    loop.store %v, %y[%i] : memref<?xf32>
  }
  loop.for %i = 0 to %N "never" parallel when [%N >= 0, -5 >= 0] {
    loop.store %v, %y[%i] : memref<?xf32>
  }
  loop.for %i = 0 to %N "some" parallel when [%N - 8 >= 0] {
    loop.store %v, %y[%i] : memref<?xf32>
  }
}

// Subscripts read through a loop.apply, which another dialect may go on to read; a loop around nothing goes.
// CHECK-LABEL: loop.kernel @applied
// CHECK-NEXT:    loop.for %[[I:.*]] = 0 to 4 "i" {
// CHECK-NEXT:      %[[N:.*]] = loop.apply %[[I]] + 1
// CHECK-NEXT:      %[[V:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK-NEXT:      loop.store %[[V]], %y[2 * %[[I]] + 2] : memref<16xi64>
// CHECK-NEXT:    }
// CHECK-NEXT:  }
loop.kernel @applied outs(%y: memref<16xi64>) {
  loop.for %i = 0 to 4 "i" {
    %n = loop.apply %i + 1
    %v = arith.index_cast %n : index to i64
    loop.store %v, %y[2 * %n] : memref<16xi64>
  }
  loop.for %i = 0 to 4 "nothing" {
  }
}

// Each pattern alone. What one of them leaves, others need.
// RUN: opt-tool %s --apply-pattern loop-simplify.simplify-indices | filecheck %s --check-prefix=INDICES
// INDICES-LABEL: loop.kernel @divides
// INDICES:         loop.if [-4 * %o - %i + 15 >= 0] {
// INDICES-LABEL: loop.kernel @fused
// INDICES:         loop.load %x[%f floordiv 14, %f mod 14]
// INDICES-NEXT:    loop.store %{{.*}}, %y[%f]
// RUN: opt-tool %s --apply-pattern loop-simplify.read-applied-index | filecheck %s --check-prefix=APPLIED
// APPLIED-LABEL: loop.kernel @applied
// APPLIED:         arith.index_cast %n
// APPLIED-NEXT:    loop.store %{{.*}}, %y[2 * %i + 2]
// RUN: opt-tool %s --apply-pattern loop-simplify.decide-threads | filecheck %s --check-prefix=THREADS
// THREADS-LABEL: loop.kernel @threads
// THREADS:         loop.for %{{.*}} = 0 to %N "always" parallel {
// THREADS:         loop.for %{{.*}} = 0 to %N "never" {
// THREADS:         loop.for %{{.*}} = 0 to %N "some" parallel when [%N - 8 >= 0] {
// RUN: opt-tool %s --apply-pattern loop-simplify.erase-idle-loop | filecheck %s --check-prefix=IDLE
// IDLE-LABEL: loop.kernel @bounds
// IDLE:         loop.for %j = 0 to 1 "j" {
// IDLE-LABEL: loop.kernel @empty
// IDLE:         loop.for %i = 0 to 4 "i" {
// IDLE-NEXT:      loop.if
// RUN: opt-tool %s --apply-pattern loop-simplify.inline-single-iteration | filecheck %s --check-prefix=SINGLE
// SINGLE-LABEL: loop.kernel @empty
// SINGLE:         loop.for %j = 0 to 0 "j" {
// SINGLE-LABEL: loop.kernel @foreign
// SINGLE:         %[[A:.*]] = loop.apply %i + 1
// SINGLE-NEXT:    arith.index_cast %[[A]]
// RUN: opt-tool %s --apply-pattern loop-simplify.erase-empty-body | filecheck %s --check-prefix=EMPTY
// EMPTY-LABEL: loop.kernel @applied
// EMPTY-NEXT:    loop.for %i = 0 to 4 "i" {
// EMPTY-NOT:     "nothing"
// RUN: opt-tool %s --apply-pattern loop-simplify.guard-to-bounds | filecheck %s --check-prefix=GUARD
// GUARD-LABEL: loop.kernel @prime
// GUARD:         loop.for %i = 0 to min(-4 * %o + 17, 4) "i" {
// GUARD-NEXT:      loop.store
// GUARD-LABEL: loop.kernel @unrolled
// GUARD:         loop.for %i = 0 to 4 "i" unrolled {
// GUARD-NEXT:      loop.if
// RUN: opt-tool %s --apply-pattern loop-simplify.decide-conditions | filecheck %s --check-prefix=DECIDED
// DECIDED-LABEL: loop.kernel @prime
// DECIDED:         loop.if
// DECIDED-LABEL: loop.kernel @divides
// DECIDED:         loop.for %i = 0 to 4 "i" {
// DECIDED-NEXT:      loop.store
// RUN: opt-tool %s --apply-pattern loop-simplify.merge-nested-conditions | filecheck %s --check-prefix=MERGED
// MERGED-LABEL: loop.kernel @symbolic
// MERGED:         loop.if [%N - 4 * %o - %i - 1 >= 0, %N - %i - 1 >= 0, %N - 4 * %o - 1 >= 0] {
// MERGED-NEXT:      loop.store
// MERGED-LABEL: loop.kernel @no_op
// MERGED:         loop.if [%i - %M - 1 >= 0] {
// MERGED-NEXT:      loop.for
// RUN: opt-tool %s --apply-pattern loop-simplify.erase-unread | filecheck %s --check-prefix=UNREAD
// UNREAD-LABEL: loop.kernel @dead
// UNREAD:         loop.store %e, %t[0]
// UNREAD-NOT:     loop.store %f, %u[0]
// UNREAD:         loop.store %zero, %y[%i]
// RUN: opt-tool %s --apply-pattern loop-simplify.erase-unused | filecheck %s --check-prefix=UNUSED
// UNUSED-LABEL: loop.kernel @dead
// UNUSED:         loop.store %f, %u[0]
// UNUSED-LABEL: loop.kernel @no_op
// UNUSED-NOT:     loop.load %x[%k]
// RUN: not opt-tool %s --apply-pattern loop-simplify.guard-to-bounds@56 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: loop-simplify.guard-to-bounds does not match at line 56
