// RUN: opt-tool %s --target='c -mcpu=haswell' -t c | filecheck %s

// Names are those of the program where C takes them: not its words, nor functions that compilers know.
// CHECK-LABEL: void exp_(const float *buffer, float *int_, int32_t num_threads) {
// CHECK:         const float f32x4_ = buffer[0];
// CHECK-NEXT:    int_[0] = f32x4_;
loop.kernel @exp ins(%0: memref<1xf32>) outs(%int: memref<1xf32>) {
  %f32x4 = loop.load %0[0] : memref<1xf32>
  loop.store %f32x4, %int[0] : memref<1xf32>
}

// Other characters are written by their numbers.
// CHECK-LABEL: void a_20_b_e9_(
loop.kernel @"a b\C3\A9" outs(%y: memref<1xf32>) {
  %one = arith.constant 1.0 : f32
  loop.store %one, %y[0] : memref<1xf32>
}
