// RUN: opt-tool %s -p loop-check-bounds | filecheck %s
// RUN: opt-tool %s --check-bounds -p loop-simplify | filecheck %s --check-prefix=FLAG
// FLAG-LABEL: loop.kernel @gather
// FLAG-SAME:    loop.checks

// A load where data say is made where it is in bounds; elsewhere one more output says that it was not, and the value is 0.
// The other accesses stay within their buffers.
// CHECK-LABEL: loop.kernel @gather ins(%x: memref<8xf32>, %n: memref<4xi64>) outs(%y: memref<4xf32>, %report: memref<3xindex>)
// CHECK-SAME:    attributes {loop.checks = ["in i: load from %x[%j] out of bounds: dimension 0"]}
// CHECK-NEXT:    loop.for %[[C:.*]] = 0 to 3 "clear" {
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:      loop.store %[[ZERO]], %report[%[[C]]]
// CHECK:         loop.for %i = 0 to 4 "i" {
// CHECK-NEXT:      %d = loop.load %n[%i]
// CHECK-NEXT:      %j = arith.index_cast
// CHECK-NEXT:      %v = loop.if [%j >= 0, -%j + 7 >= 0] -> f32 {
// CHECK-NEXT:        %[[V:.*]] = loop.load %x[%j]
// CHECK-NEXT:        loop.yield %[[V]] : f32
// CHECK-NEXT:      } else {
// CHECK-NEXT:        %[[ONE:.*]] = loop.apply 1
// CHECK-NEXT:        loop.store %[[ONE]], %report[0]
// CHECK-NEXT:        %[[J:.*]] = loop.apply %j
// CHECK-NEXT:        loop.store %[[J]], %report[1]
// CHECK-NEXT:        %[[SIZE:.*]] = loop.apply 8
// CHECK-NEXT:        loop.store %[[SIZE]], %report[2]
// CHECK-NEXT:        %[[NONE:.*]] = arith.constant 0.0
// CHECK-NEXT:        loop.yield %[[NONE]] : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.store %v, %y[%i]
loop.kernel @gather ins(%x: memref<8xf32>, %n: memref<4xi64>) outs(%y: memref<4xf32>) {
  loop.for %i = 0 to 4 "i" {
    %d = loop.load %n[%i] : memref<4xi64>
    %j = arith.index_cast %d : i64 to index
    %v = loop.load %x[%j] : memref<8xf32>
    loop.store %v, %y[%i] : memref<4xf32>
  }
}

// A store is left out. Each dimension is checked, and of a vector the first lane and the last.
// CHECK-LABEL: loop.kernel @scatter
// CHECK-SAME:    outs(%y: memref<?x16xf32> [N, 16], %report: memref<9xindex>) symbols(%N)
// CHECK-SAME:    "in no loop: store to %y[%j, %j] out of bounds: dimension 0"
// CHECK:         loop.if [%j + 7 >= 0, -%j + 8 >= 0] {
// CHECK-NEXT:      loop.if [%j >= 0, -%j + 15 >= 0] {
// CHECK-NEXT:        loop.if [%j >= 0, %N - %j - 1 >= 0] {
// CHECK-NEXT:          loop.store %v, %y[%j, %j] : memref<?x16xf32>, vector<8xf32>
// CHECK-NEXT:        } else {
loop.kernel @scatter ins(%x: memref<8xf32>, %n: memref<1xindex>) outs(%y: memref<?x16xf32> [N, 16]) symbols(%N) {
  %v = loop.load %x[0] : memref<8xf32>, vector<8xf32>
  %j = loop.load %n[0] : memref<1xindex>
  loop.store %v, %y[%j, %j] : memref<?x16xf32>, vector<8xf32>
}

// Of lanes only those that are touched count: with none there is nothing to check.
// CHECK-LABEL: loop.kernel @lanes
// CHECK:         loop.if [min(8, %c) - 1 >= 0] -> vector<8xf32> {
// CHECK:           loop.if [min(8, %c) - 1 >= 0, -min(8, %c) + 4 >= 0] -> vector<8xf32> {
// CHECK:           loop.yield
// CHECK:           loop.yield
// CHECK:         } else {
// CHECK-NEXT:      %[[V:.*]] = loop.load %x[0] count %c
// CHECK-NEXT:      loop.yield %[[V]]
loop.kernel @lanes ins(%x: memref<4xf32>, %n: memref<1xindex>) outs(%y: memref<8xf32>) {
  %c = loop.load %n[0] : memref<1xindex>
  %v = loop.load %x[0] count %c : memref<4xf32>, vector<8xf32>
  loop.store %v, %y[0] : memref<8xf32>, vector<8xf32>
}

// Where every access stays within its buffer nothing is checked, and there is no more output.
// CHECK-LABEL: loop.kernel @inside ins(%x: memref<8xf32>) outs(%y: memref<?xf32> [N]) symbols(%N) {
// CHECK-NEXT:    loop.for %i = 0 to min(8, %N) "i" {
// CHECK-NEXT:      %v = loop.load %x[%i]
// CHECK-NEXT:      loop.store %v, %y[%i]
loop.kernel @inside ins(%x: memref<8xf32>) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %i = 0 to min(8, %N) "i" {
    %v = loop.load %x[%i] : memref<8xf32>
    loop.store %v, %y[%i] : memref<?xf32>
  }
}
