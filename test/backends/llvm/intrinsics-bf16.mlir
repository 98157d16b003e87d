// RUN: opt-tool %s --target='llvm -mcpu=sapphirerapids -mtriple=x86_64-linux-gnu' -t llvmir | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=sapphirerapids -mtriple=x86_64-linux-gnu' -t asm | filecheck %s --check-prefix=RAPIDS
// RUN: opt-tool %s --target='llvm -mcpu=sapphirerapids -mtriple=x86_64-linux-gnu -mattr=-avx512vl' -t asm | filecheck %s --check-prefix=WIDE
// RUN: opt-tool %s --target='llvm -mcpu=haswell -mtriple=x86_64-linux-gnu' -t llvmir | filecheck %s --check-prefix=HASWELL
// RUN: opt-tool %s --target='llvm -mcpu=haswell -mtriple=x86_64-linux-gnu' -t asm | filecheck %s --check-prefix=FMA
// RUN: opt-tool %s --target='llvm -mcpu=x86-64 -mtriple=x86_64-linux-gnu' -t llvmir | filecheck %s --check-prefix=BASE
// RUN: opt-tool %s --target='llvm -mcpu=neoverse-v1 -mtriple=aarch64-linux-gnu' -t llvmir | filecheck %s --check-prefix=ARM
// RUN: opt-tool %s --target='llvm -mcpu=neoverse-v1 -mtriple=aarch64-linux-gnu' -t asm | filecheck %s --check-prefix=BFDOT

// A sum that may be contracted takes the products in; they are in the order of x86 where floats are multiplied, too.
// CHECK-LABEL:   define void @summed
// CHECK:           %[[X:.*]] = bitcast <4 x i32> %xv to <8 x bfloat>
// CHECK-NEXT:      %[[W:.*]] = bitcast <4 x i32> %wv to <8 x bfloat>
// CHECK-NEXT:      %[[SUM:.*]] = call <4 x float> @llvm.x86.avx512bf16.dpbf16ps.128(<4 x float> %av, <8 x bfloat> %[[X]], <8 x bfloat> %[[W]])
// CHECK-NEXT:      store <4 x float> %[[SUM]], ptr %y
// RAPIDS-LABEL:  summed:
// RAPIDS:          vmovups (%rdx), %[[SUM:.*]]
// RAPIDS-NEXT:     vdpbf16ps (%rsi), %xmm{{.*}}, %[[SUM]]
// RAPIDS-NEXT:     vmovups %[[SUM]], (%rcx)
// WIDE-LABEL:    summed:
// WIDE-NOT:        vdpbf16ps
// WIDE:            retq
// HASWELL-LABEL: define void @summed
// HASWELL:         %[[X1:.*]] = and <4 x i32> %xv, splat (i32 -65536)
// HASWELL-NEXT:    %[[W1:.*]] = and <4 x i32> %wv, splat (i32 -65536)
// HASWELL-NEXT:    %[[XF1:.*]] = bitcast <4 x i32> %[[X1]] to <4 x float>
// HASWELL-NEXT:    %[[WF1:.*]] = bitcast <4 x i32> %[[W1]] to <4 x float>
// HASWELL-NEXT:    %[[HALF:.*]] = call <4 x float> @llvm.fma.v4f32(<4 x float> %[[XF1]], <4 x float> %[[WF1]], <4 x float> %av)
// HASWELL-NEXT:    %[[X0:.*]] = shl <4 x i32> %xv, splat (i32 16)
// HASWELL-NEXT:    %[[W0:.*]] = shl <4 x i32> %wv, splat (i32 16)
// HASWELL-NEXT:    %[[XF0:.*]] = bitcast <4 x i32> %[[X0]] to <4 x float>
// HASWELL-NEXT:    %[[WF0:.*]] = bitcast <4 x i32> %[[W0]] to <4 x float>
// HASWELL-NEXT:    call <4 x float> @llvm.fma.v4f32(<4 x float> %[[XF0]], <4 x float> %[[WF0]], <4 x float> %[[HALF]])
// FMA-LABEL:     summed:
// FMA-COUNT-2:     vfmadd
// FMA-NOT:         vfmadd
// FMA:             retq
// BASE-LABEL:    define void @summed
// BASE:            %[[P1:.*]] = fmul <4 x float>
// BASE-NEXT:       %[[HALF:.*]] = fadd <4 x float> %av, %[[P1]]
// BASE:            %[[P0:.*]] = fmul <4 x float>
// BASE-NEXT:       fadd <4 x float> %[[HALF]], %[[P0]]
// ARM-LABEL:     define void @summed
// ARM:             %[[X:.*]] = bitcast <4 x i32> %xv to <8 x bfloat>
// ARM-NEXT:        %[[W:.*]] = bitcast <4 x i32> %wv to <8 x bfloat>
// ARM-NEXT:        call <4 x float> @llvm.aarch64.neon.bfdot.v4f32.v8bf16(<4 x float> %av, <8 x bfloat> %[[X]], <8 x bfloat> %[[W]])
// BFDOT-LABEL:   summed:
// BFDOT:           bfdot v{{[0-9]+}}.4s, v{{[0-9]+}}.8h, v{{[0-9]+}}.8h
// BFDOT-NEXT:      str
loop.kernel @summed ins(%x: memref<4xi32>, %w: memref<4xi32>, %a: memref<4xf32>) outs(%y: memref<4xf32>) {
  %xv = loop.load %x[0] : memref<4xi32>, vector<4xi32>
  %wv = loop.load %w[0] : memref<4xi32>, vector<4xi32>
  %av = loop.load %a[0] : memref<4xf32>, vector<4xf32>
  %d = loop.call_intrinsic @bf16.dot(%xv, %wv) : (vector<4xi32>, vector<4xi32>) -> vector<4xf32>
  %s = arith.addf %av, %d fastmath<contract> : vector<4xf32>
  loop.store %s, %y[0] : memref<4xf32>, vector<4xf32>
}

// Another sum stands alone. Products are added to -0.0, which changes none.
// CHECK-LABEL:   define void @rounded
// CHECK:           %[[DOT:.*]] = call <4 x float> @llvm.x86.avx512bf16.dpbf16ps.128(<4 x float> splat (float 0x8000000000000000), <8 x bfloat>
// CHECK-NEXT:      %s = fadd <4 x float> %av, %[[DOT]]
// HASWELL-LABEL: define void @rounded
// HASWELL:         %[[P1:.*]] = fmul <4 x float>
// HASWELL:         %[[DOT:.*]] = call <4 x float> @llvm.fma.v4f32(<4 x float> %{{.*}}, <4 x float> %{{.*}}, <4 x float> %[[P1]])
// HASWELL-NEXT:    %s = fadd <4 x float> %av, %[[DOT]]
loop.kernel @rounded ins(%x: memref<4xi32>, %w: memref<4xi32>, %a: memref<4xf32>) outs(%y: memref<4xf32>) {
  %xv = loop.load %x[0] : memref<4xi32>, vector<4xi32>
  %wv = loop.load %w[0] : memref<4xi32>, vector<4xi32>
  %av = loop.load %a[0] : memref<4xf32>, vector<4xf32>
  %d = loop.call_intrinsic @bf16.dot(%xv, %wv) : (vector<4xi32>, vector<4xi32>) -> vector<4xf32>
  %s = arith.addf %av, %d : vector<4xf32>
  loop.store %s, %y[0] : memref<4xf32>, vector<4xf32>
}

// The products of a sum that only another one reads are added one by one.
// CHECK-LABEL:   define void @twice
// CHECK:           %[[FIRST:.*]] = call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(<16 x float> %av,
// CHECK:           %[[SECOND:.*]] = call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(<16 x float> %[[FIRST]],
// CHECK-NEXT:      store <16 x float> %[[SECOND]], ptr %y
// RAPIDS-LABEL:  twice:
// RAPIDS-COUNT-2:  vdpbf16ps
// RAPIDS-NOT:      vaddps
// RAPIDS:          retq
loop.kernel @twice ins(%x: memref<16xi32>, %w: memref<16xi32>, %a: memref<16xf32>) outs(%y: memref<16xf32>) {
  %xv = loop.load %x[0] : memref<16xi32>, vector<16xi32>
  %wv = loop.load %w[0] : memref<16xi32>, vector<16xi32>
  %av = loop.load %a[0] : memref<16xf32>, vector<16xf32>
  %d = loop.call_intrinsic @bf16.dot(%xv, %wv) : (vector<16xi32>, vector<16xi32>) -> vector<16xf32>
  %e = loop.call_intrinsic @bf16.dot(%xv, %xv) : (vector<16xi32>, vector<16xi32>) -> vector<16xf32>
  %t = arith.addf %d, %e fastmath<contract> : vector<16xf32>
  %s = arith.addf %t, %av fastmath<contract> : vector<16xf32>
  loop.store %s, %y[0] : memref<16xf32>, vector<16xf32>
}

// Eight lanes are an instruction of x86, two are one of Arm; a number alone, and any other count, is none.
// RAPIDS-LABEL:  eight:
// RAPIDS:          vdpbf16ps {{.*}}%ymm
// ARM-LABEL:     define void @eight
// ARM-NOT:         bfdot
// ARM:             call <8 x float> @llvm.fma.v8f32
loop.kernel @eight ins(%x: memref<8xi32>) outs(%y: memref<8xf32>) {
  %xv = loop.load %x[0] : memref<8xi32>, vector<8xi32>
  %d = loop.call_intrinsic @bf16.dot(%xv, %xv) : (vector<8xi32>, vector<8xi32>) -> vector<8xf32>
  loop.store %d, %y[0] : memref<8xf32>, vector<8xf32>
}

// CHECK-LABEL:   define void @two
// CHECK-NOT:       dpbf16ps
// CHECK:           call <2 x float> @llvm.fma.v2f32
// ARM-LABEL:     define void @two
// ARM:             call <2 x float> @llvm.aarch64.neon.bfdot.v2f32.v4bf16(<2 x float> splat
loop.kernel @two ins(%x: memref<2xi32>) outs(%y: memref<2xf32>) {
  %xv = loop.load %x[0] : memref<2xi32>, vector<2xi32>
  %d = loop.call_intrinsic @bf16.dot(%xv, %xv) : (vector<2xi32>, vector<2xi32>) -> vector<2xf32>
  loop.store %d, %y[0] : memref<2xf32>, vector<2xf32>
}

// CHECK-LABEL:   define void @one
// CHECK-NOT:       dpbf16ps
// CHECK:           call float @llvm.fma.f32
// ARM-LABEL:     define void @one
// ARM-NOT:         bfdot
// ARM:             call float @llvm.fma.f32
loop.kernel @one ins(%x: memref<1xi32>) outs(%y: memref<1xf32>) {
  %xv = loop.load %x[0] : memref<1xi32>
  %d = loop.call_intrinsic @bf16.dot(%xv, %xv) : (i32, i32) -> f32
  loop.store %d, %y[0] : memref<1xf32>
}

// Rounding is one instruction of x86, which vectors shorter than the longest need an extension for.
// RAPIDS-LABEL:  narrow:
// RAPIDS:          vcvtneps2bf16
// WIDE-LABEL:    narrow:
// WIDE-NOT:        vcvtneps2bf16
// WIDE:            retq
loop.kernel @narrow ins(%x: memref<8xf32>) outs(%y: memref<8xbf16>) {
  %xv = loop.load %x[0] : memref<8xf32>, vector<8xf32>
  %r = loop.call_intrinsic @bf16.round(%xv) : (vector<8xf32>) -> vector<8xbf16>
  loop.store %r, %y[0] : memref<8xbf16>, vector<8xbf16>
}
