// RUN: opt-tool %s -p loop-pipeline-fetches --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern loop-pipeline-fetches.fetch-early | filecheck %s

// Each thread loads what it stores for the next iteration before all of them compute, but in the last one.
// CHECK-LABEL: loop.kernel @tiles
// CHECK:         %s = memref.alloca() : memref<8xf32, "shared">
// CHECK:           %s_next = memref.alloca() : memref<2xf32, "register">
// CHECK-NEXT:      loop.for %j = 0 to 2 "j" unrolled {
// CHECK-NEXT:        %[[FIRST:.*]] = loop.load %x[4 * %j + %t] : memref<40xf32>
// CHECK-NEXT:        loop.store %[[FIRST]], %s_next[%j] : memref<2xf32, "register">
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.for %k = 0 to 5 "k" {
// CHECK-NEXT:        loop.barrier
// CHECK-NEXT:        loop.for %[[J:.*]] = 0 to 2 "j" unrolled {
// CHECK-NEXT:          %[[V:.*]] = loop.load %s_next[%[[J]]] : memref<2xf32, "register">
// CHECK-NEXT:          loop.store %[[V]], %s[4 * %[[J]] + %t] : memref<8xf32, "shared">
// CHECK-NEXT:        }
// CHECK-NEXT:        loop.if [-%k + 3 >= 0] {
// CHECK-NEXT:          loop.for %[[N:.*]] = 0 to 2 "j" unrolled {
// CHECK-NEXT:            loop.load %x[8 * %k + 4 * %[[N]] + %t + 8] : memref<40xf32>
// CHECK-NEXT:            loop.store %{{.*}}, %s_next[%[[N]]] : memref<2xf32, "register">
// CHECK:             loop.barrier
// CHECK-NEXT:        loop.load %s[-%t + 7]
loop.kernel @tiles ins(%x: memref<40xf32>) outs(%y: memref<20xf32>) attributes {loop.mapped} {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %s = memref.alloca() {loop.double_buffer} : memref<8xf32, "shared">
    loop.for %t = 0 to 4 "t" threadIdx.x {
      loop.for %k = 0 to 5 "k" {
        loop.barrier
        loop.for %j = 0 to 2 "j" unrolled {
          %v = loop.load %x[8 * %k + 4 * %j + %t] : memref<40xf32>
          loop.store %v, %s[4 * %j + %t] : memref<8xf32, "shared">
        }
        loop.barrier
        %w = loop.load %s[7 - %t] : memref<8xf32, "shared">
        loop.store %w, %y[4 * %k + %t] : memref<20xf32>
      }
    }
  }
}

// One element for each of some threads, that is zero where there is none; the loop starts elsewhere and may be empty.
// CHECK-LABEL: loop.kernel @borders
// CHECK:         %s_next = memref.alloca() : memref<1xf32, "register">
// CHECK-NEXT:    loop.if [%N - 3 >= 0] {
// CHECK-NEXT:      %[[A:.*]] = loop.if [-%t + 1 >= 0] -> f32 {
// CHECK-NEXT:        loop.load %x[%t + 2]
// CHECK:           loop.store %[[A]], %s_next[0] : memref<1xf32, "register">
// CHECK:         loop.for %k = 2 to %N "k" {
// CHECK-NEXT:      loop.barrier
// CHECK-NEXT:      %[[B:.*]] = loop.load %s_next[0] : memref<1xf32, "register">
// CHECK-NEXT:      loop.store %[[B]], %s[%t]
// CHECK-NEXT:      loop.if [%N - %k - 2 >= 0] {
// CHECK-NEXT:        loop.if [-%t + 1 >= 0] -> f32 {
// CHECK-NEXT:          loop.load %x[%k + %t + 1]
loop.kernel @borders ins(%x: memref<?xf32> [N + 2]) outs(%y: memref<?xf32> [N]) symbols(%N) attributes {loop.mapped} {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %s = memref.alloca() {loop.double_buffer} : memref<3xf32, "shared">
    loop.for %t = 0 to 3 "t" threadIdx.x {
      loop.for %i = 0 to 2 "i" {
        loop.if [%N - %i - 1 >= 0, -%t >= 0] {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %y[%i] : memref<?xf32>
        }
      }
      loop.for %k = 2 to %N "k" {
        loop.barrier
        %v = loop.if [1 - %t >= 0] -> f32 {
          %e = loop.load %x[%k + %t] : memref<?xf32>
          loop.yield %e : f32
        } else {
          %zero = arith.constant 0.0 : f32
          loop.yield %zero : f32
        }
        loop.store %v, %s[%t] : memref<3xf32, "shared">
        loop.barrier
        loop.if [-%t >= 0] {
          %w = loop.load %s[1] : memref<3xf32, "shared">
          loop.store %w, %y[%k] : memref<?xf32>
        }
      }
    }
  }
}

// What nothing is asked of stays as it is.
// CHECK-LABEL: loop.kernel @plain
// CHECK-NOT:     "register"
// CHECK:         loop.barrier
loop.kernel @plain ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) attributes {loop.mapped} {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %s = memref.alloca() : memref<4xf32, "shared">
    loop.for %t = 0 to 4 "t" threadIdx.x {
      loop.for %k = 0 to 2 "k" {
        loop.barrier
        %v = loop.load %x[4 * %k + %t] : memref<8xf32>
        loop.store %v, %s[%t] : memref<4xf32, "shared">
        loop.barrier
        %w = loop.load %s[3 - %t] : memref<4xf32, "shared">
        loop.store %w, %y[4 * %k + %t] : memref<8xf32>
      }
    }
  }
}
