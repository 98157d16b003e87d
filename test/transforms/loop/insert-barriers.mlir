// RUN: opt-tool %s -p loop-insert-barriers | filecheck %s

// A thread reads what another has written: they wait in between, and once more before the next step writes over it.
// CHECK-LABEL: loop.kernel @reversed
// CHECK:         loop.for %{{.*}} = 0 to 8 "k" {
// CHECK-NEXT:      loop.barrier
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 16 "t" threadIdx.x {
// CHECK:           loop.barrier
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 16 "u" threadIdx.x {
loop.kernel @reversed ins(%x: memref<8x16xf32>) outs(%y: memref<8x16xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %s = memref.alloca() : memref<16xf32, "shared">
    loop.for %k = 0 to 8 "k" {
      loop.for %t = 0 to 16 "t" threadIdx.x {
        %v = loop.load %x[%k, %t] : memref<8x16xf32>
        loop.store %v, %s[%t] : memref<16xf32, "shared">
      }
      loop.for %u = 0 to 16 "u" threadIdx.x {
        %w = loop.load %s[-%u + 15] : memref<16xf32, "shared">
        loop.store %w, %y[%k, %u] : memref<8x16xf32>
      }
    }
  }
}

// A thread that reads what it has written itself waits for nobody.
// CHECK-LABEL: loop.kernel @own
// CHECK-NOT:     loop.barrier
// CHECK-LABEL: loop.kernel @one_thread
loop.kernel @own ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  %s = memref.alloca() : memref<16xf32, "shared">
  loop.for %b = 0 to 1 "b" blockIdx.x {
    loop.for %t = 0 to 16 "t" threadIdx.x {
      %v = loop.load %x[%t] : memref<16xf32>
      loop.store %v, %s[%t] : memref<16xf32, "shared">
    }
    loop.for %u = 0 to 16 "u" threadIdx.x {
      %w = loop.load %s[%u] : memref<16xf32, "shared">
      loop.store %w, %y[%u] : memref<16xf32>
    }
  }
}

// Nor does one that is alone in its block, or one of several that all read what nobody writes.
// CHECK-NOT:     loop.barrier
// CHECK-LABEL: loop.kernel @guarded
loop.kernel @one_thread ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) {
  loop.for %b = 0 to 16 "b" blockIdx.x {
    %s = memref.alloca() : memref<2xf32, "shared">
    loop.for %t = 0 to 1 "t" threadIdx.x {
      %v = loop.load %x[%b] : memref<16xf32>
      loop.store %v, %s[0] : memref<2xf32, "shared">
    }
    loop.for %u = 0 to 1 "u" threadIdx.x {
      %w = loop.load %s[0] : memref<2xf32, "shared">
      loop.store %w, %y[%b] : memref<16xf32>
    }
  }
}

// The condition says that the rows of threads do not meet.
// CHECK-NOT:     loop.barrier
// CHECK:         loop.if
loop.kernel @guarded ins(%x: memref<7xf32>) outs(%y: memref<7xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    loop.for %i = 0 to 4 "i" {
      loop.for %t = 0 to 2 "t" threadIdx.x {
        loop.if [-%i - 4 * %t + 6 >= 0] {
          %v = loop.load %x[4 * %t + %i] : memref<7xf32>
          loop.store %v, %y[4 * %t + %i] : memref<7xf32>
        }
      }
    }
  }
}
