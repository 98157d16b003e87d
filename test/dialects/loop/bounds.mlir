// RUN: opt-tool %s | filecheck %s

// What may be in bounds is accepted: under conditions, for some sizes, for some data, in no iteration, in no lane.

// CHECK-LABEL: loop.kernel @accepted
loop.kernel @accepted ins(%x: memref<?xf32> [N], %n: memref<8xindex>) outs(%y: memref<8xf32>) symbols(%N) {
  %z = arith.constant 0.0 : f32
  loop.for %i = 0 to 8 "i" {
    %a = loop.load %x[%i] : memref<?xf32>
    %j = loop.load %n[%i] : memref<8xindex>
    %b = loop.load %x[%j] : memref<?xf32>
    loop.if [%i - 3 >= 0, 10 - %i >= 0] {
      loop.store %a, %y[%i - 3] : memref<8xf32>
    }
    loop.if [%j >= 0] {
      loop.store %b, %y[%i + 1] : memref<8xf32>
    }
    loop.for %k = 0 to %j "k" {
      loop.store %b, %y[%i + 1] : memref<8xf32>
    }
    loop.for %k = 3 to min(%N, 3) "k" {
      loop.store %b, %y[%i + 9] : memref<8xf32>
    }
    loop.for %k = 0 to min(%N, 400) "k" {
      loop.store %b, %y[%k] : memref<8xf32>
    }
  }
  %v = loop.load %x[-2] from 2 count 8 else %z : memref<?xf32>, vector<8xf32>
  loop.store %v, %y[0] : memref<8xf32>, vector<8xf32>
}
