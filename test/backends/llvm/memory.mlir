// RUN: opt-tool %s --target='llvm -mcpu=haswell' -t llvmir | filecheck %s

// Subscripts of several dimensions become one index, over the symbols where an extent is dynamic.
// CHECK-LABEL: define void @dimensions(ptr noalias %x, ptr noalias %y, i64 %N, i32 %num_threads)
// CHECK:         mul nsw i64 %{{N, %j|j, %N}}
// CHECK:         getelementptr inbounds float, ptr %x, i64
// CHECK:         %[[ROW:.*]] = mul nsw i64 %i, 100
// CHECK-NEXT:    %[[AT:.*]] = add nsw i64 %[[ROW]], %j
// CHECK-NEXT:    getelementptr inbounds float, ptr %y, i64 %[[AT]]
loop.kernel @dimensions ins(%x: memref<8x?xf32> [8, N]) outs(%y: memref<?x8xf32, strided<[100, 1]>> [N, 8]) symbols(%N) {
  loop.for %i = 0 to %N "i" {
    loop.for %j = 0 to 8 "j" {
      %v = loop.load %x[%j, %i] : memref<8x?xf32>
      loop.store %v, %y[%i, %j] : memref<?x8xf32, strided<[100, 1]>>
    }
  }
}

// A flat view is the same pointer.
// CHECK-LABEL: define void @views(ptr noalias %x, ptr noalias %y, i32 %num_threads)
// CHECK:         %v = load float, ptr %x, align 4
// CHECK:         %tail = getelementptr inbounds float, ptr %y, i64 4
// CHECK-NEXT:    %[[P:.*]] = getelementptr inbounds float, ptr %tail, i64 2
// CHECK-NEXT:    store float %v, ptr %[[P]], align 4
loop.kernel @views ins(%x: memref<2x4xf32>) outs(%y: memref<3x4xf32>) {
  %flat = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [1] : memref<2x4xf32> to memref<8xf32>
  %v = loop.load %flat[0] : memref<8xf32>
  %tail = memref.reinterpret_cast %y to offset: [4], sizes: [4], strides: [1] : memref<3x4xf32> to memref<4xf32>
  loop.store %v, %tail[2] : memref<4xf32>
}

// Vectors: whole, near lanes picked from whole ones, far lanes one by one, the first few by mask.
// CHECK-LABEL: define void @vectors
// CHECK:         %whole = load <4 x float>, ptr %x, align 4
// CHECK:         %[[LOW:.*]] = load <4 x float>, ptr %{{.*}}, align 4
// CHECK-NEXT:    %[[HALF:.*]] = shufflevector <4 x float> poison, <4 x float> %[[LOW]], <4 x i32> <i32 4, i32 6, i32 poison, i32 poison>
// CHECK-NEXT:    %[[P:.*]] = getelementptr inbounds float, ptr %{{.*}}, i64 3
// CHECK-NEXT:    %[[HIGH:.*]] = load <4 x float>, ptr %[[P]], align 4
// CHECK-NEXT:    shufflevector <4 x float> %[[HALF]], <4 x float> %[[HIGH]], <4 x i32> <i32 0, i32 1, i32 5, i32 7>
// CHECK:         %[[E1:.*]] = load float, ptr %x, align 4
// CHECK-NEXT:    insertelement <4 x float> poison, float %[[E1]], i64 0
// CHECK:         %[[STRIDED:.*]] = insertelement <4 x float> %{{.*}}, float %{{.*}}, i64 3
// CHECK:         %[[SAME:.*]] = load float, ptr %x, align 4
// CHECK-NEXT:    %[[ONE:.*]] = insertelement <4 x float> poison, float %[[SAME]], i64 0
// CHECK-NEXT:    shufflevector <4 x float> %[[ONE]], <4 x float> poison, <4 x i32> zeroinitializer
// CHECK:         %[[MASK:.*]] = icmp slt <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %{{.*}}
// CHECK-NEXT:    call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 4 %x, <4 x i1> %[[MASK]], <4 x float> zeroinitializer)
// CHECK:         getelementptr float, ptr %x, <4 x i64> <i64 0, i64 8, i64 16, i64 24>
// CHECK:         call <4 x float> @llvm.masked.gather.v4f32.v4p0(<4 x ptr> align 4 %{{.*}}, <4 x i1> %{{.*}}, <4 x float> zeroinitializer)
// CHECK:         store <4 x float> %whole, ptr %y, align 4
// CHECK:         call void @llvm.masked.store.v4f32.p0(<4 x float> %few, ptr align 4 %y, <4 x i1> %{{.*}})
// CHECK:         call void @llvm.masked.scatter.v4f32.v4p0(<4 x float> %far, <4 x ptr> align 4 %{{.*}}, <4 x i1> %{{.*}})
// CHECK:         %[[E3:.*]] = extractelement <4 x float> %[[STRIDED]], i64 3
// CHECK-NEXT:    store float %[[E3]]
loop.kernel @vectors ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  %whole = loop.load %x[0] : memref<?xf32>, vector<4xf32>
  %near = loop.load %x[0] stride 2 : memref<?xf32>, vector<4xf32>
  %strided = loop.load %x[0] stride 9 : memref<?xf32>, vector<4xf32>
  %same = loop.load %x[0] stride 0 : memref<?xf32>, vector<4xf32>
  %few = loop.load %x[0] count %N : memref<?xf32>, vector<4xf32>
  %far = loop.load %x[0] stride 8 count %N : memref<?xf32>, vector<4xf32>
  loop.store %whole, %y[0] : memref<?xf32>, vector<4xf32>
  loop.store %few, %y[0] count %N : memref<?xf32>, vector<4xf32>
  loop.store %far, %y[0] stride 8 count %N : memref<?xf32>, vector<4xf32>
  loop.store %strided, %y[0] stride 2 : memref<?xf32>, vector<4xf32>
}

// Lanes from one to another, the others being a scalar.
// CHECK-LABEL: define void @between
// CHECK:         %[[REST:.*]] = load float, ptr %x, align 4
// CHECK:         call i64 @llvm.smax.i64(i64 3, i64 0)
// CHECK:         %[[END:.*]] = icmp slt <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %{{.*}}
// CHECK:         call i64 @llvm.smax.i64(i64 %N, i64 0)
// CHECK:         %[[FROM:.*]] = icmp sge <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %{{.*}}
// CHECK-NEXT:    %[[MASK:.*]] = and <4 x i1> %[[END]], %[[FROM]]
// CHECK:         %[[ALL:.*]] = shufflevector <4 x float> %{{.*}}, <4 x float> poison, <4 x i32> zeroinitializer
// CHECK-NEXT:    call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 4 %{{.*}}, <4 x i1> %[[MASK]], <4 x float> %[[ALL]])
// CHECK:         call void @llvm.masked.store.v4f32.p0(<4 x float> %{{.*}}, ptr align 4 %y, <4 x i1> %{{.*}})
loop.kernel @between ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) symbols(%N) {
  %rest = loop.load %x[0] : memref<16xf32>
  %v = loop.load %x[2] from %N count 3 else %rest : memref<16xf32>, vector<4xf32>
  loop.store %v, %y[0] from %N : memref<16xf32>, vector<4xf32>
}

// Local buffers stand in the entry block of the function that uses them, that of a parallel loop included.
// CHECK-LABEL: define internal void @local.par.0
// CHECK-NEXT:  entry:
// CHECK-NEXT:    %acc = alloca [16 x float], align 64
// CHECK-LABEL: define void @local(
// CHECK-NEXT:  entry:
// CHECK-NOT:     alloca [
// CHECK:         ret void
loop.kernel @local outs(%y: memref<4xf32>) {
  loop.for %i = 0 to 4 "i" parallel {
    %acc = memref.alloca() : memref<1x4x4xf32, "register">
    %v = loop.load %acc[0, 1, 2] : memref<1x4x4xf32, "register">
    loop.store %v, %y[%i] : memref<4xf32>
  }
}

// Booleans are bytes in memory.
// CHECK-LABEL: define void @booleans
// CHECK:         %[[BYTE:.*]] = load i8, ptr %x, align 1
// CHECK-NEXT:    %[[BIT:.*]] = trunc i8 %[[BYTE]] to i1
// CHECK-NEXT:    %[[BACK:.*]] = zext i1 %[[BIT]] to i8
// CHECK-NEXT:    store i8 %[[BACK]], ptr %y, align 1
loop.kernel @booleans ins(%x: memref<4xi1>) outs(%y: memref<4xi1>) {
  %v = loop.load %x[0] : memref<4xi1>
  loop.store %v, %y[0] : memref<4xi1>
}

// An output that may overwrite an input, as its caller sees fit, is not declared apart from it.
// CHECK-LABEL: define void @in_place(ptr %x, ptr noalias %w, ptr %y, i32 %num_threads)
loop.kernel @in_place ins(%x: memref<4xf32>, %w: memref<5xf32>) outs(%y: memref<4xf32>) {
  loop.for %i = 0 to 4 "i" {
    %v = loop.load %x[%i] : memref<4xf32>
    loop.store %v, %y[%i] : memref<4xf32>
  }
}

// A prefetch: for reading, into all caches or all but the nearest. The address may lie outside, so it is not inbounds.
// CHECK-LABEL: define void @prefetch(
// CHECK:         %[[P:.*]] = getelementptr float, ptr %x, i64
// CHECK-NEXT:    call void @llvm.prefetch.p0(ptr %[[P]], i32 0, i32 3, i32 1)
// CHECK:         call void @llvm.prefetch.p0(ptr %{{.*}}, i32 0, i32 2, i32 1)
loop.kernel @prefetch ins(%x: memref<8x64xf32>) {
  loop.for %i = 0 to 8 "i" {
    loop.prefetch %x[%i + 2, 16] : memref<8x64xf32>
    loop.prefetch %x[%i + 4, 16] locality 2 : memref<8x64xf32>
  }
}

// The bytes of 4-bit integers are where these are.
// CHECK-LABEL: define void @bytes(ptr noalias %x, ptr noalias %y, i32 %num_threads)
// CHECK:         %[[B:.*]] = load <2 x i8>, ptr %x, align 1
// CHECK-NEXT:    store <2 x i8> %[[B]], ptr %y, align 1
loop.kernel @bytes ins(%x: memref<4xi4>) outs(%y: memref<2xi8>) {
  %b = loop.bytes %x : memref<4xi4> to memref<2xi8>
  %v = loop.load %b[0] : memref<2xi8>, vector<2xi8>
  loop.store %v, %y[0] : memref<2xi8>, vector<2xi8>
}
