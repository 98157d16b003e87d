// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p loop-uplift-to-fma --check-semantics | filecheck %s
// RUN: opt-tool %s --target='llvm -mtriple=aarch64-linux-gnu' -p loop-uplift-to-fma | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=x86-64' -p loop-uplift-to-fma | filecheck %s --check-prefix=WITHOUT

// A target without the instruction keeps products and sums.
// WITHOUT-NOT: math.fma

// CHECK-LABEL: loop.kernel @sums
// CHECK:         %s = math.fma %a, %b, %c : f32
// CHECK-NEXT:    %t = math.fma %s, %a, %b : f32
// CHECK-NEXT:    loop.store %t
loop.kernel @sums ins(%x: memref<9xf32>, %z: memref<9xf32>) outs(%y: memref<9xf32>) {
  loop.for %i = 0 to 9 "i" {
    %a = loop.load %x[%i] : memref<9xf32>
    %b = loop.load %z[%i] : memref<9xf32>
    %c = loop.load %y[%i] : memref<9xf32>
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %c, %p fastmath<contract> : f32
    %q = arith.mulf %s, %a fastmath<contract> : f32
    %t = arith.addf %q, %b fastmath<contract> : f32
    loop.store %t, %y[%i] : memref<9xf32>
  }
}

// a * b - c and c - a * b, on vectors.
// CHECK-LABEL: loop.kernel @differences
// CHECK:         [[MINUS_C:%[0-9]+]] = arith.negf %c : vector<8xf64>
// CHECK-NEXT:    %s = math.fma %a, %b, [[MINUS_C]] : vector<8xf64>
// CHECK-NEXT:    [[MINUS_A:%[0-9]+]] = arith.negf %a : vector<8xf64>
// CHECK-NEXT:    %t = math.fma [[MINUS_A]], %s, %c : vector<8xf64>
loop.kernel @differences ins(%x: memref<24xf64>) outs(%y: memref<8xf64>) {
  %a = loop.load %x[0] : memref<24xf64>, vector<8xf64>
  %b = loop.load %x[8] : memref<24xf64>, vector<8xf64>
  %c = loop.load %x[16] : memref<24xf64>, vector<8xf64>
  %p = arith.mulf %a, %b fastmath<contract> : vector<8xf64>
  %s = arith.subf %p, %c fastmath<contract> : vector<8xf64>
  %q = arith.mulf %a, %s fastmath<contract> : vector<8xf64>
  %t = arith.subf %c, %q fastmath<contract> : vector<8xf64>
  loop.store %t, %y[0] : memref<8xf64>, vector<8xf64>
}

// A product that two sums take, both of which may, stands in both and is computed no more.
// CHECK-LABEL: loop.kernel @shared
// CHECK-NOT:     arith.mulf
// CHECK:         %s = math.fma %a, %a, %b : f32
// CHECK-NEXT:    %t = math.fma %a, %a, %s : f32
loop.kernel @shared ins(%x: memref<2xf32>) outs(%y: memref<1xf32>) {
  %a = loop.load %x[0] : memref<2xf32>
  %b = loop.load %x[1] : memref<2xf32>
  %p = arith.mulf %a, %a fastmath<contract> : f32
  %s = arith.addf %p, %b fastmath<contract> : f32
  %t = arith.addf %p, %s fastmath<contract> : f32
  loop.store %t, %y[0] : memref<1xf32>
}

// Of two products none is left unrounded: a * b - b * a is zero.
// CHECK-LABEL: loop.kernel @two_products
// CHECK-NOT:     math.fma
loop.kernel @two_products ins(%x: memref<2xf32>) outs(%y: memref<1xf32>) {
  %a = loop.load %x[0] : memref<2xf32>
  %b = loop.load %x[1] : memref<2xf32>
  %p = arith.mulf %a, %b fastmath<contract> : f32
  %q = arith.mulf %b, %a fastmath<contract> : f32
  %s = arith.subf %p, %q fastmath<contract> : f32
  loop.store %s, %y[0] : memref<1xf32>
}

// Both have to carry the flag.
// CHECK-LABEL: loop.kernel @not_allowed
// CHECK-NOT:     math.fma
loop.kernel @not_allowed ins(%x: memref<2xf32>) outs(%y: memref<2xf32>) {
  %a = loop.load %x[0] : memref<2xf32>
  %b = loop.load %x[1] : memref<2xf32>
  %p = arith.mulf %a, %b : f32
  %s = arith.addf %p, %b fastmath<contract> : f32
  %q = arith.mulf %s, %b fastmath<contract> : f32
  %t = arith.addf %q, %a : f32
  loop.store %s, %y[0] : memref<2xf32>
  loop.store %t, %y[1] : memref<2xf32>
}

// Each pattern alone.
// RUN: opt-tool %s --apply-pattern loop-uplift-to-fma.fuse-into-sum | filecheck %s --check-prefix=SUM
// SUM-LABEL: loop.kernel @sums
// SUM:         math.fma %a, %b, %c : f32
// SUM-LABEL: loop.kernel @differences
// SUM-NOT:     math.fma
// SUM:         arith.subf %p, %c
// RUN: opt-tool %s --apply-pattern loop-uplift-to-fma.fuse-into-difference | filecheck %s --check-prefix=DIFFERENCE
// DIFFERENCE-LABEL: loop.kernel @sums
// DIFFERENCE:         arith.addf %c, %p
// DIFFERENCE-LABEL: loop.kernel @differences
// DIFFERENCE:         math.fma %a, %b
