// RUN: opt-tool %s -p te-allow-contraction --check-semantics | filecheck %s

// One operation reads the product, and the sum of a reduction may take the product that it adds.
// CHECK-LABEL: te.kernel @dot
// CHECK:         arith.mulf %a, %b fastmath<contract> : f32
// CHECK-NEXT:    te.reduce add
// CHECK:         arith.mulf %d, %w fastmath<contract> : f32
// CHECK-NEXT:    arith.addf %{{.*}}, %w fastmath<contract> : f32
te.kernel @dot(%x: tensor<7xf32>) -> tensor<7xf32> {
  %dot = te.compute "dot" [i: 7] reduce [k: 7] : tensor<7xf32> {
    %a = te.read %x[i] : tensor<7xf32>
    %b = te.read %x[k] : tensor<7xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  %y = te.compute "y" [i: 7] : tensor<7xf32> {
    %d = te.read %dot[i] : tensor<7xf32>
    %w = te.read %x[i] : tensor<7xf32>
    %q = arith.mulf %d, %w : f32
    %s = arith.addf %q, %w : f32
    te.yield %s : f32
  }
  te.return %y : tensor<7xf32>
}

// Two operations of one body use the first product, and one the second.
// CHECK-LABEL: te.kernel @two_uses
// CHECK:         %p = arith.mulf %a, %a : f32
// CHECK-NEXT:    %q = arith.mulf %p, %a fastmath<contract> : f32
// CHECK-NEXT:    arith.subf %p, %q fastmath<contract> : f32
te.kernel @two_uses(%x: tensor<7xf32>) -> tensor<7xf32> {
  %y = te.compute "y" [i: 7] : tensor<7xf32> {
    %a = te.read %x[i] : tensor<7xf32>
    %p = arith.mulf %a, %a : f32
    %q = arith.mulf %p, %a : f32
    %s = arith.subf %p, %q : f32
    te.yield %s : f32
  }
  te.return %y : tensor<7xf32>
}

// A stage is a product: one read of it allows contraction there, also of one element at a time in a reduction.
// CHECK-LABEL: te.kernel @one_reader
// CHECK:         arith.mulf %{{.*}}, %{{.*}} fastmath<contract> : f64
te.kernel @one_reader(%x: tensor<7xf64>) -> tensor<f64> {
  %square = te.compute "square" [i: 7] : tensor<7xf64> {
    %a = te.read %x[i] : tensor<7xf64>
    %p = arith.mulf %a, %a : f64
    te.yield %p : f64
  }
  %sum = te.compute "sum" [] reduce [k: 7] : tensor<f64> {
    %s = te.read %square[k] : tensor<7xf64>
    te.reduce add %s : f64
  }
  te.return %sum : tensor<f64>
}

// Several places read the stage: two stages, two reads of one stage, or a reader and whoever calls the kernel.
// CHECK-LABEL: te.kernel @several_readers
// CHECK-COUNT-3: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NOT:     arith.mulf
te.kernel @several_readers(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<7xf32>) {
  %scaled = te.compute "scaled" [i: 7] : tensor<7xf32> {
    %a = te.read %x[i] : tensor<7xf32>
    %c = arith.constant 1.0e10 : f32
    %p = arith.mulf %a, %c : f32
    te.yield %p : f32
  }
  %max = te.compute "max" [] reduce [k: 7] : tensor<f32> {
    %a = te.read %scaled[k] : tensor<7xf32>
    te.reduce max %a : f32
  }
  %distance = te.compute "distance" [i: 7] : tensor<7xf32> {
    %a = te.read %scaled[i] : tensor<7xf32>
    %m = te.read %max[] : tensor<f32>
    %d = arith.subf %a, %m : f32
    te.yield %d : f32
  }
  %square = te.compute "square" [i: 7] : tensor<7xf32> {
    %a = te.read %x[i] : tensor<7xf32>
    %p = arith.mulf %a, %a : f32
    te.yield %p : f32
  }
  %difference = te.compute "difference" [i: 7] : tensor<7xf32> {
    %a = te.read %square[i] : tensor<7xf32>
    %b = te.read %square[6 - i] : tensor<7xf32>
    %d = arith.subf %a, %b : f32
    te.yield %d : f32
  }
  %returned = te.compute "returned" [i: 7] : tensor<7xf32> {
    %a = te.read %x[i] : tensor<7xf32>
    %b = te.read %x[0] : tensor<7xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  %more = te.compute "more" [i: 7] : tensor<7xf32> {
    %a = te.read %returned[i] : tensor<7xf32>
    %b = te.read %difference[i] : tensor<7xf32>
    %c = te.read %distance[i] : tensor<7xf32>
    %s = arith.addf %a, %b : f32
    %t = arith.addf %s, %c : f32
    te.yield %t : f32
  }
  te.return %more, %returned, %difference : tensor<7xf32>, tensor<7xf32>, tensor<7xf32>
}

// Numbers of 16 bits and integers have no fused multiplication and addition.
// CHECK-LABEL: te.kernel @other_types
// CHECK-NOT:     fastmath
te.kernel @other_types(%x: tensor<7xf16>, %n: tensor<7xi32>) -> (tensor<7xf16>, tensor<7xi32>) {
  %y = te.compute "y" [i: 7] : tensor<7xf16> {
    %a = te.read %x[i] : tensor<7xf16>
    %p = arith.mulf %a, %a : f16
    %s = arith.addf %p, %a : f16
    te.yield %s : f16
  }
  %z = te.compute "z" [i: 7] : tensor<7xi32> {
    %a = te.read %n[i] : tensor<7xi32>
    %p = arith.muli %a, %a : i32
    %s = arith.addi %p, %a : i32
    te.yield %s : i32
  }
  te.return %y, %z : tensor<7xf16>, tensor<7xi32>
}

// Each pattern alone: sums are flagged or products, and a product that several places read is not.
// RUN: opt-tool %s --apply-pattern te-allow-contraction.flag-sum | filecheck %s --check-prefix=SUM
// SUM-LABEL: te.kernel @dot
// SUM:         arith.mulf %d, %w : f32
// SUM-NEXT:    arith.addf %{{.*}}, %w fastmath<contract> : f32
// RUN: opt-tool %s --apply-pattern te-allow-contraction.flag-product | filecheck %s --check-prefix=PRODUCT
// PRODUCT-LABEL: te.kernel @dot
// PRODUCT:         arith.mulf %d, %w fastmath<contract> : f32
// PRODUCT-NEXT:    arith.addf %{{.*}}, %w : f32
// PRODUCT-LABEL: te.kernel @two_uses
// PRODUCT:         %p = arith.mulf %a, %a : f32
// RUN: not opt-tool %s --apply-pattern te-allow-contraction.flag-sum@114 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: te-allow-contraction.flag-sum does not match at line 114
