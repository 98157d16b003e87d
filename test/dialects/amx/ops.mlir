// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// CHECK-LABEL: loop.kernel @tiles
loop.kernel @tiles ins(%a: memref<1024xbf16>, %b: memref<?xbf16> [N]) outs(%y: memref<1024xf32>) symbols(%N) {
  %acc = memref.alloca() : memref<1024xf32, "amx">
  // CHECK: amx.tile_zero %acc[512] stride 32 : memref<1024xf32, "amx">
  amx.tile_zero %acc[512] stride 32 : memref<1024xf32, "amx">
  loop.for %i = 0 to 2 "i" {
    loop.for %j = 0 to 2 "j" {
      // Factors may have rows that overlap, and be of one buffer; subscripts share operands.
      // CHECK: amx.tile_mulf %acc[16 * %i + 512] stride 32, %a[32 * %j] stride 1, %b[512 * %i + %j] stride 64 : memref<1024xf32, "amx">, memref<1024xbf16>, memref<?xbf16>
      amx.tile_mulf %acc[16 * %i + 512] stride 32, %a[32 * %j] stride 1, %b[512 * %i + %j] stride 64 : memref<1024xf32, "amx">, memref<1024xbf16>, memref<?xbf16>
    }
  }
  // CHECK: amx.tile_store %acc[0] stride 16, %y[0] stride 64 : memref<1024xf32, "amx">, memref<1024xf32>
  amx.tile_store %acc[0] stride 16, %y[0] stride 64 : memref<1024xf32, "amx">, memref<1024xf32>
}

// CHECK-LABEL: func.func @numbers
func.func @numbers(%x: f32, %v: vector<16xf32>) {
  // CHECK: amx.round %x : f32 to bf16
  %0 = amx.round %x : f32 to bf16
  // CHECK: amx.round %v : vector<16xf32> to vector<16xbf16>
  %1 = amx.round %v : vector<16xf32> to vector<16xbf16>
  func.return
}
