// RUN: opt-tool %s --target='llvm -mcpu=znver5' -p graph-keep-quantized-blocks | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver5' -p graph-keep-quantized-blocks --check-semantics | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver5' --apply-pattern graph-keep-quantized-blocks.multiply-quantized-blocks | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver5' -p 'graph-keep-quantized-blocks{precision=direct}' | filecheck %s --check-prefix=OTHERS
// RUN: opt-tool %s --target='cuda -arch=sm_80' -p graph-keep-quantized-blocks | filecheck %s --check-prefix=OTHERS

// One row, and an open number of rows, read a weight of 4 bits.
// CHECK-LABEL: func.func @rows
// CHECK:         [[U:%[a-z0-9_]+]] = graph.block_quantized_weight %q, %s {bits = 4 : i64, block = 32 : i64} : (tensor<1100x1000xi8>, tensor<1100x32xf32>) -> tensor<18x32x5x64xi32>
// CHECK-NEXT:    graph.block_quantized_dense %x, [[U]] {bits = 4 : i64, block = 32 : i64, outputs = 1100 : i64} : (tensor<1x1000xf32>, tensor<18x32x5x64xi32>) -> tensor<1x1100xf32>
// CHECK:         graph.block_quantized_dense %n, {{.*}} -> tensor<?x1100xf32, #graph.dims<[N, 1100]>>
// OTHERS-LABEL: func.func @rows
// OTHERS-NOT:     graph.block_quantized_dense
func.func @rows(%x: tensor<1x1000xf32>, %n: tensor<?x1000xf32, #graph.dims<[N, 1000]>>) -> (tensor<1x1100xf32>, tensor<?x1100xf32, #graph.dims<[N, 1100]>>) {
  %q = graph.parameter @rows_q : tensor<1100x1000xi8>
  %s = graph.parameter @rows_s : tensor<1100x32xf32>
  %w = graph.dequantize %q, %s {bits = 4 : i64, block = 32 : i64} : (tensor<1100x1000xi8>, tensor<1100x32xf32>) -> tensor<1100x1000xf32>
  %y = graph.dense %x, %w : (tensor<1x1000xf32>, tensor<1100x1000xf32>) -> tensor<1x1100xf32>
  %m = graph.dense %n, %w : (tensor<?x1000xf32, #graph.dims<[N, 1000]>>, tensor<1100x1000xf32>) -> tensor<?x1100xf32, #graph.dims<[N, 1100]>>
  func.return %y, %m : tensor<1x1100xf32>, tensor<?x1100xf32, #graph.dims<[N, 1100]>>
}

// A weight whose columns are blocks is transposed twice: once so that it is in rows, and once for the layer.
// CHECK-LABEL: func.func @columns
// CHECK:         graph.block_quantized_dense %x, {{.*}} zeros} : (tensor<2x1024xf32>, tensor<16x64x4x64xi32>)
func.func @columns(%x: tensor<2x1024xf32>) -> tensor<2x1024xf32> {
  %q = graph.parameter @columns_q : tensor<1024x1024xi8>
  %s = graph.parameter @columns_s : tensor<1024x64xf32>
  %z = graph.parameter @columns_z : tensor<1024x64xf32>
  %0 = graph.dequantize %q, %s, %z {bits = 4 : i64, block = 16 : i64} : (tensor<1024x1024xi8>, tensor<1024x64xf32>, tensor<1024x64xf32>) -> tensor<1024x1024xf32>
  %1 = graph.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %w = graph.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %y = graph.dense %x, %w : (tensor<2x1024xf32>, tensor<1024x1024xf32>) -> tensor<2x1024xf32>
  func.return %y : tensor<2x1024xf32>
}

// Weights become floats that stay in a core's cache, for many rows, in blocks that fill no words, or where a caller
// passes them; a vector is no row.
// CHECK-LABEL: func.func @floats
// CHECK-NOT:     block_quantized
func.func @floats(%x: tensor<1x64xf32>, %many: tensor<65x1024xf32>, %row: tensor<1x1024xf32>, %q: tensor<1024x1024xi8>, %vector: tensor<1024xf32>) -> (tensor<1x64xf32>, tensor<65x1024xf32>, tensor<1x1024xf32>, tensor<1x1024xf32>, tensor<1024xf32>) {
  %p = graph.parameter @small_q : tensor<64x64xi8>
  %t = graph.parameter @small_s : tensor<64x2xf32>
  %0 = graph.dequantize %p, %t {bits = 4 : i64, block = 32 : i64} : (tensor<64x64xi8>, tensor<64x2xf32>) -> tensor<64x64xf32>
  %1 = graph.dense %x, %0 : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %r = graph.parameter @large_q : tensor<1024x1024xi8>
  %s = graph.parameter @large_s : tensor<1024x32xf32>
  %2 = graph.dequantize %r, %s {bits = 4 : i64, block = 32 : i64} : (tensor<1024x1024xi8>, tensor<1024x32xf32>) -> tensor<1024x1024xf32>
  %3 = graph.dense %many, %2 : (tensor<65x1024xf32>, tensor<1024x1024xf32>) -> tensor<65x1024xf32>
  %u = graph.parameter @short_s : tensor<1024x256xf32>
  %4 = graph.dequantize %r, %u {bits = 4 : i64, block = 4 : i64} : (tensor<1024x1024xi8>, tensor<1024x256xf32>) -> tensor<1024x1024xf32>
  %5 = graph.dense %row, %4 : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  %6 = graph.dequantize %q, %s {bits = 4 : i64, block = 32 : i64} : (tensor<1024x1024xi8>, tensor<1024x32xf32>) -> tensor<1024x1024xf32>
  %7 = graph.dense %row, %6 : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
  %8 = graph.dense %vector, %2 : (tensor<1024xf32>, tensor<1024x1024xf32>) -> tensor<1024xf32>
  func.return %1, %3, %5, %7, %8 : tensor<1x64xf32>, tensor<65x1024xf32>, tensor<1x1024xf32>, tensor<1x1024xf32>, tensor<1024xf32>
}
