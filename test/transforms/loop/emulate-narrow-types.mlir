// RUN: opt-tool %s -p loop-emulate-narrow-types,loop-simplify --check-semantics | filecheck %s
// RUN: opt-tool %s -p loop-emulate-narrow-types | filecheck %s --check-prefix=EMPTY

// Element e is half `e mod 2` of byte `e floordiv 2`. Nine elements are five bytes.
// CHECK-LABEL: loop.kernel @scalars ins(%x: memref<9xi4>) outs(%y: memref<9xui4>)
// CHECK-DAG:     %[[Y:.*]] = loop.bytes %y : memref<9xui4> to memref<5xi8>
// CHECK-DAG:     %[[X:.*]] = loop.bytes %x : memref<9xi4> to memref<5xi8>
// CHECK:         %[[B:.*]] = loop.load %[[X]][%i floordiv 2] : memref<5xi8>
// CHECK-NEXT:    %[[A:.*]] = loop.apply 4 * (%i mod 2)
// CHECK-NEXT:    %[[S:.*]] = arith.index_cast %[[A]] : index to i8
// CHECK-NEXT:    %[[D:.*]] = arith.shrui %[[B]], %[[S]] : i8
// CHECK-NEXT:    %v = arith.trunci %[[D]] : i8 to i4
// CHECK-NEXT:    %[[W:.*]] = arith.extui %v : i4 to i8
// CHECK:         %[[O:.*]] = arith.shli %{{.*}}, %[[T:.*]] : i8
// CHECK:         %[[M:.*]] = arith.xori %[[O]], %{{.*}} : i8
// CHECK:         %[[N:.*]] = arith.shli %[[W]], %[[T]] : i8
// CHECK:         %[[OLD:.*]] = loop.load %[[Y]][%i floordiv 2] : memref<5xi8>
// CHECK-NEXT:    %[[KEPT:.*]] = arith.andi %[[OLD]], %[[M]] : i8
// CHECK-NEXT:    %[[NEW:.*]] = arith.ori %[[KEPT]], %[[N]] : i8
// CHECK-NEXT:    loop.store %[[NEW]], %[[Y]][%i floordiv 2] : memref<5xi8>
loop.kernel @scalars ins(%x: memref<9xi4>) outs(%y: memref<9xui4>) {
  loop.for %i = 0 to 9 "i" {
    %v = loop.load %x[%i] : memref<9xi4>
    loop.store %v, %y[%i] : memref<9xui4>
  }
}

// Which half is known where the subscript is even or odd: constants are enough.
// CHECK-LABEL: loop.kernel @known_halves
// CHECK:         %[[E:.*]] = loop.load %{{.*}}[%i] : memref<4xi8>
// CHECK-NEXT:    %even = arith.trunci %[[E]] : i8 to i4
// CHECK:         %[[C:.*]] = arith.constant 15 : i8
// CHECK:         %[[H:.*]] = arith.constant 4 : i8
// CHECK-NEXT:    arith.shli %{{.*}}, %[[H]] : i8
loop.kernel @known_halves ins(%x: memref<8xi4>) outs(%y: memref<8xi4>) {
  loop.for %i = 0 to 4 "i" {
    %even = loop.load %x[2 * %i] : memref<8xi4>
    loop.store %even, %y[2 * %i + 1] : memref<8xi4>
    %odd = loop.load %x[2 * %i + 1] : memref<8xi4>
    loop.store %odd, %y[2 * %i] : memref<8xi4>
  }
}

// Vectors from an even element on are bytes: halves are moved apart and together in 16 bits. Iterations own whole bytes.
// CHECK-LABEL: loop.kernel @whole_bytes
// CHECK:         loop.for %i = 0 to 2 "i" parallel {
// CHECK-NEXT:      %[[B:.*]] = loop.load %{{.*}}[4 * %i + 1] : memref<10xi8>, vector<4xi8>
// CHECK-NEXT:      %[[W:.*]] = arith.extui %[[B]] : vector<4xi8> to vector<4xi16>
// CHECK:           %[[U:.*]] = arith.shli %[[W]], %{{.*}} : vector<4xi16>
// CHECK-NEXT:      %[[O:.*]] = arith.ori %[[W]], %[[U]] : vector<4xi16>
// CHECK-NEXT:      %[[L:.*]] = vector.bitcast %[[O]] : vector<4xi16> to vector<8xi8>
// CHECK-NEXT:      %v = arith.trunci %[[L]] : vector<8xi8> to vector<8xi4>
// CHECK-NEXT:      %[[E:.*]] = arith.extui %v : vector<8xi4> to vector<8xi8>
// CHECK-NEXT:      %[[P:.*]] = vector.bitcast %[[E]] : vector<8xi8> to vector<4xi16>
// CHECK:           %[[D:.*]] = arith.shrui %[[P]], %{{.*}} : vector<4xi16>
// CHECK-NEXT:      %[[Q:.*]] = arith.ori %[[P]], %[[D]] : vector<4xi16>
// CHECK-NEXT:      %[[T:.*]] = arith.trunci %[[Q]] : vector<4xi16> to vector<4xi8>
// CHECK-NEXT:      loop.store %[[T]], %{{.*}}[4 * %i] : memref<8xi8>, vector<4xi8>
loop.kernel @whole_bytes ins(%x: memref<20xi4>) outs(%y: memref<16xi4>) {
  loop.for %i = 0 to 2 "i" parallel {
    %v = loop.load %x[8 * %i + 2] : memref<20xi4>, vector<8xi4>
    loop.store %v, %y[8 * %i] : memref<16xi4>, vector<8xi4>
  }
}

// The last of an odd number of lanes has half a byte.
// CHECK-LABEL: loop.kernel @counted
// CHECK:         loop.load %{{.*}}[4 * %i] count (min(8, %n - 8 * %i) + 1) floordiv 2 : memref<?xi8>, vector<4xi8>
// CHECK:         loop.store %{{.*}}, %{{.*}}[4 * %i] count min(8, %n - 8 * %i) floordiv 2 : memref<?xi8>, vector<4xi8>
// CHECK:         loop.if [min(8, %n - 8 * %i) mod 2 - 1 == 0, -min(8, %n - 8 * %i) + 7 >= 0] {
// CHECK:           %[[LAST:.*]] = loop.load %{{.*}}[2 * (min(8, %n - 8 * %i) floordiv 2)] : memref<8xi8, "local">
// CHECK:           %[[KEPT:.*]] = arith.andi %{{.*}}, %{{.*}} : i8
// CHECK-NEXT:      %[[BOTH:.*]] = arith.ori %[[KEPT]], %[[LAST]] : i8
// CHECK-NEXT:      loop.store %[[BOTH]], %{{.*}}[4 * %i + min(8, %n - 8 * %i) floordiv 2] : memref<?xi8>
loop.kernel @counted ins(%x: memref<?xi4> [n]) outs(%y: memref<?xi4> [n]) symbols(%n) {
  loop.for %i = 0 to (%n + 7) floordiv 8 "i" {
    %v = loop.load %x[8 * %i] count min(%n - 8 * %i, 8) : memref<?xi4>, vector<8xi4>
    loop.store %v, %y[8 * %i] count min(%n - 8 * %i, 8) : memref<?xi4>, vector<8xi4>
  }
}

// With an even stride all lanes are the same half of their bytes, whichever that is.
// CHECK-LABEL: loop.kernel @even_stride
// CHECK:         %[[B:.*]] = loop.load %{{.*}}[%i floordiv 2] stride 3 : memref<13xi8>, vector<4xi8>
// CHECK:         %[[S:.*]] = vector.broadcast %{{.*}} : i8 to vector<4xi8>
// CHECK-NEXT:    arith.shrui %[[B]], %[[S]] : vector<4xi8>
loop.kernel @even_stride ins(%x: memref<25xi4>) outs(%y: memref<24xi32>) {
  loop.for %i = 0 to 6 "i" {
    %v = loop.load %x[%i] stride 6 : memref<25xi4>, vector<4xi4>
    %w = arith.extsi %v : vector<4xi4> to vector<4xi32>
    loop.store %w, %y[4 * %i] : memref<24xi32>, vector<4xi32>
  }
}

// Neighbours from an element on that may be odd: every other one is the same half of its byte.
// CHECK-LABEL: loop.kernel @across_bytes
// CHECK:         %[[A:.*]] = loop.load %{{.*}}[%i floordiv 2] count %n floordiv 2 + 1 : memref<6xi8>, vector<2xi8>
// CHECK:         %[[E:.*]] = arith.extui %{{.*}} : vector<2xi8> to vector<2xi16>
// CHECK:         %[[B:.*]] = loop.load %{{.*}}[(%i + 1) floordiv 2] count (%n + 1) floordiv 2 : memref<6xi8>, vector<2xi8>
// CHECK:         %[[F:.*]] = arith.extui %{{.*}} : vector<2xi8> to vector<2xi16>
// CHECK:         %[[O:.*]] = arith.shli %[[F]], %{{.*}} : vector<2xi16>
// CHECK-NEXT:    %[[Z:.*]] = arith.ori %[[E]], %[[O]] : vector<2xi16>
// CHECK-NEXT:    vector.bitcast %[[Z]] : vector<2xi16> to vector<4xi8>
loop.kernel @across_bytes ins(%x: memref<11xi4>, %z: memref<?xf32> [n]) outs(%y: memref<8x4xi32>) symbols(%n) {
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %x[%i] count %n + 1 : memref<11xi4>, vector<4xi4>
    %w = arith.extsi %v : vector<4xi4> to vector<4xi32>
    loop.store %w, %y[%i, 0] count %n + 1 : memref<8x4xi32>, vector<4xi32>
  }
}

// Everything else goes lane by lane.
// CHECK-LABEL: loop.kernel @lane_by_lane
// CHECK:         %[[IN:.*]] = memref.alloca() : memref<3xi8, "local">
// CHECK-NEXT:    loop.for %lane = 0 to 3 "lane" unrolled {
// CHECK:           loop.store %{{.*}}, %[[IN]][%lane] : memref<3xi8, "local">
// CHECK:         loop.load %[[IN]][0] : memref<3xi8, "local">, vector<3xi8>
// CHECK:         loop.store %{{.*}}, %[[OUT:.*]][0] : memref<3xi8, "local">, vector<3xi8>
// CHECK-NEXT:    loop.for %lane{{.*}} = 0 to min(3, %n) "lane" {
// CHECK:           loop.load %[[OUT]][%lane{{.*}}] : memref<3xi8, "local">
// CHECK:           loop.store %{{.*}}, %{{.*}}[(3 * %i + %lane{{.*}}) floordiv 2] : memref<6xi8>
loop.kernel @lane_by_lane ins(%x: memref<12xui4>, %z: memref<?xf32> [n]) outs(%y: memref<12xui4>) symbols(%n) {
  loop.for %i = 0 to 4 "i" {
    %v = loop.load %x[3 * %i] : memref<12xui4>, vector<3xi4>
    loop.store %v, %y[3 * %i] count min(%n, 3) : memref<12xui4>, vector<3xi4>
  }
}

// What is a kernel's own has a byte for every element.
// CHECK-LABEL: loop.kernel @own
// CHECK-SAME:    scratch(%s: memref<7xi8>)
// CHECK:         %t = memref.alloca() : memref<1xi8, "register">
// CHECK-NEXT:    %[[V:.*]] = loop.load %{{.*}}[%i floordiv 2] : memref<4xi8>
// CHECK:         %[[E:.*]] = arith.extui %v : i4 to i8
// CHECK-NEXT:    loop.store %[[E]], %t[0] : memref<1xi8, "register">
// CHECK-NEXT:    %[[W:.*]] = loop.load %t[0] : memref<1xi8, "register">
// CHECK-NEXT:    %w = arith.trunci %[[W]] : i8 to i4
// CHECK:         loop.store %{{.*}}, %s[%i] : memref<7xi8>
loop.kernel @own ins(%x: memref<7xi4>) outs(%y: memref<7xi32>) scratch(%s: memref<7xi4>) {
  loop.for %i = 0 to 7 "i" parallel {
    %t = memref.alloca() : memref<1xi4, "register">
    %v = loop.load %x[%i] : memref<7xi4>
    loop.store %v, %t[0] : memref<1xi4, "register">
    %w = loop.load %t[0] : memref<1xi4, "register">
    loop.store %w, %s[%i] : memref<7xi4>
  }
  loop.for %i = 0 to 7 "i" {
    %v = loop.load %s[6 - %i] : memref<7xi4>
    %w = arith.extui %v : i4 to i32
    loop.store %w, %y[%i] : memref<7xi32>
  }
}

// One element, none, and prefetches of the bytes.
// EMPTY-LABEL: loop.kernel @edges
// EMPTY-DAG:     %[[NONE:.*]] = loop.bytes %{{.*}} : memref<0xi4> to memref<0xi8>
// EMPTY:         loop.load %[[NONE]][%{{.*}} floordiv 2] : memref<0xi8>
// CHECK-LABEL: loop.kernel @edges
// CHECK-DAG:     %[[ONE:.*]] = loop.bytes %{{.*}} : memref<1xi4> to memref<1xi8>
// CHECK-DAG:     %[[M:.*]] = loop.bytes %{{.*}} : memref<15xui4> to memref<8xi8>
// CHECK:         loop.load %[[ONE]][0] : memref<1xi8>
// CHECK:         loop.prefetch %[[M]][(5 * %i + 1) floordiv 2 + 3] : memref<8xi8>
loop.kernel @edges ins(%none: memref<0xi4>, %one: memref<i4>, %m: memref<3x5xui4>) outs(%y: memref<1xi4>) {
  %flat = memref.reinterpret_cast %one to offset: [0], sizes: [1], strides: [1] : memref<i4> to memref<1xi4>
  %rows = memref.reinterpret_cast %m to offset: [0], sizes: [15], strides: [1] : memref<3x5xui4> to memref<15xui4>
  %v = loop.load %flat[0] : memref<1xi4>
  loop.store %v, %y[0] : memref<1xi4>
  loop.for %i = 0 to 0 "i" {
    %w = loop.load %none[%i] : memref<0xi4>
    loop.store %w, %y[%i] : memref<1xi4>
  }
  loop.for %i = 0 to 3 "i" {
    loop.prefetch %m[%i + 1, 2] : memref<3x5xui4>
    %u = loop.load %rows[5 * %i + 4] : memref<15xui4>
    loop.store %u, %y[0] : memref<1xi4>
  }
}

// Parallel iterations whose bytes are their own: pairs inside of an even step, wherever a row that all share begins; and
// the last iteration apart, as loop-partition leaves it.
// CHECK-LABEL: loop.kernel @own_bytes
// CHECK:         loop.for %j = 0 to %{{.*}} "j" parallel {
// CHECK:         loop.for %m = 0 to 4 "m" parallel {
loop.kernel @own_bytes ins(%x: memref<?xi4> [8 * n], %w: memref<4xi4>) outs(%y: memref<?xi4> [8 * n], %z: memref<15xi4>) symbols(%n) {
  loop.for %i = 0 to 2 "i" {
    loop.for %j = 0 to %n "j" parallel {
      loop.for %k = 0 to 2 "k" {
        %v = loop.load %x[4 * (%n * %i) + 4 * %j + 2 * %k] : memref<?xi4>
        loop.store %v, %y[4 * (%n * %i) + 4 * %j + 2 * %k] : memref<?xi4>
        loop.store %v, %y[4 * (%n * %i) + 4 * %j + 2 * %k + 1] : memref<?xi4>
      }
    }
  }
  loop.for %m = 0 to 4 "m" parallel {
    %v = loop.load %w[%m] : memref<4xi4>
    loop.if [2 - %m >= 0] {
      loop.for %l = 0 to 4 "l" {
        loop.store %v, %z[4 * %m + %l] : memref<15xi4>
      }
    } else {
      loop.for %l = 0 to 3 "l" {
        loop.store %v, %z[%l + 12] : memref<15xi4>
      }
    }
  }
}

// Of other types, nothing is narrow: what is asked for stays.
// CHECK-LABEL: loop.kernel @not_narrow
// CHECK:         loop.prefetch %x[%i] : memref<8xf32>
loop.kernel @not_narrow ins(%x: memref<8xf32>, %n: memref<8xi4>) outs(%y: memref<8xi4>) {
  loop.for %i = 0 to 8 "i" {
    loop.prefetch %x[%i] : memref<8xf32>
    %v = loop.load %n[%i] : memref<8xi4>
    loop.store %v, %y[%i] : memref<8xi4>
  }
}

// Each pattern alone: what is passed in or out is in halves of bytes, what is the kernel's own in bytes.
// RUN: opt-tool %s --apply-pattern loop-emulate-narrow-types.load-halves | filecheck %s --check-prefix=LOADED
// LOADED-LABEL: loop.kernel @scalars
// LOADED-NEXT:    loop.bytes %x : memref<9xi4> to memref<5xi8>
// LOADED-NOT:     loop.bytes
// LOADED:         loop.store %v, %y[%i] : memref<9xui4>
// LOADED-LABEL: loop.kernel @own
// LOADED:         loop.load %t[0] : memref<1xi4, "register">
// RUN: opt-tool %s --apply-pattern loop-emulate-narrow-types.store-halves | filecheck %s --check-prefix=STORED
// STORED-LABEL: loop.kernel @scalars
// STORED-NEXT:    loop.bytes %y : memref<9xui4> to memref<5xi8>
// STORED:         loop.load %x[%i] : memref<9xi4>
// STORED-LABEL: loop.kernel @own
// STORED:         loop.store %v, %t[0] : memref<1xi4, "register">
// RUN: opt-tool %s --apply-pattern loop-emulate-narrow-types.prefetch-halves | filecheck %s --check-prefix=PREFETCHED
// PREFETCHED-LABEL: loop.kernel @edges
// PREFETCHED-NOT:     loop.prefetch %m
// PREFETCHED-LABEL: loop.kernel @not_narrow
// PREFETCHED:         loop.prefetch %x[%i] : memref<8xf32>
// RUN: opt-tool %s --apply-pattern loop-emulate-narrow-types.widen-scratch | filecheck %s --check-prefix=SCRATCH
// SCRATCH: loop.kernel @own {{.*}} scratch(%s: memref<7xi8>) {
// SCRATCH:   memref.alloca() : memref<1xi4, "register">
// RUN: opt-tool %s --apply-pattern loop-emulate-narrow-types.widen-local | filecheck %s --check-prefix=WIDENED
// WIDENED: loop.kernel @own {{.*}} scratch(%s: memref<7xi4>) {
// WIDENED:   memref.alloca() : memref<1xi8, "register">

// A declared kernel has no body to change.
// CHECK-LABEL: loop.kernel @declared ins(
loop.kernel @declared ins(%a: memref<9xi4>) outs(%c: memref<9xi4>)
