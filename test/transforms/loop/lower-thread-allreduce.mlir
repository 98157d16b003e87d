// RUN: opt-tool %s -p loop-lower-thread-allreduce --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern loop-lower-thread-allreduce.reduce-in-shared | filecheck %s

// Six threads: the two beyond four add to the first two, then two, then one; one thread stores the first value and the
// sum.
// CHECK-LABEL: loop.kernel @six
// CHECK:         loop.for %{{.*}} = 0 to 1 "k" threadIdx.x {
// CHECK-NEXT:      loop.store %{{.*}}, %y[%b] : memref<4xf32>
// CHECK:         %sums = memref.alloca() : memref<6xf32, "shared">
// CHECK-NEXT:    loop.for %[[k:.*]] = 0 to 6 "k" threadIdx.x {
// CHECK-NEXT:      %partial = memref.alloca() : memref<1xf32, "local">
// CHECK:           loop.store %{{.*}}, %sums[%[[k]]]
// CHECK:         loop.for %[[t:.*]] = 0 to 2 "k" threadIdx.x {
// CHECK-NEXT:      loop.load %sums[%[[t]]]
// CHECK-NEXT:      loop.load %sums[%[[t]] + 4]
// CHECK:         loop.for %[[u:.*]] = 0 to 2 "k" threadIdx.x {
// CHECK-NEXT:      loop.load %sums[%[[u]]]
// CHECK-NEXT:      loop.load %sums[%[[u]] + 2]
// CHECK:         loop.for %{{.*}} = 0 to 1 "k" threadIdx.x {
// CHECK:         loop.for %{{.*}} = 0 to 1 "k" threadIdx.x {
// CHECK-NEXT:      loop.load %y[%b]
loop.kernel @six ins(%x: memref<4x6xf32>) outs(%y: memref<4xf32>) {
  loop.for %b = 0 to 4 "b" blockIdx.x {
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %y[%b] : memref<4xf32>
    loop.for %k = 0 to 6 "k" threadIdx.x {
      %s = loop.load %y[%b] : memref<4xf32>
      %v = loop.load %x[%b, %k] : memref<4x6xf32>
      %t = arith.addf %s, %v : f32
      loop.store %t, %y[%b] : memref<4xf32>
    }
  }
}

// Other threads around have rows of their own, and a sum that each thread has for itself is read by all of them.
// CHECK-LABEL: loop.kernel @rows
// CHECK:         %sums = memref.alloca() : memref<4x2xi32, "shared">
// CHECK:           loop.store %{{.*}}, %sums[%r, %{{.*}}]
// CHECK:         %[[a:.*]] = loop.load %m[0] : memref<1xi32, "local">
// CHECK-NEXT:    %[[b:.*]] = loop.load %sums[%r, 0]
// CHECK-NEXT:    arith.maxsi %[[a]], %[[b]]
loop.kernel @rows ins(%x: memref<4x2x3xi32>) outs(%y: memref<4x2xi32>) {
  loop.for %r = 0 to 4 "r" threadIdx.y {
    %least = arith.constant -2147483648 : i32
    %m = memref.alloca() : memref<1xi32, "local">
    loop.store %least, %m[0] : memref<1xi32, "local">
    loop.for %k = 0 to 2 "k" threadIdx.x {
      loop.for %j = 0 to 3 "j" {
        %s = loop.load %m[0] : memref<1xi32, "local">
        %v = loop.load %x[%r, %k, %j] : memref<4x2x3xi32>
        %t = arith.maxsi %s, %v : i32
        loop.store %t, %m[0] : memref<1xi32, "local">
      }
    }
    loop.for %l = 0 to 2 "l" threadIdx.x {
      %t = loop.load %m[0] : memref<1xi32, "local">
      loop.store %t, %y[%r, %l] : memref<4x2xi32>
    }
  }
}

// Terms that are left out are left out of the partial sums; these are all joined.
// CHECK-LABEL: loop.kernel @positive
// CHECK:         %[[old:.*]] = loop.load %partial[0]
// CHECK:         %[[sum:.*]] = arith.addf %[[old]], %
// CHECK:         %[[kept:.*]] = arith.select %{{.*}}, %[[sum]], %[[old]]
// CHECK-NEXT:    loop.store %[[kept]], %partial[0]
// CHECK:         %[[a:.*]] = loop.load %sums[%{{.*}}]
// CHECK-NEXT:    %[[b:.*]] = loop.load %sums[%{{.*}} + 2]
// CHECK-NEXT:    arith.addf %[[a]], %[[b]]
loop.kernel @positive ins(%x: memref<4xf32>) outs(%y: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.store %zero, %y[0] : memref<1xf32>
  loop.for %k = 0 to 4 "k" threadIdx.x {
    %s = loop.load %y[0] : memref<1xf32>
    %v = loop.load %x[%k] : memref<4xf32>
    %t = arith.addf %s, %v : f32
    %c = arith.cmpf ogt, %v, %zero : f32
    %u = arith.select %c, %t, %s : f32
    loop.store %u, %y[0] : memref<1xf32>
  }
}

// A loop over threads that does not sum up stays, and so does a sum of which nothing says with what it begins.
// CHECK-LABEL: loop.kernel @others
// CHECK-NOT:     "shared"
loop.kernel @others ins(%x: memref<8xf32>) outs(%y: memref<8xf32>, %z: memref<1xf32>) {
  loop.for %k = 0 to 8 "k" threadIdx.x {
    %v = loop.load %x[%k] : memref<8xf32>
    loop.store %v, %y[%k] : memref<8xf32>
  }
  loop.for %k = 0 to 8 "k" threadIdx.x {
    %s = loop.load %z[0] : memref<1xf32>
    %v = loop.load %x[%k] : memref<8xf32>
    %t = arith.addf %s, %v : f32
    loop.store %t, %z[0] : memref<1xf32>
  }
}
