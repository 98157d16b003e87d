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

// Asked for masks: lanes that pass load, the others are what the other arm says. A condition that all share stays.
// CHECK-LABEL: loop.kernel @choice
// CHECK:         %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %[[V:.*]] = loop.load %{{.*}}[%{{.*}} - 1] from max(-%[[R:.*]] + 1, 0) count min(-%[[R]] + 9, 8) else %[[Z]] : memref<64xf32>, vector<8xf32>
// CHECK-NEXT:    loop.store %[[V]],
// CHECK:         %[[S:.*]] = loop.if [%[[R]] - 2 >= 0] -> vector<8xf32> {
// CHECK-NEXT:      loop.load %{{.*}}[2] stride 2 from 1 count 8 else %{{.*}} : memref<64xf32>, vector<8xf32>
// CHECK-NEXT:      loop.yield
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[B:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK-NEXT:      loop.yield %[[B]]
loop.kernel @choice ins(%x: memref<64xf32>) outs(%y: memref<16xf32>) symbols(%R) {
  loop.for %i = 0 to 8 "i" vectorized attributes {loop.masked} {
    %v = loop.if [%i + %R - 1 >= 0, 8 - %i - %R >= 0] -> f32 {
      %w = loop.load %x[%i + %R - 1] : memref<64xf32>
      loop.yield %w : f32
    } else {
      %zero = arith.constant 0.0 : f32
      loop.yield %zero : f32
    }
    loop.store %v, %y[%i] : memref<16xf32>
    %s = loop.if [%R - 2 >= 0, %i - 1 >= 0] -> f32 {
      %w = loop.load %x[2 * %i + 2] : memref<64xf32>
      loop.yield %w : f32
    } else {
      %one = arith.constant 1.0 : f32
      loop.yield %one : f32
    }
    loop.store %s, %y[%i + 8] : memref<16xf32>
  }
}

// Not asked for masks; more than a load; arms that differ both; an element that all lanes share; half bytes.
// CHECK-LABEL: loop.kernel @no_choice
// CHECK:         loop.for %{{.*}} "i" attributes {tilework.remark = "not vectorized: the condition i - 1 >= 0 inside it differs between lanes"}
// CHECK:         loop.for %{{.*}} "j" attributes {loop.masked, tilework.remark = "not vectorized: the condition j - 1 >= 0 inside it differs between lanes"}
// CHECK:         loop.for %{{.*}} "k" attributes {loop.masked, tilework.remark = "not vectorized: the condition k - 1 >= 0 inside it differs between lanes"}
// CHECK:         loop.for %{{.*}} "l" attributes {loop.masked, tilework.remark = "not vectorized: the condition l - 1 >= 0 inside it differs between lanes"}
// CHECK:         loop.for %{{.*}} "m" attributes {loop.masked, tilework.remark = "not vectorized: the condition m - 1 >= 0 inside it differs between lanes"}
loop.kernel @no_choice ins(%x: memref<64xf32>, %h: memref<64xi4>) outs(%y: memref<40xf32>, %z: memref<8xi4>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 8 "i" vectorized {
    %v = loop.if [%i - 1 >= 0] -> f32 {
      %w = loop.load %x[%i - 1] : memref<64xf32>
      loop.yield %w : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %v, %y[%i] : memref<40xf32>
  }
  loop.for %j = 0 to 8 "j" vectorized attributes {loop.masked} {
    %v = loop.if [%j - 1 >= 0] -> f32 {
      %w = loop.load %x[%j - 1] : memref<64xf32>
      %u = arith.addf %w, %w : f32
      loop.yield %u : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %v, %y[%j + 8] : memref<40xf32>
  }
  loop.for %k = 0 to 8 "k" vectorized attributes {loop.masked} {
    %u = loop.load %x[%k + 32] : memref<64xf32>
    %v = loop.if [%k - 1 >= 0] -> f32 {
      %w = loop.load %x[%k - 1] : memref<64xf32>
      loop.yield %w : f32
    } else {
      loop.yield %u : f32
    }
    loop.store %v, %y[%k + 16] : memref<40xf32>
  }
  loop.for %l = 0 to 8 "l" vectorized attributes {loop.masked} {
    %v = loop.if [%l - 1 >= 0] -> f32 {
      %w = loop.load %x[3] : memref<64xf32>
      loop.yield %w : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %v, %y[%l + 24] : memref<40xf32>
  }
  %none = arith.constant 0 : i4
  loop.for %m = 0 to 8 "m" vectorized attributes {loop.masked} {
    %v = loop.if [%m - 1 >= 0] -> i4 {
      %w = loop.load %h[%m - 1] : memref<64xi4>
      loop.yield %w : i4
    } else {
      loop.yield %none : i4
    }
    loop.store %v, %z[%m] : memref<8xi4>
  }
}

// A conditional that says whether its conditions hold is a mask; both that not all lanes share and one that they do.
// CHECK-LABEL: loop.kernel @mask
// CHECK:         %[[FIRST:.*]] = loop.apply %N - 8 * %i - 1
// CHECK:         %[[STARTS:.*]] = vector.broadcast %[[FIRST]]
// CHECK-NEXT:    %[[STEPS:.*]] = arith.constant dense<[0, -1, -2, -3, -4, -5, -6, -7]> : vector<8xindex>
// CHECK-NEXT:    %[[LEFT:.*]] = arith.addi %[[STARTS]], %[[STEPS]]
// CHECK:         %[[IN:.*]] = arith.cmpi sge, %[[LEFT]], %{{.*}} : vector<8xindex>
// CHECK:         %[[ALL:.*]] = loop.apply %N - 2
// CHECK:         %[[SOME:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : vector<8xindex>
// CHECK-NEXT:    %[[BOTH:.*]] = arith.andi %[[SOME]], %[[IN]] : vector<8xi1>
// CHECK:         arith.select %[[BOTH]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xf32>
loop.kernel @mask ins(%x: memref<64xf32>) outs(%y: memref<64xf32>) symbols(%N) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 8 "i" {
    loop.for %j = 0 to 8 "j" vectorized attributes {loop.masked} {
      %in = loop.if [%N - 8 * %i - %j - 1 >= 0, %N - 2 >= 0] -> i1 {
        %true = arith.constant true
        loop.yield %true : i1
      } else {
        %false = arith.constant false
        loop.yield %false : i1
      }
      %v = loop.load %x[8 * %i + %j] : memref<64xf32>
      %w = arith.select %in, %v, %zero : f32
      loop.store %w, %y[8 * %i + %j] : memref<64xf32>
    }
  }
}

// Not asked for masks; arms the other way round; an arm that does more.
// CHECK-LABEL: loop.kernel @no_mask
// CHECK:         loop.for %{{.*}} "i" attributes {tilework.remark = "not vectorized: the condition -i + 5 >= 0 inside it differs between lanes"}
// CHECK:         loop.for %{{.*}} "j" attributes {loop.masked, tilework.remark = "not vectorized: the condition -j + 5 >= 0 inside it differs between lanes"}
// CHECK:         loop.for %{{.*}} "k" attributes {loop.masked, tilework.remark = "not vectorized: the condition -k + 5 >= 0 inside it differs between lanes"}
loop.kernel @no_mask ins(%x: memref<64xf32>) outs(%y: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %false = arith.constant false
  loop.for %i = 0 to 8 "i" vectorized {
    %in = loop.if [5 - %i >= 0] -> i1 {
      loop.yield %true : i1
    } else {
      loop.yield %false : i1
    }
    %w = arith.select %in, %zero, %zero : f32
    loop.store %w, %y[%i] : memref<64xf32>
  }
  loop.for %j = 0 to 8 "j" vectorized attributes {loop.masked} {
    %in = loop.if [5 - %j >= 0] -> i1 {
      loop.yield %false : i1
    } else {
      loop.yield %true : i1
    }
    %w = arith.select %in, %zero, %zero : f32
    loop.store %w, %y[%j + 8] : memref<64xf32>
  }
  loop.for %k = 0 to 8 "k" vectorized attributes {loop.masked} {
    %in = loop.if [5 - %k >= 0] -> i1 {
      loop.store %zero, %y[%k + 24] : memref<64xf32>
      loop.yield %true : i1
    } else {
      loop.yield %false : i1
    }
    %w = arith.select %in, %zero, %zero : f32
    loop.store %w, %y[%k + 16] : memref<64xf32>
  }
}
