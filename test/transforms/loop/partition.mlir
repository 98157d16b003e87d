// RUN: opt-tool %s -p loop-partition | filecheck %s
// RUN: opt-tool %s -p 'loop-partition{max-growth=1}' | filecheck %s --check-prefix=NONE

// Padding: three loops, none of which asks anything. Without room for copies the condition stays.
// CHECK-LABEL: loop.kernel @pad
// CHECK-NOT:     loop.if
// CHECK:         loop.store %[[Z:.*]], %{{.*}}[0] : memref<58xf32>
// CHECK-NEXT:    loop.for %[[X:.*]] = 1 to 57 "x" {
// CHECK-NEXT:      %[[V:.*]] = loop.load %{{.*}}[%[[X]] - 1]
// CHECK-NEXT:      loop.store %[[V]], %{{.*}}[%[[X]]]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.store %[[Z]], %{{.*}}[57]
// NONE-LABEL: loop.kernel @pad
// NONE:         loop.for %[[X:.*]] = 0 to 58
// NONE-NEXT:      loop.if [%[[X]] - 1 >= 0, -%[[X]] + 56 >= 0] -> f32
loop.kernel @pad ins(%x: memref<56xf32>) outs(%y: memref<58xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %x_ = 0 to 58 "x" {
    %v = loop.if [%x_ - 1 >= 0, 56 - %x_ >= 0] -> f32 {
      %w = loop.load %x[%x_ - 1] : memref<56xf32>
      loop.yield %w : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %v, %y[%x_] : memref<58xf32>
  }
}

// Two padded axes: the rows above and below are not split again.
// CHECK-LABEL: loop.kernel @pad_2d
// CHECK-NOT:     loop.if
// CHECK:         loop.for %{{.*}} = 0 to 10 "x"
// CHECK:         loop.for %[[Y:.*]] = 1 to 9 "y"
// CHECK-NEXT:      loop.store
// CHECK-NEXT:      loop.for %{{.*}} = 1 to 9 "x"
// CHECK-NEXT:        loop.load
// CHECK-NEXT:        loop.store
// CHECK:           loop.store
// CHECK:         loop.for %{{.*}} = 0 to 10 "x"
// CHECK-NOT:     loop.for
loop.kernel @pad_2d ins(%x: memref<8x8xf32>) outs(%y: memref<10x10xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 10 "y" {
    loop.for %j = 0 to 10 "x" {
      %v = loop.if [%i - 1 >= 0, 8 - %i >= 0, %j - 1 >= 0, 8 - %j >= 0] -> f32 {
        %w = loop.load %x[%i - 1, %j - 1] : memref<8x8xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %y[%i, %j] : memref<10x10xf32>
    }
  }
}

// A tail: four full tiles of vectors with a constant extent, and one of what is left, for a prime size.
// CHECK-LABEL: loop.kernel @tail
// CHECK:         loop.for %[[O:.*]] = 0 to 4 "o" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "i" vectorized {
// CHECK-NEXT:        loop.store
// CHECK:         loop.store %{{.*}}, %{{.*}}[16] : memref<17xf32>
// CHECK-NOT:     loop.for
loop.kernel @tail outs(%y: memref<17xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to 5 "o" {
    loop.for %i = 0 to min(4, 17 - 4 * %o) "i" vectorized {
      loop.store %v, %y[4 * %o + %i] : memref<17xf32>
    }
  }
}

// The same for N: full tiles up to N floordiv 4; the rest is at most one tile.
// CHECK-LABEL: loop.kernel @symbolic_tail
// CHECK:         loop.for %{{.*}} = 0 to %[[N:.*]] floordiv 4 "o" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "i" vectorized {
// CHECK:         loop.for %{{.*}} = %[[N]] floordiv 4 to (%[[N]] + 3) floordiv 4 "o" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to {{.*}} "i" vectorized {
loop.kernel @symbolic_tail outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to (%N + 3) floordiv 4 "o" {
    loop.for %i = 0 to min(4, %N - 4 * %o) "i" vectorized {
      loop.store %v, %y[4 * %o + %i] : memref<?xf32>
    }
  }
}

// A serial inner loop keeps its bound, unless the hint asks for more.
// CHECK-LABEL: loop.kernel @hint
// CHECK:         loop.for %{{.*}} = 0 to 5 "o" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to min(
// CHECK:         loop.for %{{.*}} = 0 to 4 "p" partition {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "i"
loop.kernel @hint outs(%y: memref<17xf32>) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to 5 "o" {
    loop.for %i = 0 to min(4, 17 - 4 * %o) "i" {
      loop.store %v, %y[4 * %o + %i] : memref<17xf32>
    }
  }
  loop.for %p = 0 to 5 "p" partition {
    loop.for %i = 0 to min(4, 17 - 4 * %p) "i" {
      loop.store %v, %y[4 * %p + %i] : memref<17xf32>
    }
  }
}

// A parallel loop is not cut: inside it, one body without conditions and one with them, or what is left of them.
// CHECK-LABEL: loop.kernel @parallel
// CHECK:         loop.for %[[Y:.*]] = 0 to 8 "y" parallel {
// CHECK-NEXT:      loop.if [%[[Y]] - 1 >= 0] {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 3 "r" {
// CHECK-NEXT:          loop.load
// CHECK-NEXT:          loop.store
// CHECK:           } else {
// CHECK-NEXT:        loop.store
// CHECK-NEXT:        loop.for %{{.*}} = 1 to 3 "r" {
// CHECK-NEXT:          loop.load
loop.kernel @parallel ins(%x: memref<9xf32>) outs(%y: memref<8x3xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 8 "y" parallel {
    loop.for %r = 0 to 3 "r" {
      %v = loop.if [%i + %r - 1 >= 0] -> f32 {
        %w = loop.load %x[%i + %r - 1] : memref<9xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %y[%i, %r] : memref<8x3xf32>
    }
  }
}

// Its last iteration, which is shorter, is code of its own where unrolled loops are as long as it says, and so is the
// first one, if padding makes that differ, too.
// CHECK-LABEL: loop.kernel @shorter_at_the_end
// CHECK:         loop.for %[[B:.*]] = 0 to 4 "b" parallel {
// CHECK-NEXT:      loop.if [-%[[B]] + 2 >= 0] {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 2 "i" unrolled {
// CHECK:           } else {
// CHECK-NEXT:        loop.load %x[6] : memref<7xf32>
// CHECK-NEXT:        loop.store %{{.*}}, %y[6] : memref<7xf32>
// CHECK-NEXT:      }
// CHECK:         loop.for %[[C:.*]] = 0 to 4 "c" parallel {
// CHECK-NEXT:      loop.if [-%[[C]] + 2 >= 0, %[[C]] - 1 >= 0] {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 2 "i" unrolled {
// CHECK:           } else {
// CHECK-NEXT:        loop.if [-%[[C]] >= 0] {
// CHECK-NEXT:          loop.for %[[I:.*]] = 0 to 2 "i" unrolled {
// CHECK-NEXT:            loop.if [%[[I]] - 1 >= 0] -> f32 {
// CHECK:               loop.load %x[5] : memref<7xf32>
// CHECK-NEXT:          loop.store %{{.*}}, %y[6] : memref<7xf32>
// CHECK:         loop.for %[[D:.*]] = 0 to 2 "d" parallel {
// CHECK-NEXT:      loop.if [-%[[D]] >= 0] {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 4 "i" unrolled {
// CHECK:           } else {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 3 "i" unrolled {
loop.kernel @shorter_at_the_end ins(%x: memref<7xf32>) outs(%y: memref<7xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %b = 0 to 4 "b" parallel {
    loop.for %i = 0 to min(2, 7 - 2 * %b) "i" unrolled {
      %v = loop.load %x[2 * %b + %i] : memref<7xf32>
      loop.store %v, %y[2 * %b + %i] : memref<7xf32>
    }
  }
  loop.for %c = 0 to 4 "c" parallel {
    loop.for %i = 0 to min(2, 7 - 2 * %c) "i" unrolled {
      %v = loop.if [2 * %c + %i - 1 >= 0] -> f32 {
        %w = loop.load %x[2 * %c + %i - 1] : memref<7xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %y[2 * %c + %i] : memref<7xf32>
    }
  }
  loop.for %d = 0 to 2 "d" parallel {
    loop.for %i = 0 to min(4, 7 - 4 * %d) "i" unrolled {
      %v = loop.load %x[4 * %d + %i] : memref<7xf32>
      loop.store %v, %y[4 * %d + %i] : memref<7xf32>
    }
  }
}

// A window over tiles of unrolled pixels: tiles in the middle ask nothing, the unrolled loop is not cut.
// CHECK-LABEL: loop.kernel @window
// CHECK:         loop.for %{{.*}} = 1 to 3 "t" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 3 "r" {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 4 "p" unrolled {
// CHECK-NEXT:          loop.load
loop.kernel @window ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %t = 0 to 4 "t" {
    loop.for %r = 0 to 3 "r" {
      loop.for %p = 0 to 4 "p" unrolled {
        %v = loop.if [4 * %t + %p + %r - 1 >= 0, 16 - 4 * %t - %p - %r >= 0] -> f32 {
          %w = loop.load %x[4 * %t + %p + %r - 1] : memref<16xf32>
          loop.yield %w : f32
        } else {
          loop.yield %zero : f32
        }
        %old = loop.load %y[4 * %t + %p] : memref<16xf32>
        %new = arith.addf %old, %v : f32
        loop.store %new, %y[4 * %t + %p] : memref<16xf32>
      }
    }
  }
}

// The last tile is moved inwards: the minimum that says so is decided first, and with it the condition of the window.
// CHECK-LABEL: loop.kernel @shifted
// CHECK-NOT:     min
// CHECK-NOT:     loop.if
// CHECK:         loop.for %[[X:.*]] = 1 to 4 "x" vectorized {
// CHECK-NEXT:      loop.load %{{.*}}[%[[X]] - 1]
// CHECK:         loop.for %[[X:.*]] = 0 to 4 "x" vectorized {
// CHECK-NEXT:      loop.load %{{.*}}[%[[X]] + 2]
loop.kernel @shifted ins(%x: memref<7xf32>) outs(%y: memref<7xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %o = 0 to 2 "o" {
    loop.for %i = 0 to 4 "x" vectorized {
      %v = loop.if [%i + min(3, 4 * %o) - 1 >= 0] -> f32 {
        %w = loop.load %x[%i + min(3, 4 * %o) - 1] : memref<7xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %y[%i + min(3, 4 * %o)] : memref<7xf32>
    }
  }
}

// Three operands side by side: every part reads its own.
// CHECK-LABEL: loop.kernel @concat
// CHECK-NOT:     loop.if
// CHECK:         loop.for %{{.*}} = 0 to 4 "i" {
// CHECK:         loop.for %{{.*}} = 4 to 8 "i" {
// CHECK:         loop.for %{{.*}} = 8 to 12 "i" {
// CHECK-NOT:     loop.if
loop.kernel @concat ins(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) outs(%y: memref<12xf32>) {
  loop.for %i = 0 to 12 "i" {
    %v = loop.if [3 - %i >= 0] -> f32 {
      %w = loop.load %a[%i] : memref<4xf32>
      loop.yield %w : f32
    } else {
      %u = loop.if [7 - %i >= 0] -> f32 {
        %w = loop.load %b[%i - 4] : memref<4xf32>
        loop.yield %w : f32
      } else {
        %w = loop.load %c[%i - 8] : memref<4xf32>
        loop.yield %w : f32
      }
      loop.yield %u : f32
    }
    loop.store %v, %y[%i] : memref<12xf32>
  }
}

// The first iteration differs.
// CHECK-LABEL: loop.kernel @first
// CHECK-NOT:     loop.if
// CHECK:         loop.store %{{.*}}, %{{.*}}[0]
// CHECK:         loop.for %{{.*}} = 1 to 8 "i"
// CHECK-NEXT:      loop.load
loop.kernel @first ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 8 "i" {
    %v = loop.if [%i == 0] -> f32 {
      loop.yield %zero : f32
    } else {
      %w = loop.load %x[%i] : memref<8xf32>
      loop.yield %w : f32
    }
    loop.store %v, %y[%i] : memref<8xf32>
  }
}

// Conditions that no split decides, and loops without iterations, stay as they are.
// CHECK-LABEL: loop.kernel @left
// CHECK:         loop.for %[[I:.*]] = 0 to 8 "i" {
// CHECK-NEXT:      loop.if [%[[I]] mod 3 - 1 >= 0] -> f32 {
// CHECK:         loop.for %{{.*}} = 0 to 0 "j" {
loop.kernel @left ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 8 "i" {
    %v = loop.if [%i mod 3 - 1 >= 0] -> f32 {
      loop.yield %zero : f32
    } else {
      %w = loop.load %x[%i] : memref<8xf32>
      loop.yield %w : f32
    }
    loop.store %v, %y[%i] : memref<8xf32>
  }
  loop.for %j = 0 to 0 "j" {
    loop.if [%j - 4 >= 0] {
      loop.store %zero, %y[%j] : memref<8xf32>
    }
  }
}

// A vectorized loop that is asked for masks stays whole, the one around it is cut where lanes begin to differ.
// CHECK-LABEL: loop.kernel @masked
// CHECK:         loop.for %{{.*}} = 0 to 8 "i" vectorized attributes {loop.masked} {
// CHECK-NEXT:      loop.if [%{{.*}} - 1 >= 0] -> f32
// CHECK:         loop.for %{{.*}} = 1 to 7 "o" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 8 "i" vectorized attributes {loop.masked} {
// CHECK-NEXT:        loop.load
// CHECK:         loop.for %{{.*}} = 0 to 8 "i" vectorized attributes {loop.masked} {
// CHECK-NEXT:      loop.if [-%{{.*}} + 6 >= 0] -> f32
loop.kernel @masked ins(%x: memref<62xf32>) outs(%y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %o = 0 to 8 "o" {
    loop.for %i = 0 to 8 "i" vectorized attributes {loop.masked} {
      %v = loop.if [8 * %o + %i - 1 >= 0, 62 - 8 * %o - %i >= 0] -> f32 {
        %w = loop.load %x[8 * %o + %i - 1] : memref<62xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %y[8 * %o + %i] : memref<64xf32>
    }
  }
}

// Nor is it cut where lanes begin to differ at a place that is known at run time only: registers have no parts of such a
// size. One without masks is.
// CHECK-LABEL: loop.kernel @masked_symbolic
// CHECK:         loop.for %{{.*}} = 0 to %[[N:.*]] floordiv 8 "o" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 8 "i" vectorized attributes {loop.masked} {
// CHECK-NEXT:        loop.load
// CHECK-NEXT:        arith.mulf
// CHECK:         loop.for %{{.*}} = %[[N]] floordiv 8 to (%[[N]] + 7) floordiv 8 "o" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 8 "i" vectorized attributes {loop.masked} {
// CHECK-NEXT:        loop.if
// CHECK-NOT:     "i"
// CHECK:         loop.for %[[P:.*]] = %[[N]] floordiv 8 to (%[[N]] + 7) floordiv 8 "p" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to %[[N]] - 8 * %[[P]] "j" vectorized {
// CHECK-NEXT:        loop.load
// CHECK:           loop.for %{{.*}} = %[[N]] - 8 * %[[P]] to 8 "j" vectorized {
// CHECK-NEXT:        loop.store
loop.kernel @masked_symbolic ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [8 * ((N + 7) floordiv 8)]) symbols(%N) {
  %zero = arith.constant 0.0 : f32
  loop.for %o = 0 to (%N + 7) floordiv 8 "o" {
    loop.for %i = 0 to 8 "i" vectorized attributes {loop.masked} {
      %v = loop.if [%N - 8 * %o - %i - 1 >= 0] -> f32 {
        %w = loop.load %x[8 * %o + %i] : memref<?xf32>
        %s = arith.mulf %w, %w : f32
        loop.yield %s : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %y[8 * %o + %i] : memref<?xf32>
    }
  }
  loop.for %p = 0 to (%N + 7) floordiv 8 "p" {
    loop.for %j = 0 to 8 "j" vectorized {
      %v = loop.if [%N - 8 * %p - %j - 1 >= 0] -> f32 {
        %w = loop.load %x[8 * %p + %j] : memref<?xf32>
        %s = arith.mulf %w, %w : f32
        loop.yield %s : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %y[8 * %p + %j] : memref<?xf32>
    }
  }
}
