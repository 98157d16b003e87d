// RUN: opt-tool %s -p loop-rewrite-unsafe-select | filecheck %s

// A load that the condition keeps within the buffer is made only where it holds. What is computed from it goes along.
// tvm: test_pass_rewrite_unsafe_select/rewrite_Select
// CHECK-LABEL: loop.kernel @unsafe
// CHECK:         loop.for %[[I:.*]] = 0 to 9
// CHECK-NOT:       loop.load
// CHECK:           %[[R:.*]] = loop.if [%[[I]] - 1 >= 0] -> f32 {
// CHECK-NEXT:        %[[V:.*]] = loop.load %{{.*}}[%[[I]] - 1]
// CHECK-NEXT:        %[[W:.*]] = arith.negf %[[V]]
// CHECK-NEXT:        loop.yield %[[W]]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        loop.yield %{{.*}} : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.store %[[R]]
loop.kernel @unsafe ins(%x: memref<8xf32>) outs(%y: memref<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  loop.for %i = 0 to 9 "i" {
    %c = arith.cmpi sge, %i, %one : index
    %v = loop.load %x[%i - 1] : memref<8xf32>
    %w = arith.negf %v : f32
    %r = arith.select %c, %w, %zero : f32
    loop.store %r, %y[%i] : memref<9xf32>
  }
}

// Both choices inside become lazy; the one around them has arms that are safe, and stays.
// CHECK-LABEL: loop.kernel @nested
// CHECK:         %[[A:.*]] = loop.if [%[[I:.*]] - 2 >= 0] -> f32 {
// CHECK:         %[[B:.*]] = loop.if [-%[[I]] + 4 >= 0] -> f32 {
// CHECK-NEXT:      loop.load %{{.*}}[%[[I]] + 3]
// CHECK:         arith.select %{{.*}}, %[[A]], %[[B]] : f32
loop.kernel @nested ins(%x: memref<8xf32>) outs(%y: memref<10xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %five = arith.constant 5 : index
  loop.for %i = 0 to 10 "i" {
    %above = arith.cmpi sgt, %i, %one : index
    %v = loop.load %x[%i - 2] : memref<8xf32>
    %a = arith.select %above, %v, %zero : f32
    %below = arith.cmpi slt, %i, %five : index
    %w = loop.load %x[%i + 3] : memref<8xf32>
    %b = arith.select %below, %w, %zero : f32
    %r = arith.select %above, %a, %b : f32
    loop.store %r, %y[%i] : memref<10xf32>
  }
}

// Loads that stay within their buffers are made on either side: a select has a vector form.
// CHECK-LABEL: loop.kernel @safe
// CHECK-NOT:     loop.if
// CHECK:         arith.select
loop.kernel @safe ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %x[%i] : memref<8xf32>
    %c = arith.cmpf ogt, %v, %zero : f32
    %r = arith.select %c, %v, %zero : f32
    loop.store %r, %y[%i] : memref<8xf32>
  }
}

// Conditions on data: an index that is 1 or 0. Several conditions; "not equal" chooses the other way round.
// CHECK-LABEL: loop.kernel @conditions
// CHECK:         %[[W:.*]] = arith.extui %{{.*}} : i1 to i64
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[W]] : i64 to index
// CHECK-NEXT:    loop.if [%[[N]] - 1 >= 0, -%[[I:.*]] + 7 >= 0] -> f32 {
// CHECK:         loop.if [%[[I]] - 8 == 0] -> f32 {
// CHECK-NEXT:      loop.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      loop.load
loop.kernel @conditions ins(%x: memref<8xf32>, %m: memref<9xi32>) outs(%y: memref<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %seven = arith.constant 7 : i64
  %eight = arith.constant 8 : index
  loop.for %i = 0 to 9 "i" {
    %k = loop.load %m[%i] : memref<9xi32>
    %data = arith.cmpi ne, %k, %none : i32
    %wide = arith.index_cast %i : index to i64
    %below = arith.cmpi sle, %wide, %seven : i64
    %both = arith.andi %data, %below : i1
    %v = loop.load %x[%i] : memref<8xf32>
    %a = arith.select %both, %v, %zero : f32
    %unequal = arith.cmpi ne, %i, %eight : index
    %b = arith.select %unequal, %v, %a : f32
    loop.store %b, %y[%i] : memref<9xf32>
  }
}

// A subscript that is read from memory may be anything; the load of it may not.
// CHECK-LABEL: loop.kernel @gather
// CHECK:         loop.load %{{.*}} : memref<9xi32>
// CHECK:         loop.if
// CHECK-NEXT:      loop.load %{{.*}} : memref<8xf32>
loop.kernel @gather ins(%x: memref<8xf32>, %at: memref<9xi32>) outs(%y: memref<9xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : index
  loop.for %i = 0 to 9 "i" {
    %k = loop.load %at[%i] : memref<9xi32>
    %j = arith.index_cast %k : i32 to index
    %c = arith.cmpi sge, %j, %none : index
    %v = loop.load %x[%j] : memref<8xf32>
    %r = arith.select %c, %v, %zero : f32
    loop.store %r, %y[%i] : memref<9xf32>
  }
}

// A division of what is loaded goes with it, whatever it divides by.
// CHECK-LABEL: loop.kernel @divided
// CHECK:         loop.if [%{{.*}} - 1 >= 0] -> i32 {
// CHECK-NEXT:      %[[V:.*]] = loop.load %x[%{{.*}} - 1]
// CHECK-NEXT:      %[[Q:.*]] = arith.divsi %[[V]], %{{.*}} : i32
// CHECK-NEXT:      loop.yield %[[Q]] : i32
loop.kernel @divided ins(%x: memref<8xi32>, %n: memref<8xi32>) outs(%y: memref<8xi32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : index
  loop.for %i = 0 to 8 "i" {
    %d = loop.load %n[%i] : memref<8xi32>
    %v = loop.load %x[%i - 1] : memref<8xi32>
    %q = arith.divsi %v, %d : i32
    %c = arith.cmpi sge, %i, %one : index
    %r = arith.select %c, %q, %zero : i32
    loop.store %r, %y[%i] : memref<8xi32>
  }
}

// A declaration has nothing to rewrite.
// CHECK-LABEL: loop.kernel @declared
loop.kernel @declared ins(%arg0: memref<4xf32>) outs(%arg1: memref<4xf32>) in_place [0 -> 0]

// The pattern alone; a choice between loads that stay within their buffers is left.
// RUN: opt-tool %s --apply-pattern loop-rewrite-unsafe-select.choose-before-loading | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: loop.kernel @unsafe
// ALONE:         loop.if [%i - 1 >= 0] -> f32
// ALONE-LABEL: loop.kernel @safe
// ALONE-NOT:     loop.if
// ALONE:         arith.select
