// RUN: opt-tool %s -p loop-split-host-device | filecheck %s

// Two statements are two launches: all blocks of the first one have run before the second one begins.
// CHECK-LABEL: loop.kernel @k ins(
// CHECK-NEXT:    loop.call @k_0 ins(%[[x:.*]]) outs(%[[s:.*]]) : memref<8xf32>, memref<8xf32>
// CHECK-NEXT:    loop.call @k_1 ins(%[[s]]) outs(%{{.*}})
// CHECK-NEXT:  }
// CHECK-LABEL: loop.kernel @k_0 ins(%{{.*}}: memref<8xf32>) outs(%{{.*}}: memref<8xf32>) {
// CHECK-NEXT:    loop.for %{{.*}} = 0 to 8 "b" blockIdx.x {
// CHECK-LABEL: loop.kernel @k_1
loop.kernel @k ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) scratch(%s: memref<8xf32>) {
  loop.for %b = 0 to 8 "b" blockIdx.x {
    %v = loop.load %x[%b] : memref<8xf32>
    loop.store %v, %s[%b] : memref<8xf32>
  }
  loop.for %c = 0 to 8 "c" blockIdx.x {
    %v = loop.load %s[-%c + 7] : memref<8xf32>
    loop.store %v, %y[%c] : memref<8xf32>
  }
}

// The index of a loop of the host is a size that the kernel is given, besides those that it has; views go with it.
// CHECK-LABEL: loop.kernel @steps
// CHECK:         loop.for %[[i:.*]] = 0 to %[[n:.*]] "step" {
// CHECK-NEXT:      loop.call @steps_0 outs(%{{.*}}) symbols(%[[n]], %[[i]])
// CHECK-LABEL: loop.kernel @steps_0 outs(%{{.*}}: memref<?x4xf32> [N + 1, 4]) symbols(%N, %i) {
// CHECK-NEXT:    memref.reinterpret_cast
loop.kernel @steps outs(%y: memref<?x4xf32> [N + 1, 4]) symbols(%N) {
  %flat = memref.reinterpret_cast %y to offset: [0], sizes: [4], strides: [1] : memref<?x4xf32> to memref<4xf32>
  loop.for %i = 0 to %N "step" {
    loop.for %b = 0 to 4 "b" blockIdx.x {
      %v = loop.load %flat[%b] : memref<4xf32>
      loop.store %v, %y[%i + 1, %b] : memref<?x4xf32>
    }
  }
}

// What calls kernels already, or does nothing, stays.
// CHECK-LABEL: loop.kernel @empty
loop.kernel @empty outs(%y: memref<0xf32>) {
}
