// RUN: opt-tool %s -p loop-unroll | filecheck %s

// The loops that subscript the registers are unrolled: j through the bounds of k too. The reduction stays rolled.
// CHECK-LABEL: loop.kernel @accumulate
// CHECK:         loop.for %{{.*}} = 0 to 7 "r" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "i" unrolled {
// CHECK:         loop.for %[[J:.*]] = 0 to 3 "j" unrolled {
// CHECK-NEXT:      loop.for %{{.*}} = %[[J]] to %[[J]] + 2 "k" unrolled {
// CHECK:         loop.for %{{.*}} = 0 to 4 "l" {
loop.kernel @accumulate ins(%x: memref<7xf32>) outs(%y: memref<4xf32>) {
  %acc = memref.alloca() : memref<4xf32, "register">
  %buf = memref.alloca() : memref<4xf32, "local">
  loop.for %r = 0 to 7 "r" {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %x[%r] : memref<7xf32>
      loop.store %v, %acc[%i] : memref<4xf32, "register">
    }
  }
  loop.for %j = 0 to 3 "j" {
    loop.for %k = %j to %j + 2 "k" {
      %v = loop.load %acc[%k] : memref<4xf32, "register">
      loop.store %v, %y[%j] : memref<4xf32>
    }
  }
  loop.for %l = 0 to 4 "l" {
    %v = loop.load %x[%l] : memref<7xf32>
    loop.store %v, %buf[%l] : memref<4xf32, "local">
  }
}

// Constants need nothing, loops that never run or run once are expanded as well.
// CHECK-LABEL: loop.kernel @edges
// CHECK:         loop.for %{{.*}} = 0 to %{{.*}} "n" {
// CHECK-NEXT:      loop.store %{{.*}}, %{{.*}}[0]
// CHECK:         loop.for %{{.*}} = 3 to 4 "i" unrolled
// CHECK:         loop.for %{{.*}} = 3 to 2 "j" unrolled
loop.kernel @edges outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  %acc = memref.alloca() : memref<4xf32, "register">
  loop.for %n = 0 to %N "n" {
    loop.store %v, %acc[0] : memref<4xf32, "register">
  }
  loop.for %i = 3 to 4 "i" {
    loop.store %v, %acc[%i] : memref<4xf32, "register">
  }
  loop.for %j = 3 to 2 "j" {
    loop.store %v, %acc[%j] : memref<4xf32, "register">
  }
}

// CHECK-LABEL: loop.kernel @declared
loop.kernel @declared ins(%arg0: memref<4xf32>) outs(%arg1: memref<4xf32>)
