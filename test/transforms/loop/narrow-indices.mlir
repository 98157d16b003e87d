// RUN: opt-tool %s -p loop-narrow-indices | filecheck %s

// What is less than 2^31 however it is added up is computed in 32 bits.
// CHECK-LABEL: loop.kernel @small
// CHECK-SAME:    attributes {loop.index_bits = 32 : i64}
loop.kernel @small ins(%x: memref<1048576xf32>) outs(%y: memref<1048576xf32>) {
  loop.for %b = 0 to 4099 "b" blockIdx.x {
    loop.for %t = 0 to 256 "t" threadIdx.x {
      loop.if [-256 * %b - %t + 1048575 >= 0] {
        %v = loop.load %x[(256 * %b + %t) floordiv 7 + %t mod 11] : memref<1048576xf32>
        %i = loop.apply 256 * %b + %t
        %n = arith.index_cast %i : index to i32
        %f = arith.sitofp %n : i32 to f32
        %s = arith.addf %v, %f : f32
        loop.store %s, %y[256 * %b + %t] : memref<1048576xf32>
      }
    }
  }
}

// The largest product of an index that still fits, and the next one: the sum is no larger than before, and one of its
// terms is.
// CHECK-LABEL: loop.kernel @largest
// CHECK-SAME:    attributes {loop.index_bits = 32 : i64}
loop.kernel @largest outs(%y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 2 "i" {
    loop.store %zero, %y[(2147483646 * %i + 1) mod 8] : memref<8xf32>
  }
}
// CHECK-LABEL: loop.kernel @larger
// CHECK-NOT:     loop.index_bits
// CHECK:         loop.for
loop.kernel @larger outs(%y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 2 "i" {
    loop.store %zero, %y[(2147483647 * %i - 1) mod 8] : memref<8xf32>
  }
}

// More elements than 32 bits can count.
// CHECK-LABEL: loop.kernel @large
// CHECK-NOT:     loop.index_bits
// CHECK:         loop.for
loop.kernel @large ins(%x: memref<4294967296xi8>) outs(%y: memref<65536xi8>) {
  loop.for %i = 0 to 65536 "i" blockIdx.x {
    %v = loop.load %x[65536 * %i] : memref<4294967296xi8>
    loop.store %v, %y[%i] : memref<65536xi8>
  }
}

// A size that is known at run time only, and an index that is data.
// CHECK-LABEL: loop.kernel @open
// CHECK-NOT:     loop.index_bits
// CHECK:         loop.for
loop.kernel @open outs(%y: memref<?xf32> [N]) symbols(%N) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to %N "i" blockIdx.x {
    loop.store %zero, %y[%i] : memref<?xf32>
  }
}
// CHECK-LABEL: loop.kernel @gather
// CHECK-NOT:     loop.index_bits
// CHECK:         loop.for
loop.kernel @gather ins(%x: memref<8xf32>, %n: memref<4xi64>) outs(%y: memref<4xf32>) {
  loop.for %i = 0 to 4 "i" threadIdx.x {
    %j = loop.load %n[%i] : memref<4xi64>
    %k = arith.index_cast %j : i64 to index
    %v = loop.load %x[%k] : memref<8xf32>
    loop.store %v, %y[%i] : memref<4xf32>
  }
}

// A loop that does not run, a kernel without loops, and one that is only declared.
// CHECK-LABEL: loop.kernel @never
// CHECK-SAME:    attributes {loop.index_bits = 32 : i64}
loop.kernel @never outs(%y: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 0 "i" {
    loop.store %zero, %y[%i] : memref<1xf32>
  }
}
// CHECK-LABEL: loop.kernel @one
// CHECK-SAME:    attributes {loop.index_bits = 32 : i64}
loop.kernel @one outs(%y: memref<1xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.store %zero, %y[0] : memref<1xf32>
}
// CHECK-LABEL: loop.kernel @declared
// CHECK-NOT:     loop.index_bits
loop.kernel @declared ins(%arg0: memref<4xf32>) outs(%arg1: memref<4xf32>)
