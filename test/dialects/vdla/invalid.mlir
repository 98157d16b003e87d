// RUN: opt-tool %s --split-input-file --verify-diagnostics

// expected-error@+1 {{there are no tokens load->store: the queues are load->compute, compute->load, compute->store, store->compute}}
func.func private @direction(!vdla.token<"load", "store">)

// -----

func.func @unit() {
  // expected-error@+1 {{there is no unit 'fetch': the units are load, compute, store}}
  vdla.nop "fetch"
  func.return
}

// -----

func.func @waits(%t: !vdla.token<"load", "compute">) {
  // expected-error@+1 {{vdla.nop runs on the unit 'store', which waits for no load->compute}}
  vdla.nop "store" wait(%t : !vdla.token<"load", "compute">)
  func.return
}

// -----

func.func @pushes(%x: memref<8x1x16xi8>, %i: index) {
  %inp = memref.alloca() : memref<8x1x16xi8, "vdla.inp">
  // expected-error@+1 {{vdla.load runs on the unit 'load', which pushes no compute->store}}
  %t = vdla.load %x[%i] to %inp[%i] size [1, 8] stride 8 : memref<8x1x16xi8> to memref<8x1x16xi8, "vdla.inp"> -> !vdla.token<"compute", "store">
  func.return
}

// -----

// Accumulators are loaded by the unit that computes.
func.func @loads(%x: memref<8x1x16xi32>, %i: index) {
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  // expected-error@+1 {{vdla.load runs on the unit 'compute', which pushes no load->compute}}
  %t = vdla.load %x[%i] to %acc[%i] size [1, 8] stride 8 : memref<8x1x16xi32> to memref<8x1x16xi32, "vdla.acc"> -> !vdla.token<"load", "compute">
  func.return
}

// -----

func.func @two_of_a_queue() {
  // expected-error@+1 {{vdla.nop pushes one token of compute->load at most}}
  %a, %b = vdla.nop "compute" -> !vdla.token<"compute", "load">, !vdla.token<"compute", "load">
  func.return
}

// -----

func.func @taken_twice() {
  // expected-error@+1 {{a token is taken once, not by 2 operations}}
  %t = vdla.nop "load" -> !vdla.token<"load", "compute">
  vdla.nop "compute" wait(%t : !vdla.token<"load", "compute">)
  vdla.nop "compute" wait(%t : !vdla.token<"load", "compute">)
  func.return
}

// -----

func.func @argument_taken_twice(%t: !vdla.token<"load", "compute">) {
  // expected-error@+1 {{a token is taken once, not by 2 operations}}
  vdla.nop "compute" wait(%t : !vdla.token<"load", "compute">)
  vdla.nop "compute" wait(%t : !vdla.token<"load", "compute">)
  func.return
}

// -----

func.func @size(%x: memref<8x1x16xi8>, %i: index) {
  %inp = memref.alloca() : memref<8x1x16xi8, "vdla.inp">
  // expected-error@+1 {{a transfer has a size of rows and columns, and a stride; none is negative}}
  vdla.load %x[%i] to %inp[%i] size [8] stride 8 : memref<8x1x16xi8> to memref<8x1x16xi8, "vdla.inp">
  func.return
}

// -----

func.func @stride(%y: memref<8x1x16xi8>, %i: index) {
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  // expected-error@+1 {{a transfer has a size of rows and columns, and a stride; none is negative}}
  vdla.store %acc[%i] to %y[%i] size [1, 8] stride -8 : memref<8x1x16xi32, "vdla.acc"> to memref<8x1x16xi8>
  func.return
}

// -----

func.func @padding(%x: memref<8x1x16xi8>, %i: index) {
  %inp = memref.alloca() : memref<8x1x16xi8, "vdla.inp">
  // expected-error@+1 {{padding is four numbers, above, below, left and right, of which none is negative}}
  vdla.load %x[%i] to %inp[%i] size [1, 8] stride 8 pad [1, 1] : memref<8x1x16xi8> to memref<8x1x16xi8, "vdla.inp">
  func.return
}

// -----

func.func @memory(%x: memref<8x1x16xi8>, %i: index) {
  %inp = memref.alloca() : memref<8x1x16xi8, "vdla.out">
  // expected-error@+1 {{memref<8x1x16xi8, "vdla.out">: expected a memref in the memory "vdla.inp" or "vdla.wgt" or "vdla.acc"}}
  vdla.load %x[%i] to %inp[%i] size [1, 8] stride 8 : memref<8x1x16xi8> to memref<8x1x16xi8, "vdla.out">
  func.return
}

// -----

func.func @elements(%x: memref<8x1x16xf32>, %i: index) {
  %inp = memref.alloca() : memref<8x1x16xf32, "vdla.inp">
  // expected-error@+1 {{memref<8x1x16xf32, "vdla.inp">: expected tiles of i8, one behind the other: three dimensions}}
  vdla.load %x[%i] to %inp[%i] size [1, 8] stride 8 : memref<8x1x16xf32> to memref<8x1x16xf32, "vdla.inp">
  func.return
}

// -----

func.func @tiles_in_dram(%x: memref<8x2x8xi8>, %i: index) {
  %inp = memref.alloca() : memref<8x1x16xi8, "vdla.inp">
  // expected-error@+1 {{memref<8x2x8xi8>: expected tiles in DRAM of 1x16xi8, one behind the other}}
  vdla.load %x[%i] to %inp[%i] size [1, 8] stride 8 : memref<8x2x8xi8> to memref<8x1x16xi8, "vdla.inp">
  func.return
}

// -----

// A store narrows words to bytes.
func.func @wide(%y: memref<8x1x16xi32>, %i: index) {
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  // expected-error@+1 {{memref<8x1x16xi32>: expected tiles in DRAM of 1x16xi8, one behind the other}}
  vdla.store %acc[%i] to %y[%i] size [1, 8] stride 8 : memref<8x1x16xi32, "vdla.acc"> to memref<8x1x16xi32>
  func.return
}

// -----

func.func @on_chip_both(%i: index) {
  %inp = memref.alloca() : memref<8x1x16xi8, "vdla.inp">
  // expected-error@+1 {{memref<8x1x16xi8, "vdla.inp">: expected tiles in DRAM of 1x16xi8, one behind the other}}
  vdla.load %inp[%i] to %inp[%i] size [1, 8] stride 8 : memref<8x1x16xi8, "vdla.inp"> to memref<8x1x16xi8, "vdla.inp">
  func.return
}

// -----

func.func @reset(%i: index) {
  %inp = memref.alloca() : memref<8x1x16xi8, "vdla.inp">
  // expected-error@+1 {{memref<8x1x16xi8, "vdla.inp">: expected a memref in the memory "vdla.acc"}}
  vdla.reset %inp[%i] : memref<8x1x16xi8, "vdla.inp">
  func.return
}

// -----

func.func @loop(%i: index) {
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  // expected-error@+1 {{the outer loop has a number of iterations and 1 steps, of which none is negative}}
  vdla.reset %acc[%i] outer [8, 1, 1] : memref<8x1x16xi32, "vdla.acc">
  func.return
}

// -----

func.func @micro_operations(%i: index) {
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  // expected-error@+1 {{each micro-operation has 2 offsets, of which none is negative; there are 3 in all}}
  vdla.alu "add" %acc[%i] imm 1 ops [0, 0, 1] : memref<8x1x16xi32, "vdla.acc">
  func.return
}

// -----

func.func @product(%i: index) {
  %inp = memref.alloca() : memref<8x1x16xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<8x32x16xi8, "vdla.wgt">
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  // expected-error@+1 {{a product of tiles of 1x16 by the transposes of 32x16 does not fit accumulators of 1x16}}
  vdla.gemm %acc[%i], %inp[%i], %wgt[%i] : memref<8x1x16xi32, "vdla.acc">, memref<8x1x16xi8, "vdla.inp">, memref<8x32x16xi8, "vdla.wgt">
  func.return
}

// -----

func.func @operation(%i: index) {
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  // expected-error@+1 {{the ALU has no 'sub': it has min, max, add, shr, mul}}
  vdla.alu "sub" %acc[%i] imm 1 : memref<8x1x16xi32, "vdla.acc">
  func.return
}

// -----

func.func @neither(%i: index) {
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  // expected-error@+1 {{the ALU combines accumulators with others or with an immediate: one of the two}}
  vdla.alu "add" %acc[%i] : memref<8x1x16xi32, "vdla.acc">
  func.return
}

// -----

func.func @immediate(%i: index) {
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  // expected-error@+1 {{the immediate 32768 does not fit in 16 bits}}
  vdla.alu "add" %acc[%i] imm 32768 : memref<8x1x16xi32, "vdla.acc">
  func.return
}

// -----

func.func @other_tiles(%i: index) {
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  %wide = memref.alloca() : memref<8x1x32xi32, "vdla.acc">
  // expected-error@+1 {{tiles of memref<8x1x32xi32, "vdla.acc"> differ from those of memref<8x1x16xi32, "vdla.acc">}}
  vdla.alu "add" %acc[%i] with %wide[%i] : memref<8x1x16xi32, "vdla.acc"> with memref<8x1x32xi32, "vdla.acc">
  func.return
}
