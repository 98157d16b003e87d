// RUN: opt-tool %s -p loop-hoist-invariant | filecheck %s

// CHECK-LABEL: loop.kernel @hoist
// CHECK-NEXT:    %[[Z:.*]] = arith.constant
// CHECK-NEXT:    loop.for %[[I:.*]] = 0 to 8 "i" parallel {
// CHECK-NEXT:      %[[A:.*]] = loop.load %{{.*}}[%[[I]]]
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[A]]
// CHECK-NEXT:      loop.for %[[J:.*]] = 0 to 8 "j" {
// CHECK-NEXT:        %[[B:.*]] = loop.load %{{.*}}[%[[J]]]
// CHECK-NEXT:        %[[S:.*]] = arith.addf %[[E]], %[[B]]
// CHECK-NEXT:        loop.for %[[K:.*]] = 0 to 8 "k" {
// CHECK-NEXT:          %[[C:.*]] = loop.load %{{.*}}[%[[K]]]
// CHECK-NEXT:          arith.addf %[[S]], %[[C]]
loop.kernel @hoist ins(%x: memref<8xf32>) outs(%y: memref<8x8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 8 "i" parallel {
    loop.for %j = 0 to 8 "j" {
      loop.for %k = 0 to 8 "k" {
        %a = loop.load %x[%i] : memref<8xf32>
        %e = math.exp %a : f32
        %b = loop.load %x[%j] : memref<8xf32>
        %c = loop.load %x[%k] : memref<8xf32>
        %s = arith.addf %e, %b : f32
        %t = arith.addf %s, %c : f32
        loop.store %t, %y[%i, %j, %k] : memref<8x8x8xf32>
      }
    }
  }
}

// What stays: a load of a buffer that the loop stores to, one in a loop that may not run, one that is conditional, and
// whatever a parallel loop holds. A constant goes from where nothing runs, and so does a remainder, whatever it divides by.
// CHECK-LABEL: loop.kernel @stay
// CHECK:         loop.for %{{.*}} = 0 to 8 "i" {
// CHECK-NEXT:      loop.load %{{.*}}[0] : memref<8xf32>
// CHECK:         %[[C:.*]] = arith.constant 2.0
// CHECK-NEXT:    loop.for %{{.*}} = 0 to min({{.*}}) "n" {
// CHECK-NEXT:      loop.load
// CHECK:         loop.for %{{.*}} = 0 to 8 "j" {
// CHECK-NEXT:      loop.if
// CHECK-NEXT:        loop.load
// CHECK:         arith.remsi
// CHECK-NEXT:    loop.for %{{.*}} = 0 to min({{.*}}) "k" {
// CHECK:         loop.for %{{.*}} = 0 to 8 "p" parallel {
// CHECK-NEXT:      loop.load
loop.kernel @stay ins(%x: memref<8xf32>, %z: memref<?xf32> [N]) outs(%y: memref<8xf32>, %w: memref<8xi32>) symbols(%N) {
  %two = arith.constant 2 : i32
  loop.for %i = 0 to 8 "i" {
    %a = loop.load %y[0] : memref<8xf32>
    loop.store %a, %y[%i] : memref<8xf32>
  }
  loop.for %n = 0 to min(%N, 8) "n" {
    %a = loop.load %z[0] : memref<?xf32>
    %c = arith.constant 2.0 : f32
    %b = arith.addf %a, %c : f32
    loop.store %b, %y[%n] : memref<8xf32>
  }
  loop.for %j = 0 to 8 "j" {
    loop.if [%j - 4 >= 0] {
      %a = loop.load %x[0] : memref<8xf32>
      loop.store %a, %y[%j] : memref<8xf32>
    }
  }
  loop.for %k = 0 to min(%N, 8) "k" {
    %d = arith.remsi %two, %two : i32
    loop.store %d, %w[%k] : memref<8xi32>
  }
  loop.for %p = 0 to 8 "p" parallel {
    %a = loop.load %x[0] : memref<8xf32>
    loop.store %a, %y[%p] : memref<8xf32>
  }
}

// The pattern alone; a load does not leave a loop that may not run.
// RUN: opt-tool %s --apply-pattern loop-hoist-invariant.move-out-of-loop | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: loop.kernel @hoist
// ALONE:         math.exp
// ALONE-NEXT:    loop.for %j
// ALONE-LABEL: loop.kernel @stay
// ALONE:         loop.for %n = 0 to min(8, %N) "n" {
// ALONE-NEXT:      loop.load
