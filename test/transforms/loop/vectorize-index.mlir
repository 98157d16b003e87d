// RUN: opt-tool %s -p loop-vectorize | filecheck %s
// RUN: opt-tool %s -p loop-vectorize --check-semantics

// The index of the loop as a number: that of the first lane, and how far the others are from it.

// CHECK-LABEL: loop.kernel @positions
// CHECK:         %[[A:.*]] = loop.apply 4
// CHECK-NEXT:    %[[B:.*]] = vector.broadcast %[[A]] : index to vector<8xindex>
// CHECK-NEXT:    %[[C:.*]] = arith.constant dense<[0, 2, 4, 6, 8, 10, 12, 14]> : vector<8xindex>
// CHECK-NEXT:    %[[D:.*]] = arith.addi %[[B]], %[[C]] : vector<8xindex>
// CHECK-NEXT:    arith.index_cast %[[D]] : vector<8xindex> to vector<8xi32>
// CHECK-NEXT:    arith.sitofp %{{.*}} : vector<8xi32> to vector<8xf32>
loop.kernel @positions ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %i = 2 to 10 "i" vectorized {
    %n = loop.apply 2 * %i
    %m = arith.index_cast %n : index to i32
    %f = arith.sitofp %m : i32 to f32
    %v = loop.load %x[%i] : memref<16xf32>
    %w = arith.mulf %v, %f : f32
    loop.store %w, %y[%i] : memref<16xf32>
  }
}

// A quotient has no such form.

// CHECK-LABEL: loop.kernel @quotient
// CHECK:         not vectorized: the index i floordiv 2 is not affine in its index
loop.kernel @quotient ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %i = 0 to 16 "i" vectorized {
    %n = loop.apply %i floordiv 2
    %m = arith.index_cast %n : index to i32
    %f = arith.sitofp %m : i32 to f32
    loop.store %f, %y[%i] : memref<16xf32>
  }
}
