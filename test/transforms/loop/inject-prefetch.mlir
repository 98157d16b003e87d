// RUN: opt-tool %s -p loop-inject-prefetch | filecheck %s

// The box that the loads of two iterations later span, by cache lines of 16 numbers; the request is gone.

// CHECK-LABEL: loop.kernel @window
// CHECK-NEXT:    loop.for %i = 0 to 8 "i" {
// CHECK-NEXT:      loop.for %prefetch = 0 to 3 "prefetch" {
// CHECK-NEXT:        loop.for %prefetch_1 = 0 to 3 "prefetch" {
// CHECK-NEXT:          loop.prefetch %x[%i + %prefetch + 2, 16 * %prefetch_1] : memref<10x40xf32>
// CHECK-NOT:           prefetch
loop.kernel @window ins(%x: memref<10x40xf32>) outs(%y: memref<8x40xf32>) {
  loop.for %i = 0 to 8 "i" attributes {loop.prefetch = [array<i64: 0, 2>]} {
    loop.for %j = 0 to 40 "j" {
      %a = loop.load %x[%i, %j] : memref<10x40xf32>
      %b = loop.load %x[%i + 2, %j] : memref<10x40xf32>
      %c = arith.addf %a, %b : f32
      loop.store %c, %y[%i, %j] : memref<8x40xf32>
    }
  }
}

// One line needs no loop; what nobody knows in advance, an index that is data, is left out.

// CHECK-LABEL: loop.kernel @line
// CHECK-NEXT:    loop.for %i = 0 to 8 "i" {
// CHECK-NEXT:      loop.prefetch %x[%i + 1, 0] : memref<8x4xf32>
// CHECK-NEXT:      loop.for %j
loop.kernel @line ins(%x: memref<8x4xf32>, %n: memref<8xindex>) outs(%y: memref<8x4xf32>) {
  loop.for %i = 0 to 8 "i" attributes {loop.prefetch = [array<i64: 0, 1>]} {
    loop.for %j = 0 to 4 "j" {
      %a = loop.load %x[%i, %j] : memref<8x4xf32>
      %k = loop.load %n[%i] : memref<8xindex>
      %b = loop.load %x[%k, %j] : memref<8x4xf32>
      loop.store %a, %y[%i, %j] : memref<8x4xf32>
    }
  }
}
