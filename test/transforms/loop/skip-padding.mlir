// RUN: opt-tool %s -p loop-skip-padding | filecheck %s
// RUN: opt-tool %s -p loop-skip-padding,loop-partition,loop-simplify | filecheck %s --check-prefix=CUT

// A product is added where it is not of padding; loops cut there do not ask.
// CHECK-LABEL: loop.kernel @sum
// CHECK:         loop.for %[[K:.*]] = 0 to 3 "k" {
// CHECK-NEXT:      loop.if [%{{.*}} + %[[K]] - 1 >= 0, -%{{.*}} - %[[K]] + 8 >= 0] {
// CHECK-NEXT:        %[[S:.*]] = loop.load %{{.*}}[%{{.*}}] : memref<8xf32>
// CHECK-NEXT:        %[[V:.*]] = loop.load %{{.*}}[%{{.*}} + %[[K]] - 1] : memref<8xf32>
// CHECK-NEXT:        %[[W:.*]] = loop.load %{{.*}}[%[[K]]] : memref<3xf32>
// CHECK-NEXT:        %[[P:.*]] = arith.mulf %[[V]], %[[W]]
// CHECK-NEXT:        %[[T:.*]] = arith.addf %[[S]], %[[P]]
// CHECK-NEXT:        loop.store %[[T]]
// CHECK-NEXT:      }
// CUT-LABEL:   loop.kernel @sum
// CUT-NOT:       loop.if
// CUT:           loop.for %{{.*}} = 1 to 3 "k"
// CUT:           loop.for %{{.*}} = 1 to 7 "i"
// CUT-NEXT:        loop.for %{{.*}} = 0 to 3 "k"
// CUT:           loop.for %{{.*}} = 0 to 2 "k"
// CUT:         }
loop.kernel @sum ins(%x: memref<8xf32>, %w: memref<3xf32>) outs(%y: memref<8xf32>) {
  loop.for %i = 0 to 8 "i" {
    loop.for %k = 0 to 3 "k" {
      %s = loop.load %y[%i] : memref<8xf32>
      %v = loop.if [%i + %k - 1 >= 0, 8 - %i - %k >= 0] -> f32 {
        %u = loop.load %x[%i + %k - 1] : memref<8xf32>
        loop.yield %u : f32
      } else {
        %zero = arith.constant 0.0 : f32
        loop.yield %zero : f32
      }
      %a = loop.load %w[%k] : memref<3xf32>
      %p = arith.mulf %v, %a : f32
      %t = arith.addf %s, %p : f32
      loop.store %t, %y[%i] : memref<8xf32>
    }
  }
}

// What lanes share is asked around them; integers are made wider in between.
// CHECK-LABEL: loop.kernel @lanes
// CHECK:         loop.if [%{{.*}} - 1 >= 0] {
// CHECK:           loop.if [%{{.*}} - 1 >= 0] -> i8 {
// CHECK:           arith.extsi
loop.kernel @lanes ins(%x: memref<8x8xi8>) outs(%y: memref<8xi32>) {
  loop.for %k = 0 to 8 "k" {
    loop.for %i = 0 to 8 "i" vectorized attributes {loop.masked} {
      %s = loop.load %y[%i] : memref<8xi32>
      %v = loop.if [%k - 1 >= 0, %i - 1 >= 0] -> i8 {
        %u = loop.load %x[%k - 1, %i - 1] : memref<8x8xi8>
        loop.yield %u : i8
      } else {
        %zero = arith.constant 0 : i8
        loop.yield %zero : i8
      }
      %e = arith.extsi %v : i8 to i32
      %t = arith.addi %s, %e : i32
      loop.store %t, %y[%i] : memref<8xi32>
    }
  }
}

// Padding that is not zero, that is seen by something else, that goes through a function; lanes alone; another element;
// a maximum; a block with a second store; a sum so far from before the loop; a condition that is read in it.
// CHECK-LABEL: loop.kernel @kept
// CHECK-NOT:     loop.if [{{.*}}] {
// CHECK:         func.func
loop.kernel @kept ins(%x: memref<8xf32>, %n: memref<8xindex>) outs(%y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 8 "i" {
    %s = loop.load %y[%i] : memref<64xf32>
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %u = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %u : f32
    } else {
      loop.yield %one : f32
    }
    %t = arith.addf %s, %v : f32
    loop.store %t, %y[%i] : memref<64xf32>
  }
  loop.for %i = 0 to 8 "i" {
    %s = loop.load %y[%i] : memref<64xf32>
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %u = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %u : f32
    } else {
      loop.yield %zero : f32
    }
    %w = arith.addf %v, %one : f32
    %p = arith.mulf %v, %w : f32
    %t = arith.addf %s, %p : f32
    loop.store %t, %y[%i] : memref<64xf32>
  }
  loop.for %i = 0 to 8 "i" {
    %s = loop.load %y[%i] : memref<64xf32>
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %u = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %u : f32
    } else {
      loop.yield %zero : f32
    }
    %w = math.exp %v : f32
    %t = arith.addf %s, %w : f32
    loop.store %t, %y[%i] : memref<64xf32>
  }
  loop.for %i = 0 to 8 "i" vectorized {
    %s = loop.load %y[%i] : memref<64xf32>
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %u = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %u : f32
    } else {
      loop.yield %zero : f32
    }
    %t = arith.addf %s, %v : f32
    loop.store %t, %y[%i] : memref<64xf32>
  }
  loop.for %i = 0 to 8 "i" {
    %s = loop.load %y[%i] : memref<64xf32>
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %u = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %u : f32
    } else {
      loop.yield %zero : f32
    }
    %t = arith.addf %s, %v : f32
    loop.store %t, %y[%i + 8] : memref<64xf32>
  }
  loop.for %i = 0 to 8 "i" {
    %s = loop.load %y[%i] : memref<64xf32>
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %u = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %u : f32
    } else {
      loop.yield %zero : f32
    }
    %t = arith.maximumf %s, %v : f32
    loop.store %t, %y[%i] : memref<64xf32>
  }
  loop.for %i = 0 to 8 "i" {
    %s = loop.load %y[%i] : memref<64xf32>
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %u = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %u : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %one, %y[%i + 16] : memref<64xf32>
    %t = arith.addf %s, %v : f32
    loop.store %t, %y[%i] : memref<64xf32>
  }
  %before = loop.load %y[5] : memref<64xf32>
  loop.for %i = 0 to 8 "i" {
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %u = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %u : f32
    } else {
      loop.yield %zero : f32
    }
    %t = arith.addf %before, %v : f32
    loop.store %t, %y[5] : memref<64xf32>
  }
  loop.for %i = 0 to 8 "i" {
    %j = loop.load %n[%i] : memref<8xindex>
    %s = loop.load %y[%i] : memref<64xf32>
    %v = loop.if [%j >= 0] -> f32 {
      %u = loop.load %x[%i] : memref<8xf32>
      loop.yield %u : f32
    } else {
      loop.yield %zero : f32
    }
    %t = arith.addf %s, %v : f32
    loop.store %t, %y[%i] : memref<64xf32>
  }
}

func.func @end() {
  func.return
}

// A value is stored only where the condition holds under which it takes the place of what was there.
// CHECK-LABEL: loop.kernel @selected
// CHECK:         loop.for %{{.*}} = 0 to 8 "k" {
// CHECK-NEXT:      loop.if [-8 * %{{.*}} - %{{.*}} + 19 >= 0] {
// CHECK-NOT:         arith.select
// CHECK:             %[[T:.*]] = arith.addf
// CHECK-NEXT:        loop.store %[[T]]
// CUT-LABEL:   loop.kernel @selected
// CUT-NOT:       loop.if
loop.kernel @selected ins(%x: memref<20xf32>) outs(%y: memref<3xf32>) {
  loop.for %b = 0 to 3 "b" {
    loop.for %k = 0 to 8 "k" {
      %s = loop.load %y[%b] : memref<3xf32>
      %v = loop.if [19 - 8 * %b - %k >= 0] -> f32 {
        %u = loop.load %x[8 * %b + %k] : memref<20xf32>
        loop.yield %u : f32
      } else {
        %zero = arith.constant 0.0 : f32
        loop.yield %zero : f32
      }
      %c = loop.if [19 - 8 * %b - %k >= 0] -> i1 {
        %true = arith.constant true
        loop.yield %true : i1
      } else {
        %false = arith.constant false
        loop.yield %false : i1
      }
      %t = arith.addf %s, %v : f32
      %r = arith.select %c, %t, %s : f32
      loop.store %r, %y[%b] : memref<3xf32>
    }
  }
}

// Another element is no value as it was.
// CHECK-LABEL: loop.kernel @moved
// CHECK:         arith.select
loop.kernel @moved ins(%x: memref<20xf32>) outs(%y: memref<3xf32>) {
  loop.for %b = 0 to 2 "b" {
    %s = loop.load %y[%b + 1] : memref<3xf32>
    %c = loop.if [%b - 1 >= 0] -> i1 {
      %true = arith.constant true
      loop.yield %true : i1
    } else {
      %false = arith.constant false
      loop.yield %false : i1
    }
    %u = loop.load %x[%b] : memref<20xf32>
    %r = arith.select %c, %u, %s : f32
    loop.store %r, %y[%b] : memref<3xf32>
  }
}

// Each pattern alone.
// RUN: opt-tool %s --apply-pattern loop-skip-padding.store-what-takes-part | filecheck %s --check-prefix=PART
// PART-LABEL: loop.kernel @sum
// PART:         loop.for %k
// PART-NEXT:      loop.load
// PART-LABEL: loop.kernel @selected
// PART:         loop.if [-8 * %b - %k + 19 >= 0] {
// PART-NEXT:      loop.load %y[%b]
// PART-NEXT:      loop.if [-8 * %b - %k + 19 >= 0] -> f32 {
// RUN: opt-tool %s --apply-pattern loop-skip-padding.add-what-is-no-padding | filecheck %s --check-prefix=PADDING
// PADDING-LABEL: loop.kernel @sum
// PADDING:         loop.if [%i + %k - 1 >= 0, -%i - %k + 8 >= 0] {
// PADDING-NEXT:      loop.load %y[%i]
// PADDING-NEXT:      loop.load %x[%i + %k - 1]
// PADDING-LABEL: loop.kernel @selected
// PADDING:         arith.select
