// RUN: opt-tool %s --target='c -mcpu=haswell' -t c | filecheck %s

// A divisor that may be 0 or -1 is another one, and the result is chosen afterwards.
// CHECK-LABEL: int32_t quotient_by_0_by_minus_1_i32(int32_t x, int32_t y) {
// CHECK:         const int32_t divisor = (by_zero || by_minus_one) ? 1 : y;
// CHECK-NEXT:    const int32_t result = x / divisor;
// CHECK-NEXT:    const int32_t result_1 = by_zero ? 0 : result;
// CHECK-NEXT:    const int32_t result_2 = by_minus_one ? (int32_t)((uint32_t)0 - (uint32_t)x) : result_1;
// A shift too far leaves zeros, or copies of the sign.
// CHECK-LABEL: uint16_t left_shifted_u16(uint16_t x, uint16_t y) {
// CHECK:         return possible ? result : 0;
// CHECK-LABEL: int16_t right_shifted_i16(int16_t x, uint16_t y) {
// CHECK:         return result;
// CHECK-LABEL: void divide_by_data(
// CHECK:         const int32_t q = quotient_by_0_by_minus_1_i32(a, b);
// CHECK-NEXT:    const int32_t r = (int32_t)(remainder_by_0_u32((uint32_t)a, (uint32_t)b));
loop.kernel @divide_by_data ins(%x: memref<4xi32>) outs(%y: memref<4xi32>) {
  %a = loop.load %x[0] : memref<4xi32>
  %b = loop.load %x[1] : memref<4xi32>
  %q = arith.divsi %a, %b : i32
  %r = arith.remui %a, %b : i32
  loop.store %q, %y[0] : memref<4xi32>
  loop.store %r, %y[1] : memref<4xi32>
}

// One that is known to be neither is divided by at once: a constant, or an index in its range.
// CHECK-LABEL: void divide_by_what_is_known(
// CHECK:         const int32_t q = a / 3;
// CHECK-NEXT:    const i32x4 p = (i32x4)((u32x4)v / (u32x4)splat_i32x4(5));
// CHECK:         const int32_t r = a % c;
loop.kernel @divide_by_what_is_known ins(%x: memref<4xi32>) outs(%y: memref<4xi32>) {
  %three = arith.constant 3 : i32
  %fives = arith.constant dense<5> : vector<4xi32>
  %a = loop.load %x[0] : memref<4xi32>
  %v = loop.load %x[0] : memref<4xi32>, vector<4xi32>
  loop.for %i = 0 to 4 "i" {
    %q = arith.divsi %a, %three : i32
    %p = arith.divui %v, %fives : vector<4xi32>
    %n = loop.apply %i + 1
    %c = arith.index_cast %n : index to i32
    %r = arith.remsi %a, %c : i32
    loop.store %q, %y[%i] : memref<4xi32>
    loop.store %r, %y[%i] : memref<4xi32>
    loop.store %p, %y[0] : memref<4xi32>, vector<4xi32>
  }
}

// CHECK-LABEL: void shift(
// CHECK:         const int16_t l = (int16_t)(left_shifted_u16((uint16_t)a, (uint16_t)b));
// CHECK-NEXT:    const int16_t r = (int16_t)(right_shifted_i16(a, (uint16_t)b));
// CHECK:         const int16_t u = (int16_t)((uint16_t)a >> (uint16_t)3);
loop.kernel @shift ins(%x: memref<2xi16>) outs(%y: memref<3xi16>) {
  %three = arith.constant 3 : i16
  %a = loop.load %x[0] : memref<2xi16>
  %b = loop.load %x[1] : memref<2xi16>
  %l = arith.shli %a, %b : i16
  %r = arith.shrsi %a, %b : i16
  %u = arith.shrui %a, %three : i16
  loop.store %l, %y[0] : memref<3xi16>
  loop.store %r, %y[1] : memref<3xi16>
  loop.store %u, %y[2] : memref<3xi16>
}
