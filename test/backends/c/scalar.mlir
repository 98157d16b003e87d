// RUN: opt-tool %s --target='c -mcpu=haswell' -t c | filecheck %s

// Functions of float are ours, and come first, as others that are called do.
// CHECK-LABEL: float math_exp_f32(float x) {

// Integers wrap around, which C's do not; those of fewer bits are computed in 32.
// CHECK-LABEL: void integers(
// CHECK:         const int32_t sum = (int32_t)((uint32_t)a + (uint32_t)b);
// CHECK-NEXT:    const int8_t c = (int8_t)sum;
// CHECK-NEXT:    const int8_t product = (int8_t)(c * c);
// CHECK-NEXT:    const bool below = (uint32_t)a < (uint32_t)b;
// CHECK-NEXT:    const int32_t least = below ? a : b;
loop.kernel @integers ins(%x: memref<8xi32>) outs(%y: memref<8xi32>, %z: memref<8xi8>) {
  %a = loop.load %x[0] : memref<8xi32>
  %b = loop.load %x[1] : memref<8xi32>
  %sum = arith.addi %a, %b : i32
  %c = arith.trunci %sum : i32 to i8
  %product = arith.muli %c, %c : i8
  %below = arith.cmpi ult, %a, %b : i32
  %least = arith.select %below, %a, %b : i32
  loop.store %least, %y[0] : memref<8xi32>
  loop.store %product, %z[0] : memref<8xi8>
}

// Comparisons say what they give for NaN; a maximum is NaN where one of the numbers is.
// CHECK-LABEL: void floats(
// CHECK:         const bool ordered = a < b || a > b;
// CHECK-NEXT:    const bool unordered = !(a >= b);
// CHECK-NEXT:    const float greatest = ((a > b) || (a != a)) ? a : b;
// CHECK-NEXT:    const float fused = __builtin_fmaf(a, b, greatest);
// CHECK-NEXT:    const float apart = a * b;
// CHECK-NEXT:    const float rounded = apart + greatest;
loop.kernel @floats ins(%x: memref<8xf32>) outs(%y: memref<8xf32>, %z: memref<8xi1>) {
  %a = loop.load %x[0] : memref<8xf32>
  %b = loop.load %x[1] : memref<8xf32>
  %ordered = arith.cmpf one, %a, %b : f32
  %unordered = arith.cmpf ult, %a, %b : f32
  %greatest = arith.maximumf %a, %b : f32
  %fused = math.fma %a, %b, %greatest : f32
  %apart = arith.mulf %a, %b : f32
  %rounded = arith.addf %apart, %greatest : f32
  loop.store %ordered, %z[0] : memref<8xi1>
  loop.store %unordered, %z[1] : memref<8xi1>
  loop.store %fused, %y[0] : memref<8xf32>
  loop.store %rounded, %y[1] : memref<8xf32>
}

// Constants are exact; NaN and infinity have no literals.
// CHECK-LABEL: void constants(
// CHECK:         y[0] = 0.1f;
// CHECK-NEXT:    y[1] = -__builtin_inff();
// CHECK-NEXT:    y[2] = __builtin_nanf("");
// CHECK-NEXT:    y[3] = -0.0f;
// CHECK-NEXT:    z[0] = (-9223372036854775807 - 1);
loop.kernel @constants outs(%y: memref<8xf32>, %z: memref<1xi64>) {
  %tenth = arith.constant 0.1 : f32
  %infinity = arith.constant 0xFF800000 : f32
  %nan = arith.constant 0x7FC00000 : f32
  %zero = arith.constant -0.0 : f32
  %least = arith.constant -9223372036854775808 : i64
  loop.store %tenth, %y[0] : memref<8xf32>
  loop.store %infinity, %y[1] : memref<8xf32>
  loop.store %nan, %y[2] : memref<8xf32>
  loop.store %zero, %y[3] : memref<8xf32>
  loop.store %least, %z[0] : memref<1xi64>
}

// Those of double are the C library's, and so are rare ones of float.
// CHECK-LABEL: void functions(
// CHECK:         const float e = math_exp_f32(a);
// CHECK-NEXT:    const float s = __builtin_sinhf(a);
// CHECK-NEXT:    const double w = (double)a;
// CHECK-NEXT:    const double d = __builtin_exp(w);
loop.kernel @functions ins(%x: memref<8xf32>) outs(%y: memref<8xf32>, %z: memref<8xf64>) {
  %a = loop.load %x[0] : memref<8xf32>
  %e = math.exp %a : f32
  %s = math.sinh %a : f32
  %w = arith.extf %a : f32 to f64
  %d = math.exp %w : f64
  loop.store %e, %y[0] : memref<8xf32>
  loop.store %s, %y[1] : memref<8xf32>
  loop.store %d, %z[0] : memref<8xf64>
}

// Half and bfloat16 are bits, computed with as float.
// CHECK-LABEL: void halves(const uint16_t *x, uint16_t *y, int32_t num_threads) {
// CHECK:         const uint16_t h = x[0];
// CHECK-NEXT:    const float v = float_of_half(h);
// CHECK-NEXT:    const float v_1 = float_of_half(0x3c00);
// CHECK-NEXT:    const float v_2 = v + v_1;
// CHECK-NEXT:    const uint16_t s = half_of_float(v_2);
loop.kernel @halves ins(%x: memref<8xf16>) outs(%y: memref<8xf16>) {
  %one = arith.constant 1.0 : f16
  %h = loop.load %x[0] : memref<8xf16>
  %s = arith.addf %h, %one : f16
  loop.store %s, %y[0] : memref<8xf16>
}
