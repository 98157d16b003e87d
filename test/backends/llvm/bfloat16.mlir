// RUN: opt-tool %s --target='llvm -mcpu=haswell' -t llvmir | filecheck %s

// bfloat16 is the upper half of a float, rounded to nearest, ties to even, in integers; NaN stays NaN.
// CHECK-LABEL: define void @rounded
// CHECK:         %v = load <8 x float>, ptr %x, align 4
// CHECK-NEXT:    %[[BITS:.*]] = bitcast <8 x float> %v to <8 x i32>
// CHECK-NEXT:    %[[UPPER:.*]] = lshr <8 x i32> %[[BITS]], splat (i32 16)
// CHECK-NEXT:    %[[ODD:.*]] = and <8 x i32> %[[UPPER]], splat (i32 1)
// CHECK-NEXT:    %[[HALF:.*]] = add <8 x i32> %[[ODD]], splat (i32 32767)
// CHECK-NEXT:    %[[ROUNDED:.*]] = add <8 x i32> %[[BITS]], %[[HALF]]
// CHECK-NEXT:    %[[QUIET:.*]] = or <8 x i32> %[[BITS]], splat (i32 4194304)
// CHECK-NEXT:    %[[NAN:.*]] = fcmp uno <8 x float> %v, %v
// CHECK-NEXT:    %[[CHOSEN:.*]] = select <8 x i1> %[[NAN]], <8 x i32> %[[QUIET]], <8 x i32> %[[ROUNDED]]
// CHECK-NEXT:    %[[SHORT:.*]] = ashr <8 x i32> %[[CHOSEN]], splat (i32 16)
// CHECK-NEXT:    %r = trunc <8 x i32> %[[SHORT]] to <8 x i16>
// CHECK-NEXT:    store <8 x i16> %r, ptr %y, align 2
loop.kernel @rounded ins(%x: memref<8xf32>) outs(%y: memref<8xbf16>) {
  %v = loop.load %x[0] : memref<8xf32>, vector<8xf32>
  %r = arith.truncf %v : vector<8xf32> to vector<8xbf16>
  loop.store %r, %y[0] : memref<8xbf16>, vector<8xbf16>
}

// Constants are such bits, too: 1.5 is 0x3FC0. Chosen and stored they are like other integers of 16 bits.
// CHECK-LABEL: define void @extended
// CHECK:         %v = load i16, ptr %x, align 2
// CHECK-NEXT:    %[[WIDE:.*]] = zext i16 %v to i32
// CHECK-NEXT:    %[[PLACED:.*]] = shl i32 %[[WIDE]], 16
// CHECK-NEXT:    %[[NUMBER:.*]] = bitcast i32 %[[PLACED]] to float
// CHECK-NEXT:    %c = fcmp olt float %[[NUMBER]],
// CHECK-NEXT:    %s = select i1 %c, i16 %v, i16 16320
// CHECK-NEXT:    store i16 %s, ptr %y, align 2
// CHECK:         %d = fpext float %{{.*}} to double
loop.kernel @extended ins(%x: memref<8xbf16>) outs(%y: memref<8xbf16>, %z: memref<8xf64>) {
  %v = loop.load %x[0] : memref<8xbf16>
  %k = arith.constant 1.5 : bf16
  %w = arith.extf %v : bf16 to f32
  %zero = arith.constant 0.0 : f32
  %c = arith.cmpf olt, %w, %zero : f32
  %s = arith.select %c, %v, %k : bf16
  loop.store %s, %y[0] : memref<8xbf16>
  %d = arith.extf %v : bf16 to f64
  loop.store %d, %z[0] : memref<8xf64>
}
