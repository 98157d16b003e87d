// RUN: opt-tool %s -p loop-transpose | filecheck %s
// RUN: opt-tool %s -p loop-transpose --check-semantics

// Three blocks of 16 columns, and the last 8 with 8 of those before them.
// CHECK-LABEL: loop.kernel @columns
// CHECK:         loop.for %[[Y:.*]] = 0 to 3 "y" {
// CHECK-NEXT:      %[[T:.*]] = memref.alloca() : memref<896xf32, "local">
// CHECK-NEXT:      loop.for %[[B:.*]] = 0 to 3 "x.block" {
// CHECK-NEXT:        %[[R:[0-9]+]] = loop.load %src[60 * %[[Y]] + 16 * %[[B]]] : memref<2880xf32>, vector<16xf32>
// CHECK-NEXT:        loop.load %src[60 * %[[Y]] + 16 * %[[B]] + 180] : memref<2880xf32>, vector<16xf32>
// CHECK:             %[[C:[0-9]+]], %[[D:[0-9]+]], %{{.*}} = loop.transpose %[[R]], %{{.*}} : vector<16xf32>
// CHECK-NEXT:        loop.store %[[C]], %[[T]][256 * %[[B]]] : memref<896xf32, "local">, vector<16xf32>
// CHECK-NEXT:        loop.store %[[D]], %[[T]][256 * %[[B]] + 16] : memref<896xf32, "local">, vector<16xf32>
// CHECK:           loop.load %src[60 * %[[Y]] + 40] : memref<2880xf32>, vector<16xf32>
// CHECK:           loop.transpose
// CHECK-NEXT:      loop.store %{{.*}}, %[[T]][640] : memref<896xf32, "local">, vector<16xf32>
// CHECK:           loop.for %[[X:.*]] = 1 to 57 "x" {
// CHECK-NEXT:        %v = loop.load %[[T]][16 * %[[X]] - 16] : memref<896xf32, "local">, vector<16xf32>
loop.kernel @columns ins(%src: memref<2880xf32>) outs(%y: memref<2688xf32>) {
  loop.for %j = 0 to 3 "y" {
    loop.for %x = 1 to 57 "x" {
      %v = loop.load %src[60 * %j + %x - 1] stride 180 : memref<2880xf32>, vector<16xf32>
      loop.store %v, %y[896 * %j + 16 * %x - 16] : memref<2688xf32>, vector<16xf32>
    }
  }
}

// Fewer columns than rows, and a number of rows that is no power of two: columns are whole vectors all the same.
// CHECK-LABEL: loop.kernel @few
// CHECK-NEXT:    %[[T:.*]] = memref.alloca() : memref<144xi32, "local">
// CHECK-COUNT-14: loop.load %src[{{.*}}] : memref<140xi32>, vector<9xi32>
// CHECK-NEXT:    loop.transpose {{.*}}, %[[L:[0-9]+]], %[[L]], %[[L]] : vector<9xi32>
// CHECK-NEXT:    loop.store %{{.*}}, %[[T]][0] : memref<144xi32, "local">, vector<16xi32>
// CHECK-COUNT-8: loop.store %{{.*}}, %[[T]]
// CHECK-NEXT:    loop.for %[[X:.*]] = 0 to 9 "x" {
// CHECK-NEXT:      loop.load %[[T]][16 * %[[X]]] : memref<144xi32, "local">, vector<14xi32>
loop.kernel @few ins(%src: memref<140xi32>) outs(%y: memref<126xi32>) {
  loop.for %x = 0 to 9 "x" {
    %v = loop.load %src[%x] stride 10 : memref<140xi32>, vector<14xi32>
    loop.store %v, %y[14 * %x] : memref<126xi32>, vector<14xi32>
  }
}

// A long loop goes in chunks, and a remainder, which is too short here.
// CHECK-LABEL: loop.kernel @chunks
// CHECK:         loop.for %[[C:.*]] = 0 to 2 "x.chunk" {
// CHECK-NEXT:      memref.alloca() : memref<512xf32, "local">
// CHECK-NEXT:      loop.for %[[B:.*]] = 0 to 8 "x.block" {
// CHECK-NEXT:        loop.load %src[64 * %[[C]] + 8 * %[[B]]] : memref<1200xf32>, vector<8xf32>
// CHECK:           loop.for %[[X:.*]] = 64 * %[[C]] to 64 * %[[C]] + 64 "x" {
// CHECK-NEXT:        loop.load %{{.*}}[8 * %[[X]] - 512 * %[[C]]] : memref<512xf32, "local">, vector<8xf32>
// CHECK:         loop.for %[[X:.*]] = 128 to 131 "x" {
// CHECK-NEXT:      loop.load %src[%[[X]]] stride 150
loop.kernel @chunks ins(%src: memref<1200xf32>) outs(%y: memref<1048xf32>) {
  loop.for %x = 0 to 131 "x" {
    %v = loop.load %src[%x] stride 150 : memref<1200xf32>, vector<8xf32>
    loop.store %v, %y[8 * %x] : memref<1048xf32>, vector<8xf32>
  }
}

// Copies of an unrolled loop use one buffer.
// CHECK-LABEL: loop.kernel @unrolled
// CHECK-NEXT:    memref.alloca() : memref<16xf32, "local">
// CHECK-NEXT:    loop.for %{{.*}} = 0 to 4 "j" unrolled {
// CHECK:             loop.load %src[4 * %{{.*}} + 4 * %{{.*}}] : memref<64xf32>, vector<4xf32>
loop.kernel @unrolled ins(%src: memref<64xf32>) outs(%y: memref<64xf32>) {
  loop.for %j = 0 to 4 "j" unrolled {
    loop.for %x = 0 to 4 "x" unrolled {
      %v = loop.load %src[4 * %j + %x] stride 16 : memref<64xf32>, vector<4xf32>
      loop.store %v, %y[16 * %j + 4 * %x] : memref<64xf32>, vector<4xf32>
    }
  }
}

// A condition that all iterations agree on.
// CHECK-LABEL: loop.kernel @padded
// CHECK:           loop.if [%[[Y:.*]] - 1 >= 0] {
// CHECK-NEXT:        loop.for %[[B:.*]] = 0 to 2 "x.block" {
// CHECK-NEXT:          loop.load %src[9 * %[[Y]] + 8 * %[[B]] - 9] : memref<128xf32>, vector<8xf32>
// CHECK:           loop.for %[[X:.*]] = 0 to 16 "x" {
// CHECK-NEXT:        %v = loop.if [%[[Y]] - 1 >= 0] -> vector<8xf32> {
// CHECK-NEXT:          %w = loop.load %columns[8 * %[[X]]] : memref<128xf32, "local">, vector<8xf32>
loop.kernel @padded ins(%src: memref<128xf32>) outs(%y: memref<256xf32>) {
  %zero = arith.constant dense<0.0> : vector<8xf32>
  loop.for %j = 0 to 2 "y" {
    loop.for %x = 0 to 16 "x" {
      %v = loop.if [%j - 1 >= 0] -> vector<8xf32> {
        %w = loop.load %src[9 * %j + %x - 9] stride 16 : memref<128xf32>, vector<8xf32>
        loop.yield %w : vector<8xf32>
      } else {
        loop.yield %zero : vector<8xf32>
      }
      loop.store %v, %y[128 * %j + 8 * %x] : memref<256xf32>, vector<8xf32>
    }
  }
}

// What stays: lanes that are near, of another width, or too many; a step that is not one; loads of some lanes, of some
// iterations; a loop that is short, whose length is not known, or that is parallel.
// CHECK-LABEL: loop.kernel @stay
// CHECK-NOT:     loop.transpose
loop.kernel @stay ins(%src: memref<4000xf32>, %d: memref<4000xf64>, %n: memref<?xf32> [N])
                  outs(%y: memref<4000xf32>, %e: memref<4000xf64>) symbols(%N) {
  loop.for %x = 0 to 16 "x" {
    %near = loop.load %src[%x] stride 4 : memref<4000xf32>, vector<8xf32>
    loop.store %near, %y[8 * %x] : memref<4000xf32>, vector<8xf32>
    %wide = loop.load %d[%x] stride 50 : memref<4000xf64>, vector<8xf64>
    loop.store %wide, %e[8 * %x] : memref<4000xf64>, vector<8xf64>
    %many = loop.load %src[%x] stride 50 : memref<4000xf32>, vector<32xf32>
    loop.store %many, %y[200 + 32 * %x] : memref<4000xf32>, vector<32xf32>
    %steps = loop.load %src[2 * %x] stride 50 : memref<4000xf32>, vector<8xf32>
    loop.store %steps, %y[1000 + 8 * %x] : memref<4000xf32>, vector<8xf32>
    %again = loop.load %src[%x + %x floordiv 8] stride 50 : memref<4000xf32>, vector<8xf32>
    loop.store %again, %y[1200 + 8 * %x] : memref<4000xf32>, vector<8xf32>
    %some = loop.load %src[%x] stride 50 count %N : memref<4000xf32>, vector<8xf32>
    loop.store %some, %y[1400 + 8 * %x] : memref<4000xf32>, vector<8xf32>
    loop.if [%x - 3 >= 0] {
      %there = loop.load %src[%x] stride 50 : memref<4000xf32>, vector<8xf32>
      loop.store %there, %y[1600 + 8 * %x] : memref<4000xf32>, vector<8xf32>
    }
  }
  loop.for %x = 0 to 3 "short" {
    %v = loop.load %src[%x] stride 50 : memref<4000xf32>, vector<8xf32>
    loop.store %v, %y[1800 + 8 * %x] : memref<4000xf32>, vector<8xf32>
  }
  loop.for %x = 0 to %N "x" {
    %v = loop.load %src[%x] stride 50 : memref<4000xf32>, vector<8xf32>
    loop.store %v, %y[2000 + 8 * %x] : memref<4000xf32>, vector<8xf32>
  }
  loop.for %x = 0 to 16 "x" parallel {
    %v = loop.load %src[%x] stride 50 : memref<4000xf32>, vector<8xf32>
    loop.store %v, %y[2200 + 8 * %x] : memref<4000xf32>, vector<8xf32>
  }
}

// A buffer that the loop writes, and subscripts or a buffer that are of this iteration only.
// CHECK-LABEL: loop.kernel @changing
// CHECK-NOT:     loop.transpose
loop.kernel @changing ins(%src: memref<400xf32>) outs(%y: memref<400xf32>) {
  loop.for %x = 0 to 16 "x" {
    %v = loop.load %y[%x] stride 50 : memref<400xf32>, vector<8xf32>
    loop.store %v, %y[8 * %x] : memref<400xf32>, vector<8xf32>
    %twice = loop.apply 2 * %x
    %w = loop.load %src[%x + %twice] stride 40 : memref<400xf32>, vector<8xf32>
    loop.store %w, %y[128 + 8 * %x] : memref<400xf32>, vector<8xf32>
  }
}

// A register has no address.
// CHECK-LABEL: loop.kernel @registers
// CHECK-NOT:     loop.transpose
loop.kernel @registers outs(%y: memref<64xf32>) {
  %zero = arith.constant dense<0.0> : vector<64xf32>
  %acc = memref.alloca() : memref<64xf32, "register">
  loop.store %zero, %acc[0] : memref<64xf32, "register">, vector<64xf32>
  loop.for %x = 0 to 8 "x" {
    %v = loop.load %acc[%x] stride 8 : memref<64xf32, "register">, vector<8xf32>
    loop.store %v, %y[8 * %x] : memref<64xf32>, vector<8xf32>
  }
}

// Columns that are stored become rows behind the loop, through a buffer that copies of the loop share.
// CHECK-LABEL: loop.kernel @stored
// CHECK:         %[[T:.*]] = memref.alloca() : memref<112xf32, "local">
// CHECK-NEXT:    loop.for %[[J:.*]] = 0 to 2 "j" unrolled {
// CHECK-NEXT:      loop.for %[[X:.*]] = 1 to 8 "x" unrolled {
// CHECK-NEXT:        %[[V:.*]] = loop.load %src[16 * %[[X]] + 112 * %[[J]] - 16]
// CHECK-NEXT:        loop.store %[[V]], %[[T]][16 * %[[X]] - 16] : memref<112xf32, "local">, vector<16xf32>
// CHECK-NEXT:      }
// CHECK-COUNT-7:   loop.load %[[T]][{{[0-9]+}}] : memref<112xf32, "local">, vector<16xf32>
// CHECK:           %[[R:[0-9]+]], %[[S:[0-9]+]], {{.*}} = loop.transpose {{.*}} : vector<16xf32>
// CHECK-NEXT:      loop.store %[[R]], %y[784 * %{{.*}}] : memref<1568xf32>, vector<7xf32>
// CHECK-NEXT:      loop.store %[[S]], %y[784 * %[[J]] + 49] : memref<1568xf32>, vector<7xf32>
loop.kernel @stored ins(%src: memref<224xf32>) outs(%y: memref<1568xf32>) {
  loop.for %j = 0 to 2 "j" unrolled {
    loop.for %x = 1 to 8 "x" unrolled {
      %v = loop.load %src[16 * %x + 112 * %j - 16] : memref<224xf32>, vector<16xf32>
      loop.store %v, %y[784 * %j + %x - 1] stride 49 : memref<1568xf32>, vector<16xf32>
    }
  }
}

// Stored as before: few columns, many, under a condition, what the loop loads or stores elsewhere, too, rows that
// would overlap, and lanes that are near.
// CHECK-LABEL: loop.kernel @stored_as_before
// CHECK-NOT:     loop.transpose
loop.kernel @stored_as_before ins(%src: memref<400xf32>)
                              outs(%a: memref<400xf32>, %b: memref<400xf32>, %c: memref<400xf32>, %d: memref<400xf32>) {
  loop.for %x = 0 to 3 "few" {
    %v = loop.load %src[8 * %x] : memref<400xf32>, vector<8xf32>
    loop.store %v, %a[%x] stride 50 : memref<400xf32>, vector<8xf32>
  }
  loop.for %x = 0 to 17 "many" {
    %v = loop.load %src[8 * %x] : memref<400xf32>, vector<8xf32>
    loop.store %v, %a[%x] stride 50 : memref<400xf32>, vector<8xf32>
  }
  loop.for %x = 0 to 8 "x" {
    %v = loop.load %src[8 * %x] : memref<400xf32>, vector<8xf32>
    loop.if [%x - 2 >= 0] {
      loop.store %v, %a[%x] stride 50 : memref<400xf32>, vector<8xf32>
    }
    %w = loop.load %b[8 * %x] : memref<400xf32>, vector<8xf32>
    loop.store %w, %b[%x] stride 50 : memref<400xf32>, vector<8xf32>
    loop.store %v, %c[%x] stride 7 : memref<400xf32>, vector<8xf32>
    loop.store %v, %d[%x] stride 50 : memref<400xf32>, vector<8xf32>
    loop.store %v, %d[%x + 8] stride 50 : memref<400xf32>, vector<8xf32>
  }
  loop.for %x = 0 to 4 "near" {
    %v = loop.load %src[8 * %x] : memref<400xf32>, vector<8xf32>
    loop.store %v, %a[%x] stride 4 : memref<400xf32>, vector<8xf32>
  }
}

// Each pattern alone: columns that are stored become rows, or those that are loaded.
// RUN: opt-tool %s --apply-pattern loop-transpose.store-rows | filecheck %s --check-prefix=STORES
// STORES-LABEL: loop.kernel @columns
// STORES-NOT:     loop.transpose
// STORES-LABEL: loop.kernel @stored
// STORES:         loop.transpose
// RUN: opt-tool %s --apply-pattern loop-transpose.load-rows | filecheck %s --check-prefix=LOADS
// LOADS-LABEL: loop.kernel @columns
// LOADS:         loop.transpose
// LOADS-LABEL: loop.kernel @stay
// LOADS-NOT:     loop.transpose
// LOADS-LABEL: loop.kernel @changing
