// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p alternate-calls | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432' -p alternate-calls,te-to-schedule,compile-kernel | filecheck %s --check-prefix=LOOP

// A weight of 1.6 MB, of which the second cache holds 1 MB, is read to and fro. What is small stays in the cache, and is
// read as always.

// CHECK:       te.kernel @cell(
// CHECK-NOT:   attributes
// CHECK:       te.kernel @cell_descending(
// CHECK-SAME:  attributes {te.descending}
// CHECK:       te.kernel @small(
// CHECK-NOT:   te.kernel
// LOOP:        loop.kernel @cell ins
// LOOP-NOT:    loop.descending
// LOOP:        loop.kernel @cell_descending ins
// LOOP-NEXT:     memref.reinterpret_cast
// LOOP:          loop.for {{.*}} parallel {{.*}}attributes {loop.descending}
// LOOP-NOT:    loop.descending
te.kernel @cell(%x: tensor<640xf32>, %w: tensor<640x640xf32>) -> tensor<640xf32> {
  %y = te.compute "y" [i: 640] reduce [k: 640] : tensor<640xf32> {
    %a = te.read %x[k] : tensor<640xf32>
    %b = te.read %w[k, i] : tensor<640x640xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<640xf32>
}

te.kernel @small(%x: tensor<64xf32>, %w: tensor<64x64xf32>) -> tensor<64xf32> {
  %y = te.compute "y" [i: 64] reduce [k: 64] : tensor<64xf32> {
    %a = te.read %x[k] : tensor<64xf32>
    %b = te.read %w[k, i] : tensor<64x64xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<64xf32>
}

// Every second call goes back; that of another weight begins anew.

// CHECK-LABEL: func.func @steps
// CHECK:         loop.call @cell ins(%x, %w) outs(%h1)
// CHECK-NEXT:    loop.call @small
// CHECK-NEXT:    loop.call @small
// CHECK-NEXT:    loop.call @cell_descending ins(%h1, %w) outs(%h2)
// CHECK-NEXT:    loop.call @cell ins(%h2, %w) outs(%y)
// CHECK-NEXT:    loop.call @cell ins(%y, %v) outs(%h1)
// CHECK-NEXT:    loop.call @cell_descending ins(%h1, %v) outs(%h2)
func.func @steps(
    %x: memref<640xf32>, %w: memref<640x640xf32>, %v: memref<640x640xf32>, %y: memref<640xf32>,
    %a: memref<64xf32>, %u: memref<64x64xf32>, %b: memref<64xf32>) {
  %h1 = memref.alloc() : memref<640xf32>
  %h2 = memref.alloc() : memref<640xf32>
  loop.call @cell ins(%x, %w) outs(%h1) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
  loop.call @small ins(%a, %u) outs(%b) : memref<64xf32>, memref<64x64xf32>, memref<64xf32>
  loop.call @small ins(%a, %u) outs(%b) : memref<64xf32>, memref<64x64xf32>, memref<64xf32>
  loop.call @cell ins(%h1, %w) outs(%h2) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
  loop.call @cell ins(%h2, %w) outs(%y) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
  loop.call @cell ins(%y, %v) outs(%h1) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
  loop.call @cell ins(%h1, %v) outs(%h2) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
  func.return
}

// What another call reads in between drives the weight out: nothing is gained.

// CHECK-LABEL: func.func @others_between
// CHECK-NOT:     descending
// CHECK-LABEL: func.func @end
func.func @others_between(
    %x: memref<640xf32>, %w: memref<640x640xf32>, %v: memref<640x640xf32>, %y: memref<640xf32>) {
  %h1 = memref.alloc() : memref<640xf32>
  %h2 = memref.alloc() : memref<640xf32>
  loop.call @cell ins(%x, %w) outs(%h1) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
  loop.call @cell ins(%h1, %v) outs(%h2) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
  loop.call @cell ins(%h2, %w) outs(%y) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
  func.return
}

func.func @end() {
  func.return
}

// A weight that one call reads in a run is read to and fro by every second run. Not by a kernel that reads each element
// for several results, nor where the rest of the program fills the caches.

// CHECK-LABEL: te.kernel @layer(
// CHECK-SAME:  attributes {te.alternating}
// LOOP-LABEL:  loop.kernel @layer ins
// LOOP:          loop.for {{.*}} parallel {{.*}}attributes {loop.alternating}
te.kernel @layer(%x: tensor<640xf32>, %w: tensor<640x640xf32>) -> tensor<640xf32> {
  %y = te.compute "y" [i: 640] reduce [k: 640] : tensor<640xf32> {
    %a = te.read %x[k] : tensor<640xf32>
    %b = te.read %w[k, i] : tensor<640x640xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<640xf32>
}

// CHECK-LABEL: te.kernel @rows(
// CHECK-NOT:   te.alternating
te.kernel @rows(%x: tensor<8x640xf32>, %w: tensor<640x640xf32>) -> tensor<8x640xf32> {
  %y = te.compute "y" [r: 8, i: 640] reduce [k: 640] : tensor<8x640xf32> {
    %a = te.read %x[r, k] : tensor<8x640xf32>
    %b = te.read %w[k, i] : tensor<640x640xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<8x640xf32>
}

te.kernel @crowded(%x: tensor<641xf32>, %w: tensor<641x640xf32>) -> tensor<640xf32> {
  %y = te.compute "y" [i: 640] reduce [k: 641] : tensor<640xf32> {
    %a = te.read %x[k] : tensor<641xf32>
    %b = te.read %w[k, i] : tensor<641x640xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<640xf32>
}

te.kernel @large(%x: tensor<2000000xf32>) -> tensor<2000000xf32> {
  %y = te.compute "y" [i: 2000000] : tensor<2000000xf32> {
    %a = te.read %x[i] : tensor<2000000xf32>
    %b = math.exp %a : f32
    te.yield %b : f32
  }
  te.return %y : tensor<2000000xf32>
}

func.func @once(%x: memref<640xf32>, %w: memref<640x640xf32>, %y: memref<640xf32>) {
  loop.call @layer ins(%x, %w) outs(%y) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
  func.return
}

func.func @several(%x: memref<8x640xf32>, %w: memref<640x640xf32>, %y: memref<8x640xf32>) {
  loop.call @rows ins(%x, %w) outs(%y) : memref<8x640xf32>, memref<640x640xf32>, memref<8x640xf32>
  func.return
}

func.func @beside(
    %x: memref<641xf32>, %w: memref<641x640xf32>, %y: memref<640xf32>,
    %a: memref<2000000xf32>, %b: memref<2000000xf32>) {
  loop.call @crowded ins(%x, %w) outs(%y) : memref<641xf32>, memref<641x640xf32>, memref<640xf32>
  loop.call @large ins(%a) outs(%b) : memref<2000000xf32>, memref<2000000xf32>
  func.return
}

// What an iteration calls once with a large weight goes the other way in every second iteration. Not what it calls
// twice, nor what is read between two calls that fills the cache.

// CHECK-LABEL: te.kernel @step(
// CHECK-SAME:  attributes {te.alternating}
// LOOP-LABEL:  loop.kernel @step ins
// LOOP:          loop.for {{.*}} parallel {{.*}}attributes {loop.alternating}
te.kernel @step(%x: tensor<640xf32>, %w: tensor<640x640xf32>) -> tensor<640xf32> {
  %y = te.compute "y" [i: 640] reduce [k: 640] : tensor<640xf32> {
    %a = te.read %x[k] : tensor<640xf32>
    %b = te.read %w[k, i] : tensor<640x640xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<640xf32>
}

// CHECK-LABEL: te.kernel @twice(
// CHECK-NOT:   te.alternating
te.kernel @twice(%x: tensor<642xf32>, %w: tensor<642x640xf32>) -> tensor<642xf32> {
  %y = te.compute "y" [i: 642] reduce [k: 640] : tensor<642xf32> {
    %a = te.read %x[k] : tensor<642xf32>
    %b = te.read %w[i, k] : tensor<642x640xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<642xf32>
}

// CHECK-LABEL: te.kernel @driven_out(
// CHECK-NOT:   te.alternating
te.kernel @driven_out(%x: tensor<643xf32>, %w: tensor<643x640xf32>) -> tensor<643xf32> {
  %y = te.compute "y" [i: 643] reduce [k: 640] : tensor<643xf32> {
    %a = te.read %x[k] : tensor<643xf32>
    %b = te.read %w[i, k] : tensor<643x640xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<643xf32>
}

// CHECK-LABEL: func.func @loops(
func.func @loops(
    %h: memref<640xf32>, %w: memref<640x640xf32>, %n: memref<640xf32>,
    %g: memref<642xf32>, %v: memref<642x640xf32>, %m: memref<642xf32>,
    %f: memref<643xf32>, %u: memref<643x640xf32>, %l: memref<643xf32>,
    %a: memref<2000000xf32>, %b: memref<2000000xf32>) {
  loop.for %i = 0 to 35 "step" {
    loop.call @step ins(%h, %w) outs(%n) : memref<640xf32>, memref<640x640xf32>, memref<640xf32>
    "memref.copy"(%n, %h) : (memref<640xf32>, memref<640xf32>) -> ()
  }
  loop.for %i = 0 to 35 "step" {
    loop.call @twice ins(%g, %v) outs(%m) : memref<642xf32>, memref<642x640xf32>, memref<642xf32>
    loop.call @twice ins(%m, %v) outs(%g) : memref<642xf32>, memref<642x640xf32>, memref<642xf32>
  }
  loop.for %i = 0 to 35 "step" {
    loop.call @driven_out ins(%f, %u) outs(%l) : memref<643xf32>, memref<643x640xf32>, memref<643xf32>
    loop.call @large ins(%a) outs(%b) : memref<2000000xf32>, memref<2000000xf32>
  }
  func.return
}
