// RUN: opt-tool %s -p loop-to-vdla,cse --target=vdla | filecheck %s

// A transfer of zeros alone reads nothing, and does not begin in front of the argument.
// CHECK-LABEL: func.func @zeros_alone
// CHECK:         scf.for %u = %0 to %{{.*}} step
// CHECK:           vdla.load %x[%0] to %inp[%0] size [1, 0] stride 1 pad [0, 0, 3, 0]
// CHECK:         scf.for %u_1
// CHECK:           loop.apply %u_1 - 2
// CHECK-NEXT:      vdla.load %x[%{{.*}}] to %inp_1[%0] size [3, 1] stride 3 : memref
loop.kernel @zeros_alone ins(%x: memref<144xi8>) outs(%y: memref<16xi8>) {
  loop.for %u = 0 to 4 "u" {
    %inp = memref.alloca() : memref<48xi8, "vdla.inp">
    loop.for %q = 0 to 3 "q" {
      loop.for %l = 0 to 16 "l" {
        %p = loop.if [%u - 2 >= 0] -> i8 {
          %a = loop.load %x[48 * %q + 16 * %u + %l - 32] : memref<144xi8>
          loop.yield %a : i8
        } else {
          %zero = arith.constant 0 : i8
          loop.yield %zero : i8
        }
        loop.store %p, %inp[16 * %q + %l] : memref<48xi8, "vdla.inp">
      }
    }
  }
}

// So is one of a single tile, in whose elements no loop goes from tile to tile.
// CHECK-LABEL: func.func @one_tile
// CHECK:         vdla.load %x[%0] to %inp[%0] size [1, 0] stride 1 pad [0, 0, 1, 0]
// CHECK:         vdla.load %x[%{{.*}}] to %inp_1[%0] size [1, 1] stride 1 : memref
loop.kernel @one_tile ins(%x: memref<48xi8>) outs(%y: memref<16xi8>) {
  loop.for %u = 0 to 4 "u" {
    %inp = memref.alloca() : memref<16xi8, "vdla.inp">
    loop.for %l = 0 to 16 "l" {
      %p = loop.if [%u - 1 >= 0] -> i8 {
        %a = loop.load %x[16 * %u + %l - 16] : memref<48xi8>
        loop.yield %a : i8
      } else {
        %zero = arith.constant 0 : i8
        loop.yield %zero : i8
      }
      loop.store %p, %inp[%l] : memref<16xi8, "vdla.inp">
    }
  }
}

// Both loops decide what is read. For each piece of the outer one the inner one is cut anew: of %x, which has three
// tiles, nothing is read in front of the first or behind the last.
// CHECK-LABEL: func.func @both_loops
// CHECK:         scf.for %b = %0 to %1
// CHECK:           size [1, 0] stride 1 pad [0, 0, 1, 0]
// CHECK:           size [1, 1] stride 1 : memref
// CHECK:         scf.for %b_1 = %1 to %4
// CHECK-NOT:       pad [
// CHECK:         scf.for %b_2 = %4 to %7
// CHECK:           size [1, 1] stride 1 : memref
// CHECK:           size [1, 0] stride 1 pad [0, 0, 1, 0]
// CHECK:         scf.for %b_3 = %7 to
// CHECK-NOT:       size [1, 1]
// CHECK:           size [1, 0] stride 1 pad [0, 0, 1, 0]
loop.kernel @both_loops ins(%x: memref<48xi8>) outs(%y: memref<16xi8>) {
  loop.for %b = 0 to 5 "b" {
    loop.for %u = 0 to 2 "u" {
      %inp = memref.alloca() : memref<16xi8, "vdla.inp">
      loop.for %l = 0 to 16 "l" {
        %p = loop.if [%b + %u - 1 >= 0, 3 - %b - %u >= 0] -> i8 {
          %a = loop.load %x[16 * %b + 16 * %u + %l - 16] : memref<48xi8>
          loop.yield %a : i8
        } else {
          %zero = arith.constant 0 : i8
          loop.yield %zero : i8
        }
        loop.store %p, %inp[%l] : memref<16xi8, "vdla.inp">
      }
    }
  }
}

// Every third tile of every second row is read, so that rows of the copy are transfers of their own: the loop around them
// is cut where zeros end and begin, and so are rows, which have more zeros in front than a load writes: 34 and 32.
// CHECK-LABEL: func.func @apart
// CHECK:         vdla.load %x[%{{.*}}] to %inp[%{{.*}}] size [2, 0] stride 1 pad [0, 0, 15, 0]
// CHECK:         vdla.load %x[%{{.*}}] to %inp[%{{.*}}] size [1, 0] stride 1 pad [0, 0, 4, 0]
// CHECK:         scf.for %r
// CHECK:           vdla.load %x[%{{.*}}] to %inp[%{{.*}}] size [2, 0] stride 1 pad [0, 0, 15, 0]
// CHECK:           vdla.load %x[%{{.*}}] to %inp[%{{.*}}] size [1, 0] stride 1 pad [0, 0, 2, 0]
// CHECK:         scf.for %r
// CHECK:           vdla.load %x[%{{.*}}] to %inp[%{{.*}}] size [2, 1] stride 3 : memref
// CHECK-NOT:     vdla.load
loop.kernel @apart ins(%x: memref<512xi8>) outs(%y: memref<16xi8>) {
  %inp = memref.alloca() : memref<1632xi8, "vdla.inp">
  loop.for %r = 0 to 3 "r" {
    loop.for %q = 0 to 34 "q" {
      loop.for %l = 0 to 16 "l" {
        %p = loop.if [%r - 1 >= 0, %q - 32 >= 0] -> i8 {
          %a = loop.load %x[256 * %r + 48 * %q + %l - 1792] : memref<512xi8>
          loop.yield %a : i8
        } else {
          %zero = arith.constant 0 : i8
          loop.yield %zero : i8
        }
        loop.store %p, %inp[544 * %r + 16 * %q + %l] : memref<1632xi8, "vdla.inp">
      }
    }
  }
}
