// RUN: not opt-tool %s -t vdla-asm --target=vdla --split-input-file 2>&1 | filecheck %s
// RUN: not opt-tool %s -t vdla-bin --target=vdla --split-input-file -o /dev/null 2>&1 | filecheck %s --check-prefix=BYTES

// CHECK: error: a stream is of one function, and the program has 2: @a, @b
func.func @a(%x: memref<1x1x16xi8>) {
  func.return
}
func.func @b(%x: memref<1x1x16xi8>) {
  func.return
}

// -----

// CHECK: error: -t vdla-asm writes functions of the machine's operations; it has nothing for 'loop.kernel' @k: lower it, or take it out
loop.kernel @k ins(%x: memref<16xi8>) outs(%y: memref<16xi8>) {
}

// -----

func.func @other_operations(%x: memref<1x1x16xi8>) {
  %c0 = arith.constant 0 : index
  // CHECK: error: no unit runs 'memref.dealloc': lower kernels by loop-to-vdla first
  memref.dealloc %x : memref<1x1x16xi8>
  func.return
}

// -----

func.func @without_places(%x: memref<1x1x16xi8>) {
  %a = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  // CHECK: error: %b is one of several buffers in "vdla.inp", which have no places yet: run vdla-assign-memory
  %b = memref.alloca() : memref<1x1x16xi8, "vdla.inp">
  func.return
}

// -----

// CHECK: error: @numbers takes numbers, and a stream is of fixed ones
func.func @numbers(%i: index) {
  func.return
}

// -----

// CHECK: error: @many takes 9000 micro-operations, and their memory has room for 8192: make loops around computations fewer, or their tiles larger
func.func @many(%x: memref<1x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9000 = arith.constant 9000 : index
  %acc = memref.alloca() : memref<9000x1x16xi32, "vdla.acc">
  scf.for %i = %c0 to %c9000 step %c1 {
    vdla.reset %acc[%i] : memref<9000x1x16xi32, "vdla.acc">
  }
  func.return
}

// -----

// BYTES: error: {{.*}}rows is 70000, which does not fit: it has 16 bits, for up to 65535
func.func @large(%x: memref<70000x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %inp = memref.alloca() : memref<70000x1x16xi8, "vdla.inp">
  vdla.load %x[%c0] to %inp[%c0] size [70000, 1] stride 1 : memref<70000x1x16xi8> to memref<70000x1x16xi8, "vdla.inp">
  func.return
}
