// RUN: opt-tool %s -p loop-vectorize | filecheck %s

// Kernels after TVM's tests of VectorizeLoop. Where TVM goes back to a loop, a condition that the first lanes pass is a
// count here.

// A constant is spread over the lanes.
// tvm: test_pass_vectorize/vectorize_loop
// CHECK-LABEL: loop.kernel @constant
// CHECK:         loop.for %[[I:.*]] = 0 to %{{.*}} "i" {
// CHECK-NEXT:      %[[V:.*]] = vector.broadcast %{{.*}} : f32 to vector<4xf32>
// CHECK-NEXT:      loop.store %[[V]], %{{.*}}[0] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT:    }
loop.kernel @constant outs(%y: memref<4xf32>) symbols(%N) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to %N "i" {
    loop.for %j = 0 to 4 "j" vectorized {
      loop.store %one, %y[%j] : memref<4xf32>
    }
  }
}

// Vectors of vectors are not made: the outer loop stays.
// tvm: test_pass_vectorize/vectorize_vector
// CHECK-LABEL: loop.kernel @vectors
// CHECK:         loop.for %[[J:.*]] = 0 to 4 "j" attributes {tilework.remark = "not vectorized: it holds vectors already"} {
// CHECK-NEXT:      loop.store %{{.*}}, %{{.*}}[4 * %[[J]]] : memref<16xf32>, vector<4xf32>
loop.kernel @vectors outs(%y: memref<16xf32>) {
  %ones = arith.constant dense<1.0> : vector<4xf32>
  loop.for %j = 0 to 4 "j" vectorized {
    loop.store %ones, %y[4 * %j] : memref<16xf32>, vector<4xf32>
  }
}

// A condition that all lanes share stays around vectors; inside its other branch, one on the lane is a count.
// tvm: test_pass_vectorize/vectorize_with_if
// CHECK-LABEL: loop.kernel @with_if
// CHECK:         loop.if [%{{.*}} - %{{.*}} - 1 >= 0] {
// CHECK:           arith.addf %{{.*}} : vector<4xf32>
// CHECK:         } else {
// CHECK:           loop.store %{{.*}}, %{{.*}}[0] count {{.*}} : memref<4xf32>, vector<4xf32>
loop.kernel @with_if outs(%y: memref<4xf32>) symbols(%N, %X) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  loop.for %i = 0 to 4 "i" vectorized {
    loop.if [%N - %X - 1 >= 0] {
      %v = loop.load %y[%i] : memref<4xf32>
      %w = arith.addf %v, %one : f32
      loop.store %w, %y[%i] : memref<4xf32>
    } else {
      loop.if [%N - %i - 1 >= 0] {
        loop.store %two, %y[%i] : memref<4xf32>
      }
    }
  }
}

// i <= n
// tvm: test_pass_vectorize/vectorize_with_le_cond
// CHECK-LABEL: loop.kernel @with_le_cond
// CHECK-NOT:     loop.for
// CHECK:         loop.store %{{.*}}, %{{.*}}[0] count min({{.*}}) : memref<4xf32>, vector<4xf32>
loop.kernel @with_le_cond outs(%y: memref<4xf32>) symbols(%N) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 4 "i" vectorized {
    loop.if [%N - %i >= 0] {
      loop.store %one, %y[%i] : memref<4xf32>
    }
  }
}

// i >= n: the last lanes pass, which no count says.
// tvm: test_pass_vectorize/vectorize_with_ge_cond
// CHECK-LABEL: loop.kernel @with_ge_cond
// CHECK:         loop.for %{{.*}} = 0 to 4 "i" attributes {tilework.remark = "not vectorized: the condition {{.*}} >= 0 inside it differs between lanes"} {
// CHECK-NEXT:      loop.if
loop.kernel @with_ge_cond outs(%y: memref<4xf32>) symbols(%N) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 4 "i" vectorized {
    loop.if [%i - %N >= 0] {
      loop.store %one, %y[%i] : memref<4xf32>
    }
  }
}

// A choice by the lane stays a loop; one that all lanes share gives vectors, the constant spread over the lanes.
// tvm: test_pass_vectorize/vectorize_if_then_else
// CHECK-LABEL: loop.kernel @if_then_else
// CHECK:         loop.for %{{.*}} = 0 to 4 "i" attributes {tilework.remark = "not vectorized: the condition i - 1 >= 0 inside it differs between lanes"} {
// CHECK:         loop.for %[[K:.*]] = 0 to 4 "k" {
// CHECK-NEXT:      %[[V:.*]] = loop.if [%[[K]] - 1 >= 0] -> vector<4xf32> {
// CHECK:           } else {
// CHECK-NEXT:        %[[Z:.*]] = vector.broadcast
// CHECK-NEXT:        loop.yield %[[Z]] : vector<4xf32>
// CHECK:           loop.store %[[V]], %{{.*}}[4 * %[[K]]] : memref<16xf32>, vector<4xf32>
loop.kernel @if_then_else outs(%y: memref<16xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 4 "i" vectorized {
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %w = loop.load %y[%i] : memref<16xf32>
      loop.yield %w : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %v, %y[%i] : memref<16xf32>
  }
  loop.for %k = 0 to 4 "k" {
    loop.for %i = 0 to 4 "i" vectorized {
      %v = loop.if [%k - 1 >= 0] -> f32 {
        %w = loop.load %y[4 * %k + %i] : memref<16xf32>
        loop.yield %w : f32
      } else {
        loop.yield %zero : f32
      }
      loop.store %v, %y[4 * %k + %i] : memref<16xf32>
    }
  }
}
