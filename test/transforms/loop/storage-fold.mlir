// RUN: opt-tool %s -p loop-storage-fold | filecheck %s
// RUN: opt-tool %s -p loop-storage-fold --check-semantics

// A history of which each step reads the row before, and the end is read after it: two rows do.

// CHECK-LABEL: loop.kernel @history
// CHECK-SAME:    scratch(%h: memref<2x8xf32>)
// CHECK:         loop.store %{{.*}}, %h[0, %i] : memref<2x8xf32>
// CHECK:         loop.for %t = 0 to 99
// CHECK:           loop.load %h[%t mod 2, %{{.*}}] : memref<2x8xf32>
// CHECK:           loop.store %{{.*}}, %h[(%t + 1) mod 2, %{{.*}}] : memref<2x8xf32>
// CHECK:         loop.load %h[1, %{{.*}}] : memref<2x8xf32>
loop.kernel @history ins(%x: memref<100x8xf32>) outs(%y: memref<8xf32>) scratch(%h: memref<100x8xf32>) {
  loop.for %i = 0 to 8 "i" {
    %a = loop.load %x[0, %i] : memref<100x8xf32>
    loop.store %a, %h[0, %i] : memref<100x8xf32>
  }
  loop.for %t = 0 to 99 "t" {
    loop.for %i = 0 to 8 "i" {
      %a = loop.load %x[%t + 1, %i] : memref<100x8xf32>
      %b = loop.load %h[%t, %i] : memref<100x8xf32>
      %c = arith.addf %a, %b : f32
      loop.store %c, %h[%t + 1, %i] : memref<100x8xf32>
    }
  }
  loop.for %i = 0 to 8 "i" {
    %a = loop.load %h[99, %i] : memref<100x8xf32>
    loop.store %a, %y[%i] : memref<8xf32>
  }
}

// Three rows set before, one of them reached from the first step: these three stay. The number of steps is not known.

// CHECK-LABEL: loop.kernel @three
// CHECK-SAME:    scratch(%h: memref<3xf32>)
// CHECK:         loop.store %{{.*}}, %h[%i mod 3] : memref<3xf32>
// CHECK:         loop.load %h[(%t + 1) mod 3]
// CHECK:         loop.store %{{.*}}, %h[%t mod 3]
// CHECK:         loop.load %h[(%T + 1) mod 3]
loop.kernel @three ins(%x: memref<?xf32> [T]) outs(%y: memref<f32>) scratch(%h: memref<?xf32> [T + 3]) symbols(%T) {
  loop.for %i = 0 to 3 "i" {
    %one = arith.constant 1.0 : f32
    loop.store %one, %h[%i] : memref<?xf32>
  }
  loop.for %t = 0 to %T "t" {
    %a = loop.load %x[%t] : memref<?xf32>
    %b = loop.load %h[%t + 1] : memref<?xf32>
    %c = arith.addf %a, %b : f32
    loop.store %c, %h[%t + 3] : memref<?xf32>
  }
  %a = loop.load %h[%T + 1] : memref<?xf32>
  loop.store %a, %y[] : memref<f32>
}

// Read as a whole after the loop, or out of order in it: nothing is folded. Nor is a loop in parallel.

// CHECK-LABEL: loop.kernel @whole
// CHECK-SAME:    scratch(%h: memref<100xf32>, %g: memref<100xf32>, %p: memref<100xf32>)
loop.kernel @whole ins(%x: memref<100xf32>) outs(%y: memref<100xf32>) scratch(%h: memref<100xf32>, %g: memref<100xf32>, %p: memref<100xf32>) {
  loop.for %t = 0 to 100 "t" {
    %a = loop.load %x[%t] : memref<100xf32>
    loop.store %a, %h[%t] : memref<100xf32>
    loop.store %a, %g[%t] : memref<100xf32>
    %b = loop.load %g[%t floordiv 2] : memref<100xf32>
    loop.store %b, %y[%t] : memref<100xf32>
  }
  loop.for %t = 0 to 100 "t" parallel {
    %a = loop.load %h[%t] : memref<100xf32>
    loop.store %a, %p[%t] : memref<100xf32>
    %b = loop.load %p[%t] : memref<100xf32>
    loop.store %b, %y[%t] : memref<100xf32>
  }
}

// Around the loop that fills it another one may run, in parallel too, if it has a slice of its own; the second has none.

// CHECK-LABEL: loop.kernel @slices
// CHECK-SAME:    scratch(%h: memref<2x8xf32>, %g: memref<100x8xf32>)
// CHECK:         loop.for %[[B:.*]] = 0 to 8 "b" parallel
// CHECK:           loop.load %h[%t mod 2, %[[B]]] : memref<2x8xf32>
loop.kernel @slices ins(%x: memref<100x8xf32>) outs(%y: memref<100x8xf32>) scratch(%h: memref<100x8xf32>, %g: memref<100x8xf32>) {
  loop.for %b = 0 to 8 "b" {
    %a = loop.load %x[0, %b] : memref<100x8xf32>
    loop.store %a, %h[0, %b] : memref<100x8xf32>
    loop.store %a, %g[0, %b] : memref<100x8xf32>
  }
  loop.for %b = 0 to 8 "b" parallel {
    loop.for %t = 0 to 99 "t" {
      %a = loop.load %h[%t, %b] : memref<100x8xf32>
      %c = arith.addf %a, %a : f32
      loop.store %c, %h[%t + 1, %b] : memref<100x8xf32>
      loop.store %c, %y[%t + 1, %b] : memref<100x8xf32>
    }
  }
  loop.for %b = 0 to 8 "b" {
    loop.for %t = 0 to 99 "t" {
      %a = loop.load %g[%t, 0] : memref<100x8xf32>
      %c = loop.load %x[%t + 1, %b] : memref<100x8xf32>
      loop.store %c, %g[%t + 1, 0] : memref<100x8xf32>
      loop.store %a, %y[0, %b] : memref<100x8xf32>
    }
  }
}

// The pattern alone; what is read as a whole behind the loop is kept.
// RUN: opt-tool %s --apply-pattern loop-storage-fold.fold-scratch | filecheck %s --check-prefix=ALONE
// ALONE: loop.kernel @history {{.*}} scratch(%h: memref<2x8xf32>)
// ALONE: loop.kernel @whole
// ALONE-NOT: mod
// ALONE: loop.kernel @slices
