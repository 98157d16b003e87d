// RUN: opt-tool %s --target='llvm -mcpu=znver4 -num-cores=2' -p choose-algorithms | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=znver4 -num-cores=2' -p 'choose-algorithms{precision=strict}' | filecheck %s --check-prefix=STRICT

// A row waits for the weights: these become shorter; a little where results are to be as good as a plain sum's.
// CHECK-LABEL: func.func @row
// CHECK:         [[U:%[a-z0-9_]+]] = graph.packed_float_weight %w {bits = 24 : i64} : (tensor<1000x4096xf32>) -> tensor<16x4097x3x16xi32>
// CHECK-NEXT:    graph.fused "dense_relu" (%x, [[U]])
// CHECK:           graph.packed_float_dense %{{.*}} {outputs = 1000 : i64}
// CHECK-NEXT:      graph.relu
// STRICT-LABEL: func.func @row
// STRICT:         graph.packed_float_weight %w {bits = 28 : i64} : (tensor<1000x4096xf32>) -> tensor<8x4097x7x16xi32>
func.func @row(%x: tensor<1x4096xf32>) -> tensor<1x1000xf32> {
  %w = graph.parameter @row_w : tensor<1000x4096xf32>
  %y = graph.fused "dense_relu" (%x, %w) : (tensor<1x4096xf32>, tensor<1000x4096xf32>) -> (tensor<1x1000xf32>) {
  ^bb0(%a: tensor<1x4096xf32>, %b: tensor<1000x4096xf32>):
    %c = graph.dense %a, %b : (tensor<1x4096xf32>, tensor<1000x4096xf32>) -> tensor<1x1000xf32>
    %r = graph.relu %c : (tensor<1x1000xf32>) -> tensor<1x1000xf32>
    graph.yield %r : tensor<1x1000xf32>
  }
  func.return %y : tensor<1x1000xf32>
}

// A few weights stay in a cache.
// CHECK-LABEL: func.func @small
// CHECK-NOT:     packed_float
func.func @small(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %w = graph.parameter @small_w : tensor<64x64xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<1x64xf32>, tensor<64x64xf32>) -> (tensor<1x64xf32>) {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<64x64xf32>):
    %c = graph.dense %a, %b : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
    graph.yield %c : tensor<1x64xf32>
  }
  func.return %y : tensor<1x64xf32>
}

// The results of many rows are not all in registers, and multiplying takes longer than reading.
// CHECK-LABEL: func.func @rows
// CHECK-NOT:     packed_float
func.func @rows(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %w = graph.parameter @rows_w : tensor<1024x1024xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> (tensor<64x1024xf32>) {
  ^bb0(%a: tensor<64x1024xf32>, %b: tensor<1024x1024xf32>):
    %c = graph.dense %a, %b : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
    graph.yield %c : tensor<64x1024xf32>
  }
  func.return %y : tensor<64x1024xf32>
}

// Of few channels, sums of floats are more accurate than those of weights of 28 bits.
// CHECK-LABEL: func.func @short
// CHECK:         packed_float_weight %w {bits = 24 : i64}
// STRICT-LABEL: func.func @short
// STRICT-NOT:     packed_float
func.func @short(%x: tensor<1x255xf32>) -> tensor<1x16384xf32> {
  %w = graph.parameter @short_w : tensor<16384x255xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<1x255xf32>, tensor<16384x255xf32>) -> (tensor<1x16384xf32>) {
  ^bb0(%a: tensor<1x255xf32>, %b: tensor<16384x255xf32>):
    %c = graph.dense %a, %b : (tensor<1x255xf32>, tensor<16384x255xf32>) -> tensor<1x16384xf32>
    graph.yield %c : tensor<1x16384xf32>
  }
  func.return %y : tensor<1x16384xf32>
}
