// RUN: opt-tool %s --target='c -mcpu=haswell' -t c | filecheck %s

// Unrolling is the compiler's; a name is free again where its block ends.
// CHECK-LABEL: void serial(const float *x, float *y, int32_t num_threads) {
// CHECK-NEXT:    (void)num_threads;
// CHECK-NEXT:    for (int64_t i = 0; i < 8; ++i) {
// CHECK-NEXT:      UNROLLED(4)
// CHECK-NEXT:      for (int64_t j = 0; j < 4; ++j) {
// CHECK-NEXT:        const float v = x[4 * i + j];
// CHECK:           for (int64_t j = 0; j < 4; ++j) {
// CHECK-NEXT:        y[4 * i + j] = 1.0f;
loop.kernel @serial ins(%x: memref<8x4xf32>) outs(%y: memref<8x4xf32>) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 8 "i" {
    loop.for %j = 0 to 4 "j" unrolled {
      %v = loop.load %x[%i, %j] : memref<8x4xf32>
      loop.store %v, %y[%i, %j] : memref<8x4xf32>
    }
    loop.for %j = 0 to 4 "j" {
      loop.store %one, %y[%i, %j] : memref<8x4xf32>
    }
  }
}

// A loop of one iteration is its body, one of none is nothing; steps are asked for as an attribute.
// CHECK-LABEL: void extents(
// CHECK:         UNROLLED(4)
// CHECK-NEXT:    for (int64_t i = 0; i < N; ++i) {
// CHECK-NEXT:      const int64_t j = i + 3;
// CHECK-NEXT:      y[j - 3] = 1.0f;
// CHECK-NEXT:    }
// CHECK-NEXT:  }
loop.kernel @extents outs(%y: memref<?xf32> [N]) symbols(%N) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to %N "i" attributes {loop.unroll_factor = 4 : i64} {
    loop.for %j = %i + 3 to %i + 4 "j" {
      loop.store %one, %y[%j - 3] : memref<?xf32>
    }
  }
  loop.for %k = 5 to 5 "k" {
    loop.store %one, %y[%k] : memref<?xf32>
  }
}

// A condition that gives a value sets a variable in both branches.
// CHECK-LABEL: void condition(
// CHECK:           float padded;
// CHECK-NEXT:      if (i >= 1 && i <= 8) {
// CHECK-NEXT:        const float v = x[i - 1];
// CHECK-NEXT:        padded = v;
// CHECK-NEXT:      } else {
// CHECK-NEXT:        padded = 0.0f;
// CHECK-NEXT:      }
// CHECK-NEXT:      y[i] = padded;
loop.kernel @condition ins(%x: memref<8xf32>) outs(%y: memref<10xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 10 "i" {
    %padded = loop.if [%i - 1 >= 0, 8 - %i >= 0] -> f32 {
      %v = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %v : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %padded, %y[%i] : memref<10xf32>
  }
}

// A parallel loop is a function of its range, which the runtime calls for pieces; inside of one, loops are serial.
// CHECK-LABEL: static __attribute__((noinline)) void parallel_loop_0(int64_t N, const float *x, float *y, int64_t lower, int64_t upper) {
// CHECK-NEXT:    for (int64_t i = lower; i < upper; ++i) {
// CHECK-NEXT:      for (int64_t j = 0; j < N; ++j) {
// CHECK:       struct parallel_loop_0 {
// CHECK-NEXT:    int64_t N;
// CHECK-NEXT:    const float *x;
// CHECK-NEXT:    float *y;
// CHECK-NEXT:  };
// CHECK:         parallel_loop_0(context->N, context->x, context->y, lower, upper);
// CHECK-LABEL: void parallel(
// CHECK:         struct parallel_loop_0 context = {.N = N, .x = x, .y = y};
// CHECK-NEXT:    const int32_t threads = N >= 4 ? fewer_threads(num_threads, 6) : 1;
// CHECK-NEXT:    if (threads < 2) parallel_loop_0_piece(&context, 0, 6);
// CHECK-NEXT:    else tilework_parallel(parallel_loop_0_piece, &context, 0, 6, threads, 8);
loop.kernel @parallel ins(%x: memref<6x?xf32> [6, N]) outs(%y: memref<6x?xf32> [6, N]) symbols(%N) {
  loop.for %i = 0 to 6 "i" parallel when [%N - 4 >= 0] {
    loop.for %j = 0 to %N "j" parallel {
      %v = loop.load %x[%i, %j] : memref<6x?xf32>
      loop.store %v, %y[%i, %j] : memref<6x?xf32>
    }
  }
}

// Backwards where a loop asks for it, in one piece. One that alternates would have to remember how often it has run.
// CHECK-LABEL: void descending_loop_0(
// CHECK-NEXT:    for (int64_t i = upper - 1; i >= lower; --i) {
// CHECK:         tilework_parallel(descending_loop_0_piece, &context, 0, 64, threads, 1);
// CHECK-LABEL: void alternating_loop_0(
// CHECK-NEXT:    for (int64_t i = lower; i < upper; ++i) {
// CHECK:         tilework_parallel(alternating_loop_0_piece, &context, 0, 64, threads, 1);
loop.kernel @descending outs(%y: memref<64xf32>) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 64 "i" parallel attributes {loop.descending} {
    loop.store %one, %y[%i] : memref<64xf32>
  }
}
loop.kernel @alternating outs(%y: memref<64xf32>) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 64 "i" parallel attributes {loop.alternating} {
    loop.store %one, %y[%i] : memref<64xf32>
  }
}

// Division rounds down: by shifts and masks, by C's operators where nothing is negative, else by functions.
// CHECK-LABEL: void quotients(
// CHECK:         y[(i >> 2) + (i & 3)] = 1.0f;
// CHECK-NEXT:    y[(i / 3) + (i % 3)] = 1.0f;
// CHECK-NEXT:    y[floor_div(i - N, 3) + index_max(0, N - 20)] = 1.0f;
loop.kernel @quotients outs(%y: memref<?xf32> [N]) symbols(%N) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 9 "i" {
    loop.store %one, %y[%i floordiv 4 + %i mod 4] : memref<?xf32>
    loop.store %one, %y[%i floordiv 3 + %i mod 3] : memref<?xf32>
    loop.store %one, %y[(%i - %N) floordiv 3 + max(%N - 20, 0)] : memref<?xf32>
  }
}
