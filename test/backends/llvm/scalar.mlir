// RUN: opt-tool %s --target='llvm -mcpu=haswell' -t llvmir | filecheck %s

// What is no number of the integer type becomes one of it, whichever, and the same wherever it is used.
// CHECK-LABEL: define void @to_integer
// CHECK:         %[[N:.*]] = fptosi float %u to i32
// CHECK-NEXT:    %n = freeze i32 %[[N]]
loop.kernel @to_integer ins(%x: memref<1xf32>) outs(%y: memref<1xi32>) {
  %u = loop.load %x[0] : memref<1xf32>
  %n = arith.fptosi %u : f32 to i32
  loop.store %n, %y[0] : memref<1xi32>
}

// LLVM is allowed nothing: it fuses no product into a sum, and NaN and infinity mean what they mean. Floats are written
// by their bits.
// CHECK-LABEL: define internal <4 x float> @tw.exp.v4f32(<4 x float> %x) alwaysinline
// CHECK-LABEL: define internal float @tw.exp.f32(float %x) alwaysinline
// CHECK-LABEL: define void @floats
// CHECK:         %p = fmul <4 x float> %v, splat (float 0x3FB99999A0000000)
// CHECK-NEXT:    %s = fadd <4 x float> %p, %v
// CHECK-NEXT:    %m = call nsz <4 x float> @llvm.maximum.v4f32(<4 x float> %s, <4 x float> %p)
// CHECK-NEXT:    %{{.*}} = call <4 x float> @tw.exp.v4f32(<4 x float> %m)
// CHECK:         %{{.*}} = call float @tw.exp.f32(float %u)
// CHECK-NEXT:    %{{.*}} = call float @log1pf(float
// CHECK:         %[[ROOT:.*]] = call float @llvm.sqrt.f32(float
// CHECK-NEXT:    %q = fdiv float 0x3FF0000000000000, %[[ROOT]]
// CHECK:       declare float @log1pf(float) nounwind willreturn memory(none)
loop.kernel @floats ins(%x: memref<8xf32>) outs(%y: memref<9xf32>) {
  %v = loop.load %x[0] : memref<8xf32>, vector<4xf32>
  %c = arith.constant 0.1 : f32
  %b = vector.broadcast %c : f32 to vector<4xf32>
  %p = arith.mulf %v, %b : vector<4xf32>
  %s = arith.addf %p, %v : vector<4xf32>
  %m = arith.maximumf %s, %p : vector<4xf32>
  %e = math.exp %m : vector<4xf32>
  loop.store %e, %y[0] : memref<9xf32>, vector<4xf32>
  %u = loop.load %x[4] : memref<8xf32>
  %t = math.exp %u : f32
  %l = math.log1p %t : f32
  %q = math.rsqrt %l : f32
  loop.store %q, %y[4] : memref<9xf32>
}
