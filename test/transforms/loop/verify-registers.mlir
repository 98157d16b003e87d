// RUN: opt-tool %s -p loop-verify-registers | filecheck %s

// Constants once the loops are expanded: of i itself, of k through the first value of its loop, and of none.
// CHECK-LABEL: loop.kernel @constant
// CHECK:         loop.store %{{.*}}, %{{.*}}[%{{.*}} + %{{.*}}] : memref<8xf32, "register">
loop.kernel @constant outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  loop.for %o = 0 to %N "o" {
    %acc = memref.alloca() : memref<8xf32, "register">
    loop.store %v, %acc[0] : memref<8xf32, "register">
    loop.for %i = 0 to 4 "i" unrolled {
      loop.for %k = %i to %i + 2 "k" unrolled {
        loop.store %v, %acc[%i + %k] : memref<8xf32, "register">
      }
    }
    %r = loop.load %acc[0] : memref<8xf32, "register">
    loop.store %r, %y[%o] : memref<?xf32>
  }
}

// Local buffers have addresses.
// CHECK-LABEL: loop.kernel @local
loop.kernel @local outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  %acc = memref.alloca() : memref<8xf32, "local">
  loop.for %n = 0 to min(%N, 8) "n" {
    loop.store %v, %acc[%n] : memref<8xf32, "local">
  }
}

// CHECK-LABEL: loop.kernel @declared
loop.kernel @declared ins(%arg0: memref<4xf32>) outs(%arg1: memref<4xf32>)
