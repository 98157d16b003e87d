// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Operators that change the order of elements in memory.

// CHECK-LABEL: func.func @layouts
func.func @layouts(%w: tensor<32x64x3xf32>) -> tensor<32x64x3xf32> {
  // CHECK: graph.pack %w {axis = 0 : i64, block = 16 : i64} : (tensor<32x64x3xf32>) -> tensor<2x64x3x16xf32>
  %0 = graph.pack %w {axis = 0 : i64, block = 16 : i64} : (tensor<32x64x3xf32>) -> tensor<2x64x3x16xf32>
  // Blocks of blocks.
  // CHECK: graph.pack %{{.*}} {axis = 1 : i64, block = 8 : i64} : (tensor<2x64x3x16xf32>) -> tensor<2x8x3x16x8xf32>
  %1 = graph.pack %0 {axis = 1 : i64, block = 8 : i64} : (tensor<2x64x3x16xf32>) -> tensor<2x8x3x16x8xf32>
  // CHECK: graph.unpack %{{.*}} {axis = 1 : i64, size = 64 : i64} : (tensor<2x8x3x16x8xf32>) -> tensor<2x64x3x16xf32>
  %2 = graph.unpack %1 {axis = 1 : i64, size = 64 : i64} : (tensor<2x8x3x16x8xf32>) -> tensor<2x64x3x16xf32>
  // CHECK: graph.unpack %{{.*}} {axis = 0 : i64, size = 32 : i64} : (tensor<2x64x3x16xf32>) -> tensor<32x64x3xf32>
  %3 = graph.unpack %2 {axis = 0 : i64, size = 32 : i64} : (tensor<2x64x3x16xf32>) -> tensor<32x64x3xf32>
  func.return %3 : tensor<32x64x3xf32>
}

// Zeros fill the last block.
// CHECK-LABEL: func.func @rest
func.func @rest(%w: tensor<40x64xf32>) -> tensor<40x64xf32> {
  // CHECK: graph.pack %w {axis = 0 : i64, block = 16 : i64} : (tensor<40x64xf32>) -> tensor<3x64x16xf32>
  %0 = graph.pack %w {axis = 0 : i64, block = 16 : i64} : (tensor<40x64xf32>) -> tensor<3x64x16xf32>
  // CHECK: graph.unpack %{{.*}} {axis = 0 : i64, size = 40 : i64} : (tensor<3x64x16xf32>) -> tensor<40x64xf32>
  %1 = graph.unpack %0 {axis = 0 : i64, size = 40 : i64} : (tensor<3x64x16xf32>) -> tensor<40x64xf32>
  func.return %1 : tensor<40x64xf32>
}

// Four bytes of an axis are a word.
// CHECK-LABEL: func.func @words
func.func @words(%x: tensor<1x64x28x28xui8>, %w: tensor<32x64xi8>) -> (tensor<1x16x28x28xi32>, tensor<32x16xi32>) {
  // CHECK: graph.words %x {axis = 1 : i64} : (tensor<1x64x28x28xui8>) -> tensor<1x16x28x28xi32>
  %0 = graph.words %x {axis = 1 : i64} : (tensor<1x64x28x28xui8>) -> tensor<1x16x28x28xi32>
  // CHECK: graph.words %w {axis = 1 : i64} : (tensor<32x64xi8>) -> tensor<32x16xi32>
  %1 = graph.words %w {axis = 1 : i64} : (tensor<32x64xi8>) -> tensor<32x16xi32>
  func.return %0, %1 : tensor<1x16x28x28xi32>, tensor<32x16xi32>
}

// Four bytes of each word, along an axis of their own.
// CHECK-LABEL: func.func @bytes
func.func @bytes(%x: tensor<2x8xi32>) -> tensor<4x2x8xui8> {
  // CHECK: graph.bytes %x : (tensor<2x8xi32>) -> tensor<4x2x8xui8>
  %0 = graph.bytes %x : (tensor<2x8xi32>) -> tensor<4x2x8xui8>
  func.return %0 : tensor<4x2x8xui8>
}
