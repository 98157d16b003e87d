// RUN: opt-tool %s -p loop-to-vdla --target=vdla --split-input-file --verify-diagnostics

// expected-error@+1 {{@scratch takes scratch or sizes besides inputs and results: compute every stage at an axis, and fix the sizes}}
loop.kernel @scratch ins(%x: memref<16xi8>) outs(%y: memref<16xi8>) scratch(%t: memref<16xi8>) {
}

// -----

loop.kernel @on_host ins(%x: memref<16xi8>) outs(%y: memref<16xi8>) {
  // expected-error@+1 {{no unit runs this: memref<16xi32> is not on the chip: set the scope to "vdla.inp", "vdla.wgt" or "vdla.acc"}}
  %t = memref.alloca() : memref<16xi32>
}

// -----

loop.kernel @from_dram_to_dram ins(%x: memref<16xi8>) outs(%y: memref<16xi8>) {
  // expected-error@+1 {{no unit runs this: what is written to %y[l] is to be the lowest byte of an accumulator}}
  loop.for %l = 0 to 16 "l" {
    %v = loop.load %x[%l] : memref<16xi8>
    loop.store %v, %y[%l] : memref<16xi8>
  }
}

// -----

loop.kernel @half_a_tile ins(%x: memref<16xi8>) outs(%y: memref<16xi8>) {
  %inp = memref.alloca() : memref<16xi8, "vdla.inp">
  // expected-error@+1 {{no unit runs this: they do not go through whole tiles of 16 elements}}
  loop.for %l = 0 to 8 "l" {
    %v = loop.load %x[%l] : memref<16xi8>
    loop.store %v, %inp[%l] : memref<16xi8, "vdla.inp">
  }
}

// -----

loop.kernel @between_tiles ins(%x: memref<64xi8>) outs(%y: memref<16xi8>) {
  %inp = memref.alloca() : memref<16xi8, "vdla.inp">
  // expected-error@+1 {{no unit runs this: %x[l + 8] does not begin with a tile: tiles have 16 elements}}
  loop.for %l = 0 to 16 "l" {
    %v = loop.load %x[%l + 8] : memref<64xi8>
    loop.store %v, %inp[%l] : memref<16xi8, "vdla.inp">
  }
}

// -----

loop.kernel @odd_rows ins(%x: memref<80xi8>) outs(%y: memref<16xi8>) {
  %inp = memref.alloca() : memref<64xi8, "vdla.inp">
  // expected-error@+1 {{no unit runs this: %x[20 * i + l] moves by 20 elements with 'i', which is no number of tiles of 16 elements}}
  loop.for %i = 0 to 4 "i" {
    loop.for %l = 0 to 16 "l" {
      %v = loop.load %x[20 * %i + %l] : memref<80xi8>
      loop.store %v, %inp[16 * %i + %l] : memref<64xi8, "vdla.inp">
    }
  }
}

// -----

loop.kernel @two_kinds_of_tiles ins(%x: memref<256xi8>) outs(%y: memref<16xi8>) {
  %inp = memref.alloca() : memref<256xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<256xi8, "vdla.wgt">
  loop.for %l = 0 to 256 "l" {
    %v = loop.load %x[%l] : memref<256xi8>
    loop.store %v, %inp[%l] : memref<256xi8, "vdla.inp">
  }
  // expected-error@+1 {{no unit runs this: %x is memref<16x1x16xi8> elsewhere, and memref<1x16x16xi8> here: take an argument for each}}
  loop.for %l = 0 to 256 "l" {
    %v = loop.load %x[%l] : memref<256xi8>
    loop.store %v, %wgt[%l] : memref<256xi8, "vdla.wgt">
  }
}

// -----

loop.kernel @words ins(%x: memref<16xi32>) outs(%y: memref<16xi8>) {
  // expected-error@+1 {{no unit runs this: %inp is memref<20xi8, "vdla.inp">: expected whole tiles of 1x16xi8}}
  %inp = memref.alloca() : memref<20xi8, "vdla.inp">
}

// -----

loop.kernel @surrounded_by_ones ins(%x: memref<64xi8>) outs(%y: memref<16xi8>) {
  %inp = memref.alloca() : memref<80xi8, "vdla.inp">
  // expected-error@+1 {{no unit runs this: what is loaded is surrounded by zeros, not by 1 : i8}}
  loop.for %i = 0 to 5 "i" {
    loop.for %l = 0 to 16 "l" {
      %p = loop.if [%i - 1 >= 0] -> i8 {
        %a = loop.load %x[16 * %i + %l - 16] : memref<64xi8>
        loop.yield %a : i8
      } else {
        %one = arith.constant 1 : i8
        loop.yield %one : i8
      }
      loop.store %p, %inp[16 * %i + %l] : memref<80xi8, "vdla.inp">
    }
  }
}

// -----

loop.kernel @two_loops_in_a_condition ins(%x: memref<64xi8>) outs(%y: memref<16xi8>) {
  %inp = memref.alloca() : memref<64xi8, "vdla.inp">
  // expected-error@+1 {{is not about one loop that copies}}
  loop.for %i = 0 to 2 "i" {
    loop.for %k = 0 to 2 "k" {
      loop.for %l = 0 to 16 "l" {
        %p = loop.if [%i + %k - 1 >= 0] -> i8 {
          %a = loop.load %x[32 * %i + 16 * %k + %l] : memref<64xi8>
          loop.yield %a : i8
        } else {
          %zero = arith.constant 0 : i8
          loop.yield %zero : i8
        }
        loop.store %p, %inp[32 * %i + 16 * %k + %l] : memref<64xi8, "vdla.inp">
      }
    }
  }
}

// -----

loop.kernel @divides ins(%x: memref<64xi8>) outs(%y: memref<16xi8>) {
  %acc = memref.alloca() : memref<16xi32, "vdla.acc">
  // expected-error@+1 {{no unit runs this: %acc[j] is computed by arith.divsi: the ALU adds, multiplies, shifts by a constant, and takes the greater or the lesser one}}
  loop.for %j = 0 to 16 "j" {
    %v = loop.load %acc[%j] : memref<16xi32, "vdla.acc">
    %three = arith.constant 3 : i32
    %d = arith.divsi %v, %three : i32
    loop.store %d, %acc[%j] : memref<16xi32, "vdla.acc">
  }
}

// -----

loop.kernel @large_constant ins(%x: memref<64xi8>) outs(%y: memref<16xi8>) {
  %acc = memref.alloca() : memref<16xi32, "vdla.acc">
  // expected-error@+1 {{no unit runs this: the constant 40000 does not fit into the 16 bits of an immediate}}
  loop.for %j = 0 to 16 "j" {
    %v = loop.load %acc[%j] : memref<16xi32, "vdla.acc">
    %c = arith.constant 40000 : i32
    %d = arith.maxsi %v, %c : i32
    loop.store %d, %acc[%j] : memref<16xi32, "vdla.acc">
  }
}

// -----

loop.kernel @two_sums ins(%x: memref<64xi8>) outs(%y: memref<16xi8>) {
  %acc = memref.alloca() : memref<16xi32, "vdla.acc">
  %a = memref.alloca() : memref<16xi32, "vdla.acc">
  // expected-error@+1 {{no unit runs this: %acc[j] joins two values that are both computed first, and there is one accumulator: store one of them before}}
  loop.for %j = 0 to 16 "j" {
    %v = loop.load %a[%j] : memref<16xi32, "vdla.acc">
    %c = arith.constant 4 : i32
    %p = arith.maxsi %v, %c : i32
    %q = arith.minsi %v, %c : i32
    %d = arith.addi %p, %q : i32
    loop.store %d, %acc[%j] : memref<16xi32, "vdla.acc">
  }
}

// -----

loop.kernel @shifted ins(%x: memref<64xi8>) outs(%y: memref<16xi8>) {
  %acc = memref.alloca() : memref<80xi32, "vdla.acc">
  // expected-error@+1 {{no unit runs this: %acc[16 * i + j] may be written before it is read, in the same accumulators}}
  loop.for %i = 0 to 4 "i" {
    loop.for %j = 0 to 16 "j" {
      %v = loop.load %acc[16 * %i + %j] : memref<80xi32, "vdla.acc">
      loop.store %v, %acc[16 * %i + %j + 16] : memref<80xi32, "vdla.acc">
    }
  }
}

// -----

loop.kernel @adds_bytes ins(%x: memref<16xi32>) outs(%y: memref<16xi8>) {
  %acc = memref.alloca() : memref<16xi32, "vdla.acc">
  // expected-error@+1 {{no unit runs this: %x[j] is no accumulator: the ALU reads nothing else}}
  loop.for %j = 0 to 16 "j" {
    %v = loop.load %acc[%j] : memref<16xi32, "vdla.acc">
    %b = loop.load %x[%j] : memref<16xi32>
    %d = arith.addi %v, %b : i32
    loop.store %d, %acc[%j] : memref<16xi32, "vdla.acc">
  }
}

// -----

loop.kernel @in_parallel ins(%x: memref<32xi8>) outs(%y: memref<16xi8>) {
  %inp = memref.alloca() : memref<32xi8, "vdla.inp">
  // expected-error@+1 {{no unit runs this: loop 'i' is parallel, and units run one iteration after the other}}
  loop.for %i = 0 to 2 "i" parallel {
    loop.for %l = 0 to 16 "l" {
      %v = loop.load %x[16 * %i + %l] : memref<32xi8>
      loop.store %v, %inp[16 * %i + %l] : memref<32xi8, "vdla.inp">
    }
  }
}

// -----

loop.kernel @alone ins(%x: memref<16xi8>) outs(%y: memref<16xi8>) {
  // expected-error@+1 {{no unit runs this: loop.load is no intrinsic, and in no nest that copies or computes whole tiles}}
  %v = loop.load %x[0] : memref<16xi8>
}

// -----

te.intrinsic @my.copy(%a: tensor<16xi8>) -> tensor<16xi8> {
  %y = te.compute "y" [n: 16] : tensor<16xi8> {
    %x = te.read %a[n] : tensor<16xi8>
    te.yield %x : i8
  }
  te.return %y : tensor<16xi8>
}
loop.kernel @of_other_machines ins(%x: memref<16xi8>) outs(%y: memref<16xi8>) {
  // expected-error@+1 {{no unit runs this: @my.copy is none of its instructions, which are @vdla.gemm, @vdla.reset}}
  loop.intrinsic @my.copy writes %y[0] of [16] strides [1] from %x[0] of [16] strides [1] : memref<16xi8>, memref<16xi8>
}
