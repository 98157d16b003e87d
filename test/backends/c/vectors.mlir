// RUN: opt-tool %s --target='c -mcpu=haswell' -t c | filecheck %s

// Operators work on whole vectors; what has none is a function of them, lane by lane.
// CHECK:       f32x4 fma_f32x4(f32x4 a, f32x4 b, f32x4 c) {
// CHECK-NEXT:    return (f32x4){__builtin_fmaf(a[0], b[0], c[0]), __builtin_fmaf(a[1], b[1], c[1]),
// CHECK-LABEL: void floats(
// CHECK:         const f32x4 s = a + splat_f32x4(0.5f);
// CHECK-NEXT:    const f32x4 f = fma_f32x4(a, s, s);
// CHECK-NEXT:    const f32x4 d = select_f32x4(((f > a) | (f != f)), f, a);
loop.kernel @floats ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  %half = arith.constant dense<0.5> : vector<4xf32>
  %a = loop.load %x[0] : memref<4xf32>, vector<4xf32>
  %s = arith.addf %a, %half : vector<4xf32>
  %f = math.fma %a, %s, %s : vector<4xf32>
  %d = arith.maximumf %f, %a : vector<4xf32>
  loop.store %d, %y[0] : memref<4xf32>, vector<4xf32>
}

// A comparison is as wide as what it compares, and is made as wide as what it chooses from.
// CHECK-LABEL: void choices(
// CHECK:         const i32x4 m = a < b;
// CHECK-NEXT:    const f32x4 c = select_f32x4(m, a, b);
// CHECK:         const f64x4 e = select_f64x4(__builtin_convertvector(m, i64x4), d, d);
loop.kernel @choices ins(%x: memref<8xf32>, %w: memref<4xf64>) outs(%y: memref<4xf32>, %z: memref<4xf64>) {
  %a = loop.load %x[0] : memref<8xf32>, vector<4xf32>
  %b = loop.load %x[4] : memref<8xf32>, vector<4xf32>
  %m = arith.cmpf olt, %a, %b : vector<4xf32>
  %c = arith.select %m, %a, %b : vector<4xi1>, vector<4xf32>
  loop.store %c, %y[0] : memref<4xf32>, vector<4xf32>
  %d = loop.load %w[0] : memref<4xf64>, vector<4xf64>
  %e = arith.select %m, %d, %d : vector<4xi1>, vector<4xf64>
  loop.store %e, %z[0] : memref<4xf64>, vector<4xf64>
}

// A transposition is shuffles; those that no column needs are not written.
// CHECK-LABEL: void transposed(
// CHECK:         = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
// CHECK-NOT:     2, 6, 3, 7
// CHECK:         *(f32x4_at *)&y[0] = 
loop.kernel @transposed ins(%x: memref<16xf32>) outs(%y: memref<4xf32>) {
  %r0 = loop.load %x[0] : memref<16xf32>, vector<4xf32>
  %r1 = loop.load %x[4] : memref<16xf32>, vector<4xf32>
  %r2 = loop.load %x[8] : memref<16xf32>, vector<4xf32>
  %r3 = loop.load %x[12] : memref<16xf32>, vector<4xf32>
  %c0, %c1, %c2, %c3 = loop.transpose %r0, %r1, %r2, %r3 : vector<4xf32>
  loop.store %c0, %y[0] : memref<4xf32>, vector<4xf32>
}

// An intrinsic without a snippet is what it means, on vectors.
// CHECK-LABEL: void words(
// CHECK:         = a & splat_i32x4(255);
// CHECK:         = b >> splat_i32x4(24);
loop.kernel @words ins(%x: memref<8xi32>) outs(%y: memref<4xi32>) {
  %a = loop.load %x[0] : memref<8xi32>, vector<4xi32>
  %b = loop.load %x[4] : memref<8xi32>, vector<4xi32>
  %d = loop.call_intrinsic @dot4.ui8i8(%a, %b) : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
  loop.store %d, %y[0] : memref<4xi32>, vector<4xi32>
}
