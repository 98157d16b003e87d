// RUN: opt-tool %s -p loop-vectorize | filecheck %s
// RUN: opt-tool %s -p 'loop-vectorize{max-lanes=8}' | filecheck %s --check-prefix=EIGHT

// Contiguous, strided, common to all lanes; the lower bound is the first lane. Longer loops go in chunks.
// CHECK-LABEL: loop.kernel @simple
// CHECK-NOT:     loop.for
// CHECK:         %[[U:.*]] = loop.load %{{.*}}[3] : memref<64xf32>
// CHECK-NEXT:    %[[V:.*]] = loop.load %{{.*}}[2] : memref<64xf32>, vector<18xf32>
// CHECK-NEXT:    %[[W:.*]] = arith.addf %[[U]], %[[U]] : f32
// CHECK-NEXT:    %[[B:.*]] = vector.broadcast %[[W]] : f32 to vector<18xf32>
// CHECK-NEXT:    %[[S:.*]] = arith.mulf %[[V]], %[[B]] : vector<18xf32>
// CHECK-NEXT:    loop.store %[[S]], %{{.*}}[8] stride 4 : memref<80xf32>, vector<18xf32>
// EIGHT-LABEL: loop.kernel @simple
// EIGHT:         loop.for %[[C:.*]] = 0 to 2 "i.chunk" {
// EIGHT:           loop.load %{{.*}}[8 * %[[C]] + 2] : memref<64xf32>, vector<8xf32>
// EIGHT:           loop.store %{{.*}}, %{{.*}}[32 * %[[C]] + 8] stride 4 : memref<80xf32>, vector<8xf32>
// EIGHT-NEXT:    }
// EIGHT:         loop.load %{{.*}}[18] : memref<64xf32>, vector<2xf32>
// EIGHT:         loop.store %{{.*}}, %{{.*}}[72] stride 4 : memref<80xf32>, vector<2xf32>
// EIGHT-NEXT:  }
loop.kernel @simple ins(%x: memref<64xf32>) outs(%y: memref<80xf32>) {
  loop.for %i = 2 to 20 "i" vectorized {
    %u = loop.load %x[3] : memref<64xf32>
    %v = loop.load %x[%i] : memref<64xf32>
    %w = arith.addf %u, %u : f32
    %s = arith.mulf %v, %w : f32
    loop.store %s, %y[4 * %i] : memref<80xf32>
  }
}

// A bounded extent: lanes up to the bound, of which a number known at run time count. The last tile of N is not empty.
// CHECK-LABEL: loop.kernel @tail
// CHECK-NOT:     loop.if
// CHECK:         %[[V:.*]] = loop.load %{{.*}}[16 * %[[O:.*]]] count min({{.*}}) : memref<?xf32>, vector<16xf32>
// CHECK-NEXT:    %[[W:.*]] = arith.negf %[[V]] : vector<16xf32>
// CHECK-NEXT:    loop.store %[[W]], %{{.*}}[16 * %[[O]]] count min({{.*}}) : memref<?xf32>, vector<16xf32>
loop.kernel @tail ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %o = 0 to (%N + 15) floordiv 16 "o" {
    loop.for %i = 0 to min(16, %N - 16 * %o) "i" vectorized {
      %v = loop.load %x[16 * %o + %i] : memref<?xf32>
      %w = arith.negf %v : f32
      loop.store %w, %y[16 * %o + %i] : memref<?xf32>
    }
  }
}

// No bound: chunks, and a remainder that may be empty.
// CHECK-LABEL: loop.kernel @unbounded
// CHECK:         loop.for %[[C:.*]] = 0 to %[[N:.*]] floordiv 64 "i.chunk" {
// CHECK:           loop.store %{{.*}}, %{{.*}}[64 * %[[C]]] : memref<?xf32>, vector<64xf32>
// CHECK:         loop.if [{{.*}} - 1 >= 0] {
// CHECK:           loop.store %{{.*}}, %{{.*}}[64 * (%[[N]] floordiv 64)] count {{.*}} : memref<?xf32>, vector<64xf32>
loop.kernel @unbounded outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  loop.for %i = 0 to %N "i" vectorized {
    loop.store %v, %y[%i] : memref<?xf32>
  }
}

// A reduction inside: its accumulator gets an element a lane.
// CHECK-LABEL: loop.kernel @reduce_inside
// CHECK:         %[[ACC:.*]] = memref.alloca() : memref<8xf32, "register">
// CHECK-NEXT:    %[[Z:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK-NEXT:    loop.store %[[Z]], %[[ACC]][0] : memref<8xf32, "register">, vector<8xf32>
// CHECK-NEXT:    loop.for %[[K:.*]] = 0 to 7 "k" {
// CHECK-NEXT:      %[[A:.*]] = loop.load %{{.*}}[%[[K]]] : memref<7xf32>
// CHECK-NEXT:      %[[B:.*]] = loop.load %{{.*}}[8 * %[[K]]] : memref<56xf32>, vector<8xf32>
// CHECK-NEXT:      %[[AB:.*]] = vector.broadcast %[[A]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[AB]], %[[B]] : vector<8xf32>
// CHECK-NEXT:      %[[OLD:.*]] = loop.load %[[ACC]][0] : memref<8xf32, "register">, vector<8xf32>
// CHECK-NEXT:      %[[NEW:.*]] = arith.addf %[[OLD]], %[[P]] : vector<8xf32>
// CHECK-NEXT:      loop.store %[[NEW]], %[[ACC]][0]
loop.kernel @reduce_inside ins(%a: memref<7xf32>, %b: memref<56xf32>) outs(%y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %j = 0 to 8 "j" vectorized {
    %acc = memref.alloca() : memref<1xf32, "register">
    loop.store %zero, %acc[0] : memref<1xf32, "register">
    loop.for %k = 0 to 7 "k" {
      %av = loop.load %a[%k] : memref<7xf32>
      %bv = loop.load %b[8 * %k + %j] : memref<56xf32>
      %p = arith.mulf %av, %bv : f32
      %old = loop.load %acc[0] : memref<1xf32, "register">
      %new = arith.addf %old, %p : f32
      loop.store %new, %acc[0] : memref<1xf32, "register">
    }
    %r = loop.load %acc[0] : memref<1xf32, "register">
    loop.store %r, %y[%j] : memref<8xf32>
  }
}

// Lanes that do not count have their own elements of a local buffer all the same: no count there.
// CHECK-LABEL: loop.kernel @count_not_local
// CHECK:         %[[V:.*]] = loop.load %{{.*}}[0] count min({{.*}}) : memref<?xf32>, vector<8xf32>
// CHECK-NEXT:    loop.store %[[V]], %[[T:.*]][0] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT:    %[[W:.*]] = loop.load %[[T]][0] : memref<8xf32>, vector<8xf32>
// CHECK-NEXT:    loop.store %[[W]], %{{.*}}[0] count
loop.kernel @count_not_local ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %i = 0 to min(8, %N) "i" vectorized {
    %t = memref.alloca() : memref<1xf32>
    %v = loop.load %x[%i] : memref<?xf32>
    loop.store %v, %t[0] : memref<1xf32>
    %w = loop.load %t[0] : memref<1xf32>
    loop.store %w, %y[%i] : memref<?xf32>
  }
}

// The tail of a tile in registers: where one count holds for all its accesses, they need none.
// CHECK-LABEL: loop.kernel @tile_in_registers
// CHECK:         loop.store %{{.*}}, %[[ACC:.*]][0] : memref<8xf32, "register">, vector<8xf32>
// CHECK-NEXT:    loop.for
// CHECK-NEXT:      %[[V:.*]] = loop.load %{{.*}} stride 3 count %{{.*}} : memref<?xf32>, vector<8xf32>
// CHECK-NEXT:      %[[OLD:.*]] = loop.load %[[ACC]][0] : memref<8xf32, "register">, vector<8xf32>
// CHECK:           loop.store %{{.*}}, %[[ACC]][0] : memref<8xf32, "register">, vector<8xf32>
// CHECK:         %[[R:.*]] = loop.load %[[ACC]][0] : memref<8xf32, "register">, vector<8xf32>
// CHECK-NEXT:    loop.store %[[R]], %{{.*}} count %{{.*}} : memref<?xf32>, vector<8xf32>
loop.kernel @tile_in_registers ins(%x: memref<?xf32> [3 * N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  %zero = arith.constant 0.0 : f32
  loop.for %o = %N floordiv 8 to (%N + 7) floordiv 8 "o" {
    %acc = memref.alloca() : memref<8xf32, "register">
    loop.for %i = 0 to %N - 8 * %o "i" vectorized {
      loop.store %zero, %acc[%i] : memref<8xf32, "register">
    }
    loop.for %k = 0 to 3 "k" {
      loop.for %i = 0 to %N - 8 * %o "i" vectorized {
        %v = loop.load %x[24 * %o + 3 * %i + %k] : memref<?xf32>
        %old = loop.load %acc[%i] : memref<8xf32, "register">
        %new = arith.addf %old, %v : f32
        loop.store %new, %acc[%i] : memref<8xf32, "register">
      }
    }
    loop.for %i = 0 to %N - 8 * %o "i" vectorized {
      %r = loop.load %acc[%i] : memref<8xf32, "register">
      loop.store %r, %y[8 * %o + %i] : memref<?xf32>
    }
  }
}

// Counts that differ stay: the second store leaves lanes that the first one has written.
// CHECK-LABEL: loop.kernel @counts_differ
// CHECK:         loop.store %{{.*}}, %[[ACC:.*]][0] : memref<8xf32>, vector<8xf32>
// CHECK:         loop.store %{{.*}}, %[[ACC]][0] count
// CHECK:         loop.load %[[ACC]][0] : memref<8xf32>, vector<8xf32>
loop.kernel @counts_differ ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) symbols(%N) {
  %zero = arith.constant 0.0 : f32
  %acc = memref.alloca() : memref<8xf32>
  loop.for %i = 0 to 8 "i" vectorized {
    loop.store %zero, %acc[%i] : memref<8xf32>
  }
  loop.for %i = 0 to min(8, %N) "i" vectorized {
    %v = loop.load %x[%i] : memref<8xf32>
    loop.store %v, %acc[%i] : memref<8xf32>
  }
  loop.for %i = 0 to 8 "i" vectorized {
    %v = loop.load %acc[%i] : memref<8xf32>
    loop.store %v, %y[%i] : memref<8xf32>
  }
}

// Accumulators of several vectors outside the loop: the same lane mapping in load and store, rows 16 apart.
// CHECK-LABEL: loop.kernel @accumulate
// CHECK:         loop.for %[[R:.*]] = 0 to 4 "r" unrolled {
// CHECK:           loop.load %[[ACC:.*]][16 * %[[R]]] : memref<64xf32, "register">, vector<16xf32>
// CHECK:           loop.store %{{.*}}, %[[ACC]][16 * %[[R]]] : memref<64xf32, "register">, vector<16xf32>
loop.kernel @accumulate ins(%x: memref<16xf32>) outs(%y: memref<64xf32>) {
  %acc = memref.alloca() : memref<64xf32, "register">
  loop.for %i = 0 to 16 "i" vectorized {
    %v = loop.load %x[%i] : memref<16xf32>
    loop.for %r = 0 to 4 "r" unrolled {
      %old = loop.load %acc[16 * %r + %i] : memref<64xf32, "register">
      %new = arith.addf %old, %v : f32
      loop.store %new, %acc[16 * %r + %i] : memref<64xf32, "register">
    }
  }
}

// Conditions: common ones stay, with a vector as result; one that the first lanes pass is a count.
// CHECK-LABEL: loop.kernel @conditions
// CHECK:         %[[V:.*]] = loop.if [%[[O:.*]] - 1 >= 0] -> vector<16xf32> {
// CHECK:           loop.yield %{{.*}} : vector<16xf32>
// CHECK:         } else {
// CHECK-NEXT:      %[[Z:.*]] = vector.broadcast
// CHECK-NEXT:      loop.yield %[[Z]] : vector<16xf32>
// CHECK:         loop.if [-16 * %[[O]] + 33 >= 0] {
// CHECK-NEXT:      loop.store %[[V]], %{{.*}} count min({{.*}}) : memref<34xf32>, vector<16xf32>
// CHECK:         loop.store %[[V]], %{{.*}}[16 * %[[O]]] : memref<64xf32>, vector<16xf32>
loop.kernel @conditions ins(%x: memref<64xf32>) outs(%y: memref<34xf32>, %z: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %o = 0 to 4 "o" {
    loop.for %i = 0 to 16 "i" vectorized {
      %v = loop.if [%o - 1 >= 0] -> f32 {
        %w = loop.load %x[16 * %o + %i] : memref<64xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.if [33 - 16 * %o - %i >= 0] {
        loop.store %v, %y[16 * %o + %i] : memref<34xf32>
      }
      loop.store %v, %z[16 * %o + %i] : memref<64xf32>
    }
  }
}

// What has no vector form stays serial and says why.
// CHECK-LABEL: loop.kernel @serial
// CHECK:         loop.for %{{.*}} = 0 to 16 "i" attributes {tilework.remark = "not vectorized: the subscript of %x[i floordiv 3] is not affine in its index"} {
// CHECK:         loop.for %{{.*}} = 0 to 16 "j" attributes {tilework.remark = "not vectorized: the condition j - 3 >= 0 inside it differs between lanes"}
// CHECK:         loop.for %{{.*}} = 0 to 4 "k" attributes {tilework.remark = "not vectorized: it holds vectors already"}
// CHECK-NEXT:      loop.load %{{.*}}[4 * %{{.*}}] : memref<16xf32>, vector<4xf32>
// CHECK:         loop.for %{{.*}} = 0 to 4 "m" attributes {tilework.remark = "not vectorized: lanes may depend on each other through %y[2 * m] and %y[m]"}
// CHECK:         loop.for %{{.*}} = 0 to 4 "n" attributes {tilework.remark = "not vectorized: the bounds of loop 'q' inside it differ between lanes"}
// CHECK:         loop.for %{{.*}} = 0 to 4 "p" attributes {tilework.remark = "not vectorized: arith.index_cast takes its index as a value"}
loop.kernel @serial ins(%x: memref<16xf32>) outs(%y: memref<16xf32>, %z: memref<16xi64>) {
  loop.for %i = 0 to 16 "i" vectorized {
    %v = loop.load %x[%i floordiv 3] : memref<16xf32>
    loop.store %v, %y[%i] : memref<16xf32>
  }
  loop.for %j = 0 to 16 "j" vectorized {
    %v = loop.load %x[%j] : memref<16xf32>
    loop.if [%j - 3 >= 0] {
      loop.store %v, %y[%j] : memref<16xf32>
    }
  }
  loop.for %k = 0 to 4 "k" vectorized {
    loop.for %l = 0 to 4 "l" vectorized {
      %v = loop.load %x[4 * %k + %l] : memref<16xf32>
      loop.store %v, %y[4 * %k + %l] : memref<16xf32>
    }
  }
  loop.for %m = 0 to 4 "m" vectorized {
    %v = loop.load %y[2 * %m] : memref<16xf32>
    loop.store %v, %y[%m] : memref<16xf32>
  }
  loop.for %n = 0 to 4 "n" vectorized {
    loop.for %q = 0 to %n "q" {
      %v = loop.load %x[%q] : memref<16xf32>
      loop.store %v, %y[%n] : memref<16xf32>
    }
  }
  loop.for %p = 0 to 4 "p" vectorized {
    %v = arith.index_cast %p : index to i64
    loop.store %v, %z[%p] : memref<16xi64>
  }
}

// One element that one lane only writes: no dependence, but no vector either.
// CHECK-LABEL: loop.kernel @one_lane
// CHECK:         loop.for %{{.*}} = 0 to 4 "i" attributes {tilework.remark = "not vectorized: lanes may depend on each other through %y[0] and %y[0]"}
loop.kernel @one_lane ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  loop.for %i = 0 to 4 "i" vectorized {
    %v = loop.load %x[%i] : memref<4xf32>
    loop.if [-%i >= 0] {
      loop.store %v, %y[0] : memref<4xf32>
    }
  }
}

// A loop that runs at most once is a condition, so that the loops around it may be unrolled.
// CHECK-LABEL: loop.kernel @at_most_once
// CHECK-NEXT:    loop.for %v = 0 to 2 "v" unrolled {
// CHECK-NEXT:      loop.if [-16 * %v >= 0] {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 1 "l" {
loop.kernel @at_most_once ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %v = 0 to 2 "v" unrolled {
    loop.for %l = 0 to -16 * %v + 1 "l" vectorized {
      %a = loop.load %x[16 * %v + %l] : memref<16xf32>
      loop.store %a, %y[16 * %v + %l] : memref<16xf32>
    }
  }
}

// A range decides a quotient; extents 0 and 1 make no vectors.
// CHECK-LABEL: loop.kernel @edges
// CHECK-NEXT:    loop.for %{{.*}} = 0 to 4 "o" {
// CHECK-NEXT:      loop.load %{{.*}}[%{{.*}}] : memref<16xf32>
// CHECK:           loop.store %{{.*}} : memref<16xf32>, vector<4xf32>
// CHECK:         loop.for %{{.*}} = 3 to 4 "i" {
// CHECK:         loop.for %{{.*}} = 4 to 4 "i" {
loop.kernel @edges ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %o = 0 to 4 "o" {
    loop.for %i = 0 to 4 "i" vectorized {
      %v = loop.load %x[(4 * %o + %i) floordiv 4] : memref<16xf32>
      loop.store %v, %y[4 * %o + %i] : memref<16xf32>
    }
  }
  loop.for %i = 3 to 4 "i" vectorized {
    %v = loop.load %x[%i] : memref<16xf32>
    loop.store %v, %y[%i] : memref<16xf32>
  }
  loop.for %i = 4 to 4 "i" vectorized {
    %v = loop.load %x[%i] : memref<16xf32>
    loop.store %v, %y[%i] : memref<16xf32>
  }
}

// Comparisons make a vector of conditions, and a choice goes lane by lane.
// CHECK-LABEL: loop.kernel @choice
// CHECK:         [[C:%[a-z0-9_]+]] = arith.cmpf ogt, %{{.*}} : vector<8xf32>
// CHECK:         [[N:%[a-z0-9_]+]] = arith.fptosi %{{.*}} : vector<8xf32> to vector<8xi32>
// CHECK:         [[F:%[a-z0-9_]+]] = arith.sitofp [[N]] : vector<8xi32> to vector<8xf32>
// CHECK:         arith.select [[C]], [[F]], %{{.*}} : vector<8xi1>, vector<8xf32>
loop.kernel @choice ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  loop.for %i = 0 to 8 "i" vectorized {
    %v = loop.load %x[%i] : memref<8xf32>
    %z = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %v, %z : f32
    %n = arith.fptosi %v : f32 to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.select %c, %f, %z : f32
    loop.store %s, %y[%i] : memref<8xf32>
  }
}

// Chunks of a loop whose iterations are side by side, which only the whole loop shows: rows of seven loops of 16.
// CHECK-LABEL: loop.kernel @rows_of_chunks
// EIGHT-LABEL: loop.kernel @rows_of_chunks
// EIGHT:         loop.for %[[O:.*]] = 0 to 14 "o"
// EIGHT-NEXT:      loop.for %[[C:.*]] = 0 to 2 "i.chunk" {
// EIGHT-NEXT:        %{{.*}} = loop.load %{{.*}}[{{.*}}] : memref<224xf32>, vector<8xf32>
// EIGHT-NEXT:        loop.store %{{.*}}, %{{.*}}[{{.*}}] : memref<336xf32>, vector<8xf32>
loop.kernel @rows_of_chunks ins(%x: memref<224xf32>) outs(%y: memref<336xf32>) {
  loop.for %o = 0 to 14 "o" {
    loop.for %i = 0 to 16 "i" vectorized {
      %v = loop.load %x[112 * (%o floordiv 7) + (16 * %o + %i) mod 112] : memref<224xf32>
      loop.store %v, %y[168 * (%o floordiv 7) + (16 * %o + %i) mod 112] : memref<336xf32>
    }
  }
}

// Each pattern alone. A buffer in registers is touched in all lanes when its accesses are vectors.
// RUN: opt-tool %s --apply-pattern loop-vectorize.loop-to-vectors | filecheck %s --check-prefix=VECTORS
// VECTORS-LABEL: loop.kernel @simple
// VECTORS:         arith.mulf %{{.*}} : vector<18xf32>
// VECTORS-LABEL: loop.kernel @tile_in_registers
// VECTORS:         loop.store %{{.*}} count %{{.*}} : memref<8xf32, "register">, vector<8xf32>
// RUN: opt-tool %s --apply-pattern loop-vectorize.loop-to-vectors --apply-pattern loop-vectorize.touch-all-lanes | filecheck %s --check-prefix=LANES
// LANES-LABEL: loop.kernel @tile_in_registers
// LANES-NOT:     count %{{.*}} : memref<8xf32, "register">
// LANES-LABEL: loop.kernel @counts_differ
// LANES:         loop.store %{{.*}} count
// RUN: opt-tool %s --apply-pattern loop-vectorize.touch-all-lanes | filecheck %s --check-prefix=SCALARS
// SCALARS-LABEL: loop.kernel @tile_in_registers
// SCALARS:         vectorized
// RUN: not opt-tool %s --apply-pattern loop-vectorize.loop-to-vectors@38 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: loop-vectorize.loop-to-vectors does not match at line 38
