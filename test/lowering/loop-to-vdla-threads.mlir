// RUN: opt-tool %s -p loop-to-vdla,cse --target=vdla | filecheck %s

// Threads that go through an odd number of rows: the last turn of the second one is left out, though its loop is not the
// outermost one of the nest that copies.
// CHECK-LABEL: func.func @odd
// CHECK:         scf.for %m = %0 to %{{.*}} step
// CHECK:           vdla.store %acc[%0] to %y
// CHECK-NEXT:      loop.apply 2 * %m + 1
// CHECK:           vdla.store %acc[%{{.*}}] to %y
// CHECK:         scf.for %m_1
// CHECK:           vdla.store %acc_1[%0] to %y
// CHECK-NOT:       vdla.store
// CHECK:         func.return
loop.kernel @odd ins(%x: memref<16xi8>) outs(%y: memref<112xi8>) {
  loop.for %m = 0 to 4 "m" {
    %acc = memref.alloca() : memref<32xi32, "vdla.acc">
    loop.for %j = 0 to 16 "j" {
      loop.for %t = 0 to 2 "t" unrolled {
        loop.if [6 - 2 * %m - %t >= 0] {
          %v = loop.load %acc[16 * %t + %j] : memref<32xi32, "vdla.acc">
          %c = arith.trunci %v : i32 to i8
          loop.store %c, %y[32 * %m + 16 * %t + %j] : memref<112xi8>
        }
      }
    }
  }
}

// The first thread has padding above, the second one below.
// CHECK-LABEL: func.func @padded
// CHECK:         vdla.load %x[%0] to %inp[%0] size [1, 3] stride 4 pad [0, 0, 1, 0]
// CHECK:         vdla.load %x[%{{.*}}] to %inp[%{{.*}}] size [1, 3] stride 4 pad [0, 0, 0, 1]
loop.kernel @padded ins(%x: memref<80xi8>) outs(%y: memref<16xi8>) {
  %inp = memref.alloca() : memref<128xi8, "vdla.inp">
  loop.for %q = 0 to 4 "q" {
    loop.for %t = 0 to 2 "t" unrolled {
      loop.for %l = 0 to 16 "l" {
        %p = loop.if [%q + 3 * %t - 1 >= 0, 5 - %q - 3 * %t >= 0] -> i8 {
          %a = loop.load %x[16 * %q + 48 * %t + %l - 16] : memref<80xi8>
          loop.yield %a : i8
        } else {
          %zero = arith.constant 0 : i8
          loop.yield %zero : i8
        }
        loop.store %p, %inp[64 * %t + 16 * %q + %l] : memref<128xi8, "vdla.inp">
      }
    }
  }
}
