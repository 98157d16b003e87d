// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// One on scalars; snippets name its arguments, whatever values are called.
// CHECK-LABEL: te.intrinsic @my.low(%x: f32, %limit: f32) -> f32 attributes
// CHECK-SAME:    cost = 2.000000e+00 : f64
// CHECK-SAME:    c = ["float $_less = $x;", "$_less < $limit ? $x : $limit"]
te.intrinsic @my.low(%x: f32, %limit: f32) -> f32 attributes {cost = 2.0 : f64, snippets = {
  llvm = "call $type @llvm.minimum.$suffix($type $x, $type $limit)",
  c = ["float $_less = $x;", "$_less < $limit ? $x : $limit"]
}} {
  %y = arith.minimumf %x, %limit : f32
  te.yield %y : f32
}

// Those on tensors: what fills a tile, and what adds products to it; arguments without a name have numbers.
// CHECK-LABEL: te.intrinsic @my.fill() -> tensor<4x8xi32> attributes {buffers = [memref<4x8xi32, strided<[8, 1]>, "acc">]} {
te.intrinsic @my.fill() -> tensor<4x8xi32> attributes {buffers = [memref<4x8xi32, strided<[8, 1]>, "acc">]} {
  %y = te.compute "fill" [i: 4, j: 8] : tensor<4x8xi32> {
    %zero = arith.constant 0 : i32
    te.yield %zero : i32
  }
  te.return %y : tensor<4x8xi32>
}

// CHECK-LABEL: te.intrinsic @my.gemm(%arg0: tensor<4x2xi8>, %arg1: tensor<2x8xi8>) -> tensor<4x8xi32> attributes
// CHECK-SAME:    accumulates, buffers = [memref<4x2xi8, strided<[?, 1]>, "inp">, memref<2x8xi8>, memref<4x8xi32, strided<[8, 1]>, "acc">], reset = @my.fill
te.intrinsic @my.gemm(%0: tensor<4x2xi8>, %1: tensor<2x8xi8>) -> tensor<4x8xi32> attributes {
  accumulates, reset = @my.fill,
  buffers = [memref<4x2xi8, strided<[?, 1]>, "inp">, memref<2x8xi8>, memref<4x8xi32, strided<[8, 1]>, "acc">]
} {
  %y = te.compute "sum" [i: 4, j: 8] reduce [k: 2] : tensor<4x8xi32> {
    %a = te.read %0[i, k] : tensor<4x2xi8>
    %b = te.read %1[k, j] : tensor<2x8xi8>
    %aw = arith.extsi %a : i8 to i32
    %bw = arith.extsi %b : i8 to i32
    %p = arith.muli %aw, %bw : i32
    te.reduce add %p : i32
  }
  te.return %y : tensor<4x8xi32>
}

// CHECK-LABEL: te.kernel @k
// CHECK:         %{{.*}} = te.call_intrinsic @my.low(%v, %two) : (f32, f32) -> f32
te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    %two = arith.constant 2.0 : f32
    %w = te.call_intrinsic @my.low(%v, %two) : (f32, f32) -> f32
    te.yield %w : f32
  }
  te.return %y : tensor<8xf32>
}

// The library's intrinsics need no declaration.
// CHECK-LABEL: te.kernel @library
te.kernel @library(%x: tensor<8xi32>) -> tensor<8xi32> {
  %y = te.compute "y" [i: 8] : tensor<8xi32> {
    %v = te.read %x[i] : tensor<8xi32>
    // CHECK: te.call_intrinsic @dot4.ui8i8(%v, %v) : (i32, i32) -> i32
    %w = te.call_intrinsic @dot4.ui8i8(%v, %v) : (i32, i32) -> i32
    te.yield %w : i32
  }
  te.return %y : tensor<8xi32>
}
