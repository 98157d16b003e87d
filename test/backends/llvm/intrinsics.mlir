// RUN: opt-tool %s --target='llvm -mcpu=haswell -mtriple=x86_64-linux-gnu' -t llvmir | filecheck %s

te.intrinsic @my.low(%x: f32, %limit: f32) -> f32 attributes {snippets = {
  llvm = "call $type @llvm.minimum.$suffix($type $x, $type $limit)"
}} {
  %y = arith.minimumf %x, %limit : f32
  te.yield %y : f32
}
te.intrinsic @my.sine(%x: f32) -> f32 attributes {snippets = {
  llvm = ["declare float @sinf(float)", "$_twice = fadd float $x, $x", "call float @sinf(float $_twice)"]
}} {
  %twice = arith.addf %x, %x : f32
  %y = math.sin %twice : f32
  te.yield %y : f32
}
te.intrinsic @my.cube(%x: f32) -> f32 {
  %s = arith.mulf %x, %x : f32
  %y = arith.mulf %s, %x : f32
  te.yield %y : f32
}

// A snippet that says the type is written for whole vectors, another lane by lane; without one, the meaning is written.
// CHECK-LABEL: define void @numbers
// CHECK:         %[[X:.*]] = load <2 x float>, ptr %x
// CHECK-NEXT:    %[[LOW:.*]] = call <2 x float> @llvm.minimum.v2f32(<2 x float> %[[X]], <2 x float> %[[X]])
// CHECK-NEXT:    %[[E0:.*]] = extractelement <2 x float> %[[LOW]], i64 0
// CHECK-NEXT:    %[[T0:.*]] = fadd float %[[E0]], %[[E0]]
// CHECK-NEXT:    %[[S0:.*]] = call float @sinf(float %[[T0]])
// CHECK-NEXT:    %[[R0:.*]] = insertelement <2 x float> poison, float %[[S0]], i64 0
// CHECK-NEXT:    %[[E1:.*]] = extractelement <2 x float> %[[LOW]], i64 1
// CHECK:         %[[R1:.*]] = insertelement <2 x float> %[[R0]], float %{{.*}}, i64 1
// CHECK-NEXT:    %[[SQUARE:.*]] = fmul <2 x float> %[[R1]], %[[R1]]
// CHECK-NEXT:    %[[CUBE:.*]] = fmul <2 x float> %[[SQUARE]], %[[R1]]
// CHECK-NEXT:    store <2 x float> %[[CUBE]], ptr %y
loop.kernel @numbers ins(%x: memref<2xf32>) outs(%y: memref<2xf32>) {
  %v = loop.load %x[0] : memref<2xf32>, vector<2xf32>
  %a = loop.call_intrinsic @my.low(%v, %v) : (vector<2xf32>, vector<2xf32>) -> vector<2xf32>
  %b = loop.call_intrinsic @my.sine(%a) : (vector<2xf32>) -> vector<2xf32>
  %c = loop.call_intrinsic @my.cube(%b) : (vector<2xf32>) -> vector<2xf32>
  loop.store %c, %y[0] : memref<2xf32>, vector<2xf32>
}

te.intrinsic @my.copy(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {snippets = {
  llvm = ["; $result $result_stride0 $result_stride1", "; $x $x_stride0 $x_stride1"]
}} {
  %y = te.compute "y" [i: 4, j: 8] : tensor<4x8xf32> {
    %v = te.read %x[i, j] : tensor<4x8xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4x8xf32>
}
te.intrinsic @my.clear() -> tensor<8xf32> attributes {
  buffers = [memref<8xf32, "bank">], snippets = {llvm = "; bank $result"}
} {
  %y = te.compute "y" [j: 8] : tensor<8xf32> {
    %zero = arith.constant 0.0 : f32
    te.yield %zero : f32
  }
  te.return %y : tensor<8xf32>
}

// Buffers are pointers, and strides numbers of elements; a register is its subscript.
// CHECK-LABEL: define void @buffers
// CHECK:         %[[TO:.*]] = getelementptr inbounds float, ptr %y, i64 3
// CHECK-NEXT:    ; %[[TO]] 16 1
// CHECK-NEXT:    ; %x 8 1
// CHECK-NEXT:    ; bank 8
loop.kernel @buffers ins(%x: memref<32xf32>) outs(%y: memref<100xf32>) {
  %bank = memref.alloca() : memref<16xf32, "bank">
  loop.intrinsic @my.copy writes %y[3] of [4, 8] strides [16, 1] from %x[0] of [4, 8] strides [8, 1] : memref<100xf32>, memref<32xf32>
  loop.intrinsic @my.clear writes %bank[8] of [8] strides [1] : memref<16xf32, "bank">
}

// CHECK:       declare float @sinf(float)
