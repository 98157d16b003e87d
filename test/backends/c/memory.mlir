// RUN: opt-tool %s --target='c -mcpu=haswell' -t c | filecheck %s

// A vector in memory is aligned as its elements are.
// CHECK:       typedef float f32x4 __attribute__((vector_size(16)));
// CHECK-NEXT:  typedef f32x4 f32x4_at __attribute__((aligned(4), may_alias));

// Subscripts of several dimensions become one index, over the symbols where an extent is dynamic.
// CHECK-LABEL: void dimensions(const float *restrict x, float *restrict y, int64_t N, int32_t num_threads) {
// CHECK:         const float v = x[N * j + i];
// CHECK-NEXT:    y[100 * i + j] = v;
loop.kernel @dimensions ins(%x: memref<8x?xf32> [8, N]) outs(%y: memref<?x8xf32, strided<[100, 1]>> [N, 8]) symbols(%N) {
  loop.for %i = 0 to %N "i" {
    loop.for %j = 0 to 8 "j" {
      %v = loop.load %x[%j, %i] : memref<8x?xf32>
      loop.store %v, %y[%i, %j] : memref<?x8xf32, strided<[100, 1]>>
    }
  }
}

// A flat view is the same pointer.
// CHECK-LABEL: void views(
// CHECK:         const float v = x[0];
// CHECK-NEXT:    float *const tail = &y[4];
// CHECK-NEXT:    tail[2] = v;
loop.kernel @views ins(%x: memref<2x4xf32>) outs(%y: memref<3x4xf32>) {
  %flat = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1] : memref<2x4xf32> to memref<8xf32>
  %v = loop.load %flat[0] : memref<8xf32>
  %tail = memref.reinterpret_cast %y to offset: [4], sizes: [4], strides: [1] : memref<3x4xf32> to memref<4xf32>
  loop.store %v, %tail[2] : memref<4xf32>
}

// Vectors: whole; lanes apart one by one; the first few by a function that looks at no other; the same in all lanes.
// CHECK-LABEL: void vectors(
// CHECK:         const f32x4 whole = *(const f32x4_at *)&x[0];
// CHECK-NEXT:    const float *const x_at = &x[0];
// CHECK-NEXT:    const f32x4 apart = (f32x4){x_at[0], x_at[9], x_at[18], x_at[27]};
// CHECK-NEXT:    const f32x4 few = load_some_4_f32x4(x, 0, 1, 0, N, 0);
// CHECK-NEXT:    const f32x4 same = splat_f32x4(x[5]);
// CHECK-NEXT:    *(f32x4_at *)&y[0] = whole;
// CHECK-NEXT:    store_some_4_f32x4(y, 0, 1, 0, N, few);
// CHECK-NEXT:    float *const y_at = &y[0];
// CHECK-NEXT:    y_at[0] = apart[0];
// CHECK-NEXT:    y_at[2] = apart[1];
loop.kernel @vectors ins(%x: memref<64xf32>) outs(%y: memref<64xf32>) symbols(%N) {
  %whole = loop.load %x[0] : memref<64xf32>, vector<4xf32>
  %apart = loop.load %x[0] stride 9 : memref<64xf32>, vector<4xf32>
  %few = loop.load %x[0] count %N : memref<64xf32>, vector<4xf32>
  %same = loop.load %x[5] stride 0 : memref<64xf32>, vector<4xf32>
  loop.store %whole, %y[0] : memref<64xf32>, vector<4xf32>
  loop.store %few, %y[0] count %N : memref<64xf32>, vector<4xf32>
  loop.store %apart, %y[0] stride 2 : memref<64xf32>, vector<4xf32>
  loop.store %same, %y[0] : memref<64xf32>, vector<4xf32>
}

// Of a vector whose length is no power of two, no more is read or written than it has.
// CHECK-LABEL: void odd(
// CHECK:         const f32x16 v = load_14_f32x16(&x[0]);
// CHECK-NEXT:    __builtin_memcpy(&y[0], &v, 14 * sizeof v[0]);
loop.kernel @odd ins(%x: memref<14xf32>) outs(%y: memref<14xf32>) {
  %v = loop.load %x[0] : memref<14xf32>, vector<14xf32>
  loop.store %v, %y[0] : memref<14xf32>, vector<14xf32>
}

// A local buffer is an array. What a caller may give one memory, %x and %y, is not said to be apart.
// CHECK-LABEL: void local_(const float *x, float *y, int32_t num_threads) {
// CHECK:         for (int64_t i = 0; i < 4; ++i) {
// CHECK-NEXT:      float acc[16] __attribute__((aligned(64)));
// CHECK:           acc[i] = v;
loop.kernel @local ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  loop.for %i = 0 to 4 "i" {
    %acc = memref.alloca() : memref<16xf32>
    %v = loop.load %x[%i] : memref<4xf32>
    loop.store %v, %acc[%i] : memref<16xf32>
    %r = loop.load %acc[%i] : memref<16xf32>
    loop.store %r, %y[%i] : memref<4xf32>
  }
}

// A boolean is a byte in memory, and in a vector a byte whose bits are all set where it is true.
// CHECK-LABEL: void booleans(
// CHECK:         const bool b = x[0] != 0;
// CHECK-NEXT:    y[0] = b;
// CHECK-NEXT:    const i8x4 v = *(const i8x4_at *)&x[0];
// CHECK-NEXT:    const i8x4 m = v != 0;
// CHECK-NEXT:    const i8x4 v_1 = -m;
// CHECK-NEXT:    *(i8x4_at *)&y[0] = v_1;
loop.kernel @booleans ins(%x: memref<4xi1>) outs(%y: memref<4xi1>) {
  %b = loop.load %x[0] : memref<4xi1>
  loop.store %b, %y[0] : memref<4xi1>
  %m = loop.load %x[0] : memref<4xi1>, vector<4xi1>
  loop.store %m, %y[0] : memref<4xi1>, vector<4xi1>
}

// CHECK-LABEL: void prefetch(
// CHECK:         __builtin_prefetch(x + (64 * i + 144), 0, 3);
// CHECK-NEXT:    __builtin_prefetch(x + (64 * i + 272), 0, 2);
loop.kernel @prefetch ins(%x: memref<8x64xf32>) {
  loop.for %i = 0 to 8 "i" {
    loop.prefetch %x[%i + 2, 16] : memref<8x64xf32>
    loop.prefetch %x[%i + 4, 16] locality 2 : memref<8x64xf32>
  }
}
