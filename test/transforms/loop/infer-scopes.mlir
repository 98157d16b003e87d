// RUN: opt-tool %s -p loop-infer-scopes | filecheck %s
// RUN: opt-tool %s --apply-pattern loop-infer-scopes.to-thread | filecheck %s

// What nothing is said of, each thread has for itself; what is shared stays so.
// CHECK-LABEL: loop.kernel @buffers
// CHECK:         memref.alloca() : memref<4xf32, "local">
// CHECK:         memref.alloca() : memref<16xf32, "shared">
// CHECK:         loop.store %{{.*}}, %{{.*}}[0] : memref<4xf32, "local">
loop.kernel @buffers outs(%y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %t = 0 to 16 "t" threadIdx.x {
    %a = memref.alloca() : memref<4xf32>
    %s = memref.alloca() : memref<16xf32, "shared">
    loop.store %zero, %a[0] : memref<4xf32>
    loop.store %zero, %s[%t] : memref<16xf32, "shared">
  }
}

// A declaration has nothing to give a scope to.
// CHECK-LABEL: loop.kernel @declared
loop.kernel @declared ins(%arg0: memref<4xf32>) outs(%arg1: memref<4xf32>)
