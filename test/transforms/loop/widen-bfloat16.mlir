// RUN: opt-tool %s -p loop-widen-bfloat16 --check-semantics | filecheck %s

// Each result is rounded.
// CHECK-LABEL: loop.kernel @sums
// CHECK:         %[[A:.*]] = arith.extf %a : bf16 to f32
// CHECK-NEXT:    %[[B:.*]] = arith.extf %b : bf16 to f32
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT:    %s = arith.truncf %[[S]] : f32 to bf16
// CHECK-NEXT:    %[[T:.*]] = arith.extf %s : bf16 to f32
// CHECK-NEXT:    %[[C:.*]] = arith.extf %a : bf16 to f32
// CHECK-NEXT:    %[[P:.*]] = arith.mulf %[[T]], %[[C]] : f32
// CHECK-NEXT:    %p = arith.truncf %[[P]] : f32 to bf16
// CHECK-NEXT:    loop.store %p
loop.kernel @sums ins(%x: memref<9xbf16>, %z: memref<9xbf16>) outs(%y: memref<9xbf16>) {
  loop.for %i = 0 to 9 "i" {
    %a = loop.load %x[%i] : memref<9xbf16>
    %b = loop.load %z[%i] : memref<9xbf16>
    %s = arith.addf %a, %b : bf16
    %p = arith.mulf %s, %a : bf16
    loop.store %p, %y[%i] : memref<9xbf16>
  }
}

// Vectors; functions; integers; what a comparison makes is no bfloat16.
// CHECK-LABEL: loop.kernel @vectors
// CHECK:         arith.extf %v : vector<8xbf16> to vector<8xf32>
// CHECK-NEXT:    math.exp %{{.*}} : vector<8xf32>
// CHECK-NEXT:    %e = arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK:         %[[N:.*]] = arith.sitofp %n : vector<8xi32> to vector<8xf32>
// CHECK-NEXT:    %m = arith.truncf %[[N]] : vector<8xf32> to vector<8xbf16>
// CHECK-NEXT:    arith.extf %e
// CHECK-NEXT:    arith.extf %m
// CHECK-NEXT:    %c = arith.cmpf olt, %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NEXT:    arith.select %c, %e, %m : vector<8xi1>, vector<8xbf16>
loop.kernel @vectors ins(%x: memref<8xbf16>, %k: memref<8xi32>) outs(%y: memref<8xbf16>) {
  %v = loop.load %x[0] : memref<8xbf16>, vector<8xbf16>
  %n = loop.load %k[0] : memref<8xi32>, vector<8xi32>
  %e = math.exp %v : vector<8xbf16>
  %m = arith.sitofp %n : vector<8xi32> to vector<8xbf16>
  %c = arith.cmpf olt, %e, %m : vector<8xbf16>
  %s = arith.select %c, %e, %m : vector<8xi1>, vector<8xbf16>
  loop.store %s, %y[0] : memref<8xbf16>, vector<8xbf16>
}

// Conversions of floating-point numbers are no arithmetic; half precision is left to processors.
// CHECK-LABEL: loop.kernel @kept
// CHECK:         arith.extf %a : bf16 to f64
// CHECK-NEXT:    arith.truncf %{{.*}} : f64 to f16
// CHECK-NEXT:    arith.addf %{{.*}}, %{{.*}} : f16
loop.kernel @kept ins(%x: memref<9xbf16>) outs(%y: memref<9xf16>) {
  loop.for %i = 0 to 9 "i" {
    %a = loop.load %x[%i] : memref<9xbf16>
    %w = arith.extf %a : bf16 to f64
    %h = arith.truncf %w : f64 to f16
    %r = arith.addf %h, %h : f16
    loop.store %r, %y[%i] : memref<9xf16>
  }
}

// The pattern alone; what only moves numbers is none of its business.
// RUN: opt-tool %s --apply-pattern loop-widen-bfloat16.compute-wide | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: loop.kernel @sums
// ALONE:         arith.addf %{{.*}} : f32
// ALONE-LABEL: loop.kernel @kept
// ALONE:         arith.extf %a : bf16 to f64
// ALONE-NOT:     f32
