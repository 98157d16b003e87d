// RUN: opt-tool %s -p loop-flatten-storage | filecheck %s
// RUN: opt-tool %s -p loop-flatten-storage | opt-tool -p loop-flatten-storage | filecheck %s

// CHECK-LABEL: loop.kernel @static
// CHECK-NEXT:    %[[X:.*]] = memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [224], strides: [1] : memref<2x8x14xf32> to memref<224xf32>
// CHECK-NEXT:    %[[Y:.*]] = memref.reinterpret_cast %{{.*}} sizes: [224], strides: [1] : memref<224x1xf32> to memref<224xf32>
// CHECK:           %[[T:.*]] = memref.alloca() : memref<8xf32, "register">
// CHECK-NEXT:      loop.load %[[X]][%[[F:.*]]] : memref<224xf32>
// CHECK-NEXT:      loop.store %{{.*}}, %[[T]][4] : memref<8xf32, "register">
// CHECK:           loop.store %{{.*}}, %[[Y]][%[[F]]] : memref<224xf32>
loop.kernel @static ins(%x: memref<2x8x14xf32>) outs(%y: memref<224x1xf32>) {
  loop.for %f = 0 to 224 "f" {
    %t = memref.alloca() : memref<2x4xf32, "register">
    %v = loop.load %x[%f floordiv 112, (%f floordiv 14) mod 8, %f mod 14] : memref<2x8x14xf32>
    loop.store %v, %t[1, 0] : memref<2x4xf32, "register">
    %w = loop.load %t[1, 0] : memref<2x4xf32, "register">
    loop.store %w, %y[%f, 0] : memref<224x1xf32>
  }
}

// A slice of a larger buffer: its strides, and the extent up to its last element. One dimension can be strided too.
// CHECK-LABEL: loop.kernel @strided
// CHECK-NEXT:    memref.reinterpret_cast %{{.*}} sizes: [10], strides: [1] : memref<4xf32, strided<[3]>> to memref<10xf32>
// CHECK-NEXT:    memref.reinterpret_cast %{{.*}} sizes: [306], strides: [1] : memref<4x6xf32, strided<[100, 1]>> to memref<306xf32>
// CHECK:         loop.load %{{.*}}[3 * %[[I:.*]]] : memref<10xf32>
// CHECK:         loop.store %{{.*}}, %{{.*}}[100 * %[[I]] + %{{.*}}] : memref<306xf32>
loop.kernel @strided ins(%x: memref<4xf32, strided<[3]>>) outs(%y: memref<4x6xf32, strided<[100, 1]>>) {
  loop.for %i = 0 to 4 "i" {
    %v = loop.load %x[%i] : memref<4xf32, strided<[3]>>
    loop.for %j = 0 to 6 "j" {
      loop.store %v, %y[%i, %j] : memref<4x6xf32, strided<[100, 1]>>
    }
  }
}

// Symbolic dimensions multiply.
// CHECK-LABEL: loop.kernel @symbolic
// CHECK-NEXT:    %[[S:.*]] = loop.apply 4 * (%{{.*}} * %{{.*}})
// CHECK-NEXT:    memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[S]]], strides: [1] : memref<?x4x?xf32> to memref<?xf32>
// CHECK:         loop.load %{{.*}}[{{.*}}] : memref<?xf32>
// CHECK:         loop.store %{{.*}}, %{{.*}}[4 * %{{.*}} + 3] : memref<?xf32>
loop.kernel @symbolic ins(%x: memref<?x4x?xf32> [N, 4, M]) outs(%y: memref<?x4xf32> [N, 4]) symbols(%N, %M) {
  loop.for %i = 0 to %N "i" {
    loop.for %j = 0 to %M "j" {
      %v = loop.load %x[%i, 3, %j] : memref<?x4x?xf32>
      loop.store %v, %y[%i, 3] : memref<?x4xf32>
    }
  }
}

// Scalars, empty buffers, and what is flat already.
// CHECK-LABEL: loop.kernel @edges
// CHECK-NEXT:    memref.reinterpret_cast %{{.*}} sizes: [1], strides: [1] : memref<f32> to memref<1xf32>
// CHECK-NEXT:    memref.reinterpret_cast %{{.*}} sizes: [0], strides: [1] : memref<0x4xf32> to memref<0xf32>
// CHECK-NEXT:    loop.load %{{.*}}[0] : memref<1xf32>
loop.kernel @edges ins(%x: memref<f32>, %z: memref<0x4xf32>) outs(%y: memref<4xf32>) {
  %v = loop.load %x[] : memref<f32>
  loop.store %v, %y[0] : memref<4xf32>
  loop.for %i = 0 to 0 "i" {
    %w = loop.load %z[%i, 1] : memref<0x4xf32>
    loop.store %w, %y[1] : memref<4xf32>
  }
}

// Each pattern alone: the buffer that is accessed no more goes only then.
// RUN: opt-tool %s --apply-pattern loop-flatten-storage.flatten-access | filecheck %s --check-prefix=ACCESS
// ACCESS-LABEL: loop.kernel @static
// ACCESS:         memref.alloca() : memref<8xf32, "register">
// ACCESS-NEXT:    memref.alloca() : memref<2x4xf32, "register">
// ACCESS-LABEL: loop.kernel @edges
// ACCESS:         loop.store %{{.*}}, %y[0] : memref<4xf32>
// RUN: opt-tool %s --apply-pattern loop-flatten-storage.flatten-access --apply-pattern loop-flatten-storage.erase-unused-buffer | filecheck %s --check-prefix=ERASED
// ERASED-NOT:     memref<2x4xf32, "register">
// RUN: opt-tool %s --apply-pattern loop-flatten-storage.erase-unused-buffer | filecheck %s --check-prefix=USED
// USED:           memref.alloca() : memref<2x4xf32, "register">
