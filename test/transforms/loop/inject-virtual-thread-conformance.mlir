// RUN: opt-tool %s -p loop-inject-virtual-thread --check-semantics | filecheck %s

// What TVM's tests of virtual threads pin down.

// Two loops of threads, one of which a buffer depends on: it has room for these, and the others share it.

// tvm: test_pass_virtual_thread/vthread
// CHECK-LABEL: loop.kernel @vthread
// CHECK:         loop.for %i = 0 to 4 "i" {
// CHECK-NEXT:      %b = memref.alloca() : memref<2x4xf32>
// CHECK-NEXT:      loop.for %tx = 0 to 2 "tx" unrolled {
// CHECK-NEXT:        loop.load %x[2 * %i + %tx] : memref<8xf32>
// CHECK-NEXT:        loop.store %{{.*}}, %b[%tx, %i] : memref<2x4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      loop.for %tx_1 = 0 to 2 "tx" unrolled {
// CHECK-NOT:     "ty"
loop.kernel @vthread ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 4 "i" {
    loop.for %tx = 0 to 2 "tx" vthread {
      loop.for %ty = 0 to 2 "ty" vthread {
        %b = memref.alloca() : memref<4xf32>
        %v = loop.load %x[%i * 2 + %tx] : memref<8xf32>
        loop.store %v, %b[%i] : memref<4xf32>
        %u = loop.load %b[%i] : memref<4xf32>
        %w = arith.addf %u, %one : f32
        loop.store %w, %y[%i * 2 + %tx] : memref<8xf32>
      }
    }
  }
}

// What is made of two buffers, of which each depends on other threads, depends on both.

// tvm: test_pass_virtual_thread/vthread_extern
// CHECK-LABEL: loop.kernel @vthread_extern
// CHECK-NEXT:    %a = memref.alloca() : memref<2x4xf32>
// CHECK-NEXT:    %b = memref.alloca() : memref<2x4xf32>
// CHECK-NEXT:    %c = memref.alloca() : memref<2x2x4xf32>
loop.kernel @vthread_extern ins(%x: memref<2x4xf32>) outs(%y: memref<2x2x4xf32>) {
  loop.for %tx = 0 to 2 "tx" vthread {
    loop.for %ty = 0 to 2 "ty" vthread {
      %a = memref.alloca() : memref<4xf32>
      %b = memref.alloca() : memref<4xf32>
      %c = memref.alloca() : memref<4xf32>
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %x[%tx, %i] : memref<2x4xf32>
        loop.store %v, %a[%i] : memref<4xf32>
      }
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %x[%ty, %i] : memref<2x4xf32>
        loop.store %v, %b[%i] : memref<4xf32>
      }
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %a[%i] : memref<4xf32>
        %u = loop.load %b[%i] : memref<4xf32>
        %w = arith.mulf %v, %u : f32
        loop.store %w, %c[%i] : memref<4xf32>
      }
      loop.for %i = 0 to 4 "i" {
        %v = loop.load %c[%i] : memref<4xf32>
        loop.store %v, %y[%tx, %ty, %i] : memref<2x2x4xf32>
      }
    }
  }
}

// Conditions that are the same for all threads stay around what these repeat; one has two branches, the other one.

// tvm: test_pass_virtual_thread/vthread_if_then_else
// CHECK-LABEL: loop.kernel @vthread_if_then_else
// CHECK:           loop.if [%i == 0] {
// CHECK-NEXT:        loop.for %t = 0 to 2 "t" unrolled {
// CHECK:           } else {
// CHECK-NEXT:        loop.for %t_1 = 0 to 2 "t" unrolled {
// CHECK:           loop.if [%i == 0] {
// CHECK-NEXT:        loop.for %t_2 = 0 to 2 "t" unrolled {
// CHECK-NOT:       else
// CHECK:           loop.for %t_3 = 0 to 2 "t" unrolled {
loop.kernel @vthread_if_then_else ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 4 "i" {
    loop.for %t = 0 to 2 "t" vthread {
      %b = memref.alloca() : memref<4xf32>
      loop.if [%i == 0] {
        %v = loop.load %x[%i * 2 + %t] : memref<8xf32>
        loop.store %v, %b[%i] : memref<4xf32>
      } else {
        %v = loop.load %x[%i * 2 + %t] : memref<8xf32>
        %w = arith.addf %v, %one : f32
        loop.store %w, %b[%i] : memref<4xf32>
      }
      loop.if [%i == 0] {
        %v = loop.load %b[%i] : memref<4xf32>
        %w = arith.addf %v, %one : f32
        loop.store %w, %b[%i] : memref<4xf32>
      }
      %r = loop.load %b[%i] : memref<4xf32>
      loop.store %r, %y[%i * 2 + %t] : memref<8xf32>
    }
  }
}
