// RUN: opt-tool %s -p loop-to-vdla,cse --target=vdla | filecheck %s

// Nests that copy are transfers: two loops over tiles are rows and columns, others stay around. Loops go through the
// elements of a tile in any order, and one may go through several tiles.

// CHECK-LABEL: func.func @transfers(%x: memref<36x1x16xi8>, %w: memref<6x16x16xi8>, %b: memref<4x1x16xi32>, %y: memref<12x1x16xi8>)
// CHECK:         %inp = memref.alloca() : memref<12x1x16xi8, "vdla.inp">
// CHECK:         scf.for %o = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK-NEXT:      %[[TO:[0-9]+]] = loop.apply 6 * %o
// CHECK-NEXT:      %[[FROM:[0-9]+]] = loop.apply 18 * %o + 1
// CHECK-NEXT:      vdla.load %x[%[[FROM]]] to %inp[%[[TO]]] size [2, 3] stride 6 : memref<36x1x16xi8> to memref<12x1x16xi8, "vdla.inp">
loop.kernel @transfers ins(%x: memref<576xi8>, %w: memref<1536xi8>, %b: memref<64xi32>) outs(%y: memref<192xi8>) {
  %inp = memref.alloca() : memref<192xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<1536xi8, "vdla.wgt">
  %acc = memref.alloca() : memref<192xi32, "vdla.acc">
  loop.for %o = 0 to 2 "o" {
    loop.for %i = 0 to 2 "i" {
      loop.for %k = 0 to 3 "k" {
        loop.for %l = 0 to 16 "l" {
          %v = loop.load %x[288 * %o + 96 * %i + 16 * %k + %l + 16] : memref<576xi8>
          loop.store %v, %inp[96 * %o + 48 * %i + 16 * %k + %l] : memref<192xi8, "vdla.inp">
        }
      }
    }
  }
  // CHECK: vdla.load %w[%{{.*}}] to %wgt[%{{.*}}] size [1, 6] stride 6 : memref<6x16x16xi8> to memref<6x16x16xi8, "vdla.wgt">
  loop.for %l = 0 to 16 "l" {
    loop.for %n = 0 to 96 "n" {
      %v = loop.load %w[16 * %n + %l] : memref<1536xi8>
      loop.store %v, %wgt[16 * %n + %l] : memref<1536xi8, "vdla.wgt">
    }
  }
  // A row may be read several times.
  // CHECK: vdla.load %b[%{{.*}}] to %acc[%{{.*}}] size [3, 4] stride 0 : memref<4x1x16xi32> to memref<12x1x16xi32, "vdla.acc">
  loop.for %m = 0 to 3 "m" {
    loop.for %n = 0 to 64 "n" {
      %v = loop.load %b[%n] : memref<64xi32>
      loop.store %v, %acc[64 * %m + %n] : memref<192xi32, "vdla.acc">
    }
  }
  // Two loops that go through tiles one behind the other are one.
  // CHECK: vdla.store %acc[%{{.*}}] to %y[%{{.*}}] size [1, 12] stride 12
  loop.for %n = 0 to 4 "n" {
    loop.for %m = 0 to 3 "m" {
      loop.for %j = 0 to 16 "j" {
        %v = loop.load %acc[64 * %m + 16 * %n + %j] : memref<192xi32, "vdla.acc">
        %c = arith.trunci %v : i32 to i8
        loop.store %c, %y[64 * %m + 16 * %n + %j] : memref<192xi8>
      }
    }
  }
}

// Zeros around an image are the padding of a transfer. It differs from block to block, so that each has its own loop.
// CHECK-LABEL: func.func @padded
// CHECK:         scf.for %b
// CHECK:           vdla.load %x[%{{.*}}] to %inp[%{{.*}}] size [2, 4] stride 4 pad [1, 0, 1, 1]
// CHECK:         scf.for %b_1
// CHECK:           vdla.load %x[%{{.*}}] to %inp_1[%{{.*}}] size [3, 4] stride 4 pad [0, 0, 1, 1]
// CHECK:         scf.for %b_2
// CHECK:           vdla.load %x[%{{.*}}] to %inp_2[%{{.*}}] size [2, 4] stride 4 pad [0, 1, 1, 1]
loop.kernel @padded ins(%x: memref<320xi8>) outs(%y: memref<16xi8>) {
  loop.for %b = 0 to 3 "b" {
    %inp = memref.alloca() : memref<288xi8, "vdla.inp">
    loop.for %h = 0 to 3 "h" {
      loop.for %v = 0 to 6 "v" {
        loop.for %l = 0 to 16 "l" {
          %p = loop.if [2 * %b + %h - 1 >= 0, 5 - 2 * %b - %h >= 0, %v - 1 >= 0, 4 - %v >= 0] -> i8 {
            %a = loop.load %x[128 * %b + 64 * %h + 16 * %v + %l - 80] : memref<320xi8>
            loop.yield %a : i8
          } else {
            %zero = arith.constant 0 : i8
            loop.yield %zero : i8
          }
          loop.store %p, %inp[96 * %h + 16 * %v + %l] : memref<288xi8, "vdla.inp">
        }
      }
    }
  }
}

// The iterations of a loop whose bounds inside are the same stay a loop; the others are written out.
// CHECK-LABEL: func.func @tail
// CHECK:         scf.for
// CHECK:           vdla.load %x[%{{.*}}] to %inp[%{{.*}}] size [1, 4] stride 4
// CHECK:         }
// CHECK:         vdla.load %x[%{{.*}}] to %inp{{.*}} size [1, 2] stride 2
loop.kernel @tail ins(%x: memref<224xi8>) outs(%y: memref<16xi8>) {
  loop.for %o = 0 to 4 "o" {
    %inp = memref.alloca() : memref<64xi8, "vdla.inp">
    loop.for %i = 0 to min(-4 * %o + 14, 4) "i" {
      loop.for %l = 0 to 16 "l" {
        %v = loop.load %x[64 * %o + 16 * %i + %l] : memref<224xi8>
        loop.store %v, %inp[16 * %i + %l] : memref<64xi8, "vdla.inp">
      }
    }
  }
}

// What is computed with accumulators becomes operations of the ALU, one nest for each: first a copy, which is changed in
// place then. What is stored where it was loaded needs none.
// CHECK-LABEL: func.func @computations
// CHECK:         scf.for %i
// CHECK:           vdla.reset %b[%i]
// CHECK:         scf.for %i_1
// CHECK:           vdla.alu "add" %b[%i_1] with %a[%i_1]
// CHECK:         scf.for %i_2
// CHECK:           vdla.alu "mul" %b[%i_2] imm 3
// CHECK:         scf.for %i_3
// CHECK:           vdla.alu "add" %b[%i_3] with %c[%{{.*}}]
// CHECK:         scf.for %i_4
// CHECK:           vdla.alu "add" %b[%i_4] imm -9
// CHECK:         scf.for %i_5
// CHECK:           vdla.alu "shr" %b[%i_5] imm -2
// CHECK:         scf.for %i_6
// CHECK-NEXT:      vdla.alu "min" %b[%i_6] imm 127
loop.kernel @computations ins(%x: memref<64xi8>) outs(%y: memref<64xi8>) {
  %a = memref.alloca() : memref<64xi32, "vdla.acc">
  %b = memref.alloca() : memref<64xi32, "vdla.acc">
  %c = memref.alloca() : memref<16xi32, "vdla.acc">
  loop.for %i = 0 to 4 "i" {
    loop.for %j = 0 to 16 "j" {
      %bias = loop.load %c[%j] : memref<16xi32, "vdla.acc">
      %v = loop.load %a[16 * %i + %j] : memref<64xi32, "vdla.acc">
      %three = arith.constant 3 : i32
      %p = arith.muli %three, %v : i32
      %s = arith.addi %bias, %p : i32
      %nine = arith.constant 9 : i32
      %d = arith.subi %s, %nine : i32
      %two = arith.constant 2 : i32
      %q = arith.shli %d, %two : i32
      loop.store %q, %b[16 * %i + %j] : memref<64xi32, "vdla.acc">
    }
  }
  loop.for %i = 0 to 4 "i" {
    loop.for %j = 0 to 16 "j" {
      %v = loop.load %b[16 * %i + %j] : memref<64xi32, "vdla.acc">
      %most = arith.constant 127 : i32
      %r = arith.minsi %v, %most : i32
      loop.store %r, %b[16 * %i + %j] : memref<64xi32, "vdla.acc">
    }
  }
}

// A number that hangs on a loop around is another one in each iteration: bytes of words are stored plane by plane.
// CHECK-LABEL: func.func @planes
// CHECK:         vdla.alu "shr" %b[%{{.*}}] imm 0
// CHECK:         vdla.store %b[%{{.*}}] to %y[%{{.*}}] size [1, 2]
// CHECK:         vdla.alu "shr" %b_1[%{{.*}}] imm 8
// CHECK:         vdla.store %b_1
// CHECK:         vdla.alu "shr" %b_2[%{{.*}}] imm 16
// CHECK-NOT:     imm 24
loop.kernel @planes ins(%x: memref<32xi8>) outs(%y: memref<96xui8>) {
  %a = memref.alloca() : memref<32xi32, "vdla.acc">
  loop.for %p = 0 to 3 "p" unrolled {
    %b = memref.alloca() : memref<32xi32, "vdla.acc">
    loop.for %i = 0 to 2 "i" {
      loop.for %j = 0 to 16 "j" {
        %v = loop.load %a[16 * %i + %j] : memref<32xi32, "vdla.acc">
        %n = loop.apply 8 * %p
        %by = arith.index_cast %n : index to i32
        %s = arith.shrsi %v, %by : i32
        loop.store %s, %b[16 * %i + %j] : memref<32xi32, "vdla.acc">
      }
    }
    loop.for %i = 0 to 2 "i" {
      loop.for %j = 0 to 16 "j" {
        %v = loop.load %b[16 * %i + %j] : memref<32xi32, "vdla.acc">
        %t = arith.trunci %v : i32 to i8
        loop.store %t, %y[32 * %p + 16 * %i + %j] : memref<96xui8>
      }
    }
  }
}

// Intrinsics are what they are called after. An unrolled loop of such a nest is written out around the others.
// CHECK-LABEL: func.func @product
// CHECK:         scf.for %m
// CHECK-NEXT:      vdla.reset %acc[%m] : memref<8x1x16xi32, "vdla.acc">
// CHECK:         scf.for %m_1
// CHECK:           vdla.gemm %acc[%m_1], %inp[%m_1], %wgt[%{{.*}}] : memref<8x1x16xi32, "vdla.acc">, memref<8x1x16xi8, "vdla.inp">, memref<2x16x16xi8, "vdla.wgt">
// CHECK:         scf.for %m_2
// CHECK:           vdla.gemm %acc[%{{.*}}], %inp[%{{.*}}], %wgt[%{{.*}}] : {{.*}}
loop.kernel @product ins(%x: memref<64xi8>) outs(%y: memref<64xi8>) {
  %acc = memref.alloca() : memref<128xi32, "vdla.acc">
  %inp = memref.alloca() : memref<128xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<512xi8, "vdla.wgt">
  loop.for %m = 0 to 8 "m" {
    loop.intrinsic @vdla.reset writes %acc[16 * %m] of [16] strides [1] : memref<128xi32, "vdla.acc">
  }
  loop.for %m = 0 to 4 "m" {
    loop.for %t = 0 to 2 "t" unrolled {
      loop.intrinsic @vdla.gemm updates %acc[16 * %m + 64 * %t] of [16] strides [1] from %inp[16 * %m + 64 * %t] of [16] strides [1], %wgt[256 * %t] of [16, 16] strides [16, 1] : memref<128xi32, "vdla.acc">, memref<128xi8, "vdla.inp">, memref<512xi8, "vdla.wgt">
    }
  }
}
