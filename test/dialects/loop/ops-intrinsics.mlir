// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

te.intrinsic @my.transpose(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  %y = te.compute "y" [i: 4, j: 3, k: 2] : tensor<4x3x2xf32> {
    %v = te.read %x[k, j, i] : tensor<2x3x4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4x3x2xf32>
}

// CHECK-LABEL: loop.kernel @tiles
loop.kernel @tiles ins(%a: memref<1024xbf16>, %b: memref<?xbf16> [N]) outs(%y: memref<1024xf32>) symbols(%N) {
  %acc = memref.alloca() : memref<1024xf32, "amx">
  // CHECK: loop.intrinsic @amx.tile_zero writes %acc[512] of [16, 16] strides [32, 1] : memref<1024xf32, "amx">
  loop.intrinsic @amx.tile_zero writes %acc[512] of [16, 16] strides [32, 1] : memref<1024xf32, "amx">
  loop.for %i = 0 to 2 "i" {
    loop.for %j = 0 to 2 "j" {
      // What is read may have rows that overlap, and be of one buffer; subscripts share operands.
      // CHECK: loop.intrinsic @amx.tile_mulf updates %acc[16 * %i + 512] of [16, 16] strides [32, 1] from %a[32 * %j] of [16, 32] strides [1, 1], %b[512 * %i + %j] of [16, 32] strides [64, 1] : memref<1024xf32, "amx">, memref<1024xbf16>, memref<?xbf16>
      loop.intrinsic @amx.tile_mulf updates %acc[16 * %i + 512] of [16, 16] strides [32, 1] from %a[32 * %j] of [16, 32] strides [1, 1], %b[512 * %i + %j] of [16, 32] strides [64, 1] : memref<1024xf32, "amx">, memref<1024xbf16>, memref<?xbf16>
    }
  }
}

// CHECK-LABEL: loop.kernel @boxes
loop.kernel @boxes ins(%x: memref<24xf32>) outs(%y: memref<64xf32>) {
  // CHECK: loop.intrinsic @my.transpose writes %y[0] of [4, 3, 2] strides [16, 4, 1] from %x[0] of [2, 3, 4] strides [12, 4, 1] : memref<64xf32>, memref<24xf32>
  loop.intrinsic @my.transpose writes %y[0] of [4, 3, 2] strides [16, 4, 1] from %x[0] of [2, 3, 4] strides [12, 4, 1] : memref<64xf32>, memref<24xf32>
}

// CHECK-LABEL: loop.kernel @numbers
loop.kernel @numbers ins(%x: memref<16xf32>) outs(%y: memref<16xbf16>) {
  %v = loop.load %x[0] : memref<16xf32>, vector<16xf32>
  // CHECK: loop.call_intrinsic @bf16.round(%v) : (vector<16xf32>) -> vector<16xbf16>
  %w = loop.call_intrinsic @bf16.round(%v) : (vector<16xf32>) -> vector<16xbf16>
  loop.store %w, %y[0] : memref<16xbf16>, vector<16xbf16>
}
