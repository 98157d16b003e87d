// RUN: opt-tool %s --target='llvm -mcpu=sapphirerapids -cache-sizes=49152,2097152,33554432' -p choose-algorithms | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=sapphirerapids -cache-sizes=49152,2097152,33554432' -p 'choose-algorithms{precision=strict}' | filecheck %s --check-prefix=STRICT
// RUN: opt-tool %s --target='llvm -mcpu=icelake-server -cache-sizes=49152,2097152,33554432' -p choose-algorithms | filecheck %s --check-prefix=NO-TILES

// Where the machine multiplies tiles of bfloat16, floats are multiplied in two numbers of those, in three if results
// are to be as good as those of a plain sum.
// CHECK-LABEL: func.func @dense
// CHECK:         [[U:%[a-z0-9_]+]] = graph.bf16x_weight %w {numbers = 2 : i64, tile = array<i64: 16, 16, 2>} : (tensor<1000x512xf32>) -> tensor<63x16x2x16x16x2xbf16>
// CHECK-NEXT:    graph.fused "dense_relu" (%x, [[U]])
// CHECK:           graph.bf16x_dense %{{.*}} {outputs = 1000 : i64, rows = 16 : i64}
// CHECK-NEXT:      graph.relu
// STRICT-LABEL: func.func @dense
// STRICT:         graph.bf16x_weight %w {numbers = 3 : i64, tile = array<i64: 16, 16, 2>}
// NO-TILES-NOT:   bf16x
func.func @dense(%x: tensor<128x512xf32>) -> tensor<128x1000xf32> {
  %w = graph.parameter @dense_w : tensor<1000x512xf32>
  %y = graph.fused "dense_relu" (%x, %w) : (tensor<128x512xf32>, tensor<1000x512xf32>) -> (tensor<128x1000xf32>) {
  ^bb0(%a: tensor<128x512xf32>, %b: tensor<1000x512xf32>):
    %c = graph.dense %a, %b : (tensor<128x512xf32>, tensor<1000x512xf32>) -> tensor<128x1000xf32>
    %r = graph.relu %c : (tensor<128x1000xf32>) -> tensor<128x1000xf32>
    graph.yield %r : tensor<128x1000xf32>
  }
  func.return %y : tensor<128x1000xf32>
}

// A single row would leave most of a tile empty.
// CHECK-LABEL: func.func @row
// CHECK-NOT:     bf16x
func.func @row(%x: tensor<1x512xf32>) -> tensor<1x1024xf32> {
  %w = graph.parameter @row_w : tensor<1024x512xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<1x512xf32>, tensor<1024x512xf32>) -> (tensor<1x1024xf32>) {
  ^bb0(%a: tensor<1x512xf32>, %b: tensor<1024x512xf32>):
    %c = graph.dense %a, %b : (tensor<1x512xf32>, tensor<1024x512xf32>) -> tensor<1x1024xf32>
    graph.yield %c : tensor<1x1024xf32>
  }
  func.return %y : tensor<1x1024xf32>
}

// Of rows nobody needs to know how many there are.
// CHECK-LABEL: func.func @open
// CHECK:         graph.bf16x_dense %{{.*}} {outputs = 1000 : i64, rows = 16 : i64} : (tensor<?x512xf32, #graph.dims<[N, 512]>>
func.func @open(%x: tensor<?x512xf32, #graph.dims<[N, 512]>>) -> tensor<?x1000xf32, #graph.dims<[N, 1000]>> {
  %w = graph.parameter @open_w : tensor<1000x512xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<?x512xf32, #graph.dims<[N, 512]>>, tensor<1000x512xf32>) -> (tensor<?x1000xf32, #graph.dims<[N, 1000]>>) {
  ^bb0(%a: tensor<?x512xf32, #graph.dims<[N, 512]>>, %b: tensor<1000x512xf32>):
    %c = graph.dense %a, %b : (tensor<?x512xf32, #graph.dims<[N, 512]>>, tensor<1000x512xf32>) -> tensor<?x1000xf32, #graph.dims<[N, 1000]>>
    graph.yield %c : tensor<?x1000xf32, #graph.dims<[N, 1000]>>
  }
  func.return %y : tensor<?x1000xf32, #graph.dims<[N, 1000]>>
}

// CHECK-LABEL: func.func @open_sequence
// CHECK:         graph.bf16x_dense %{{.*}} {outputs = 1000 : i64, rows = 16 : i64} : (tensor<1x?x512xf32, #graph.dims<[1, S, 512]>>
func.func @open_sequence(%x: tensor<1x?x512xf32, #graph.dims<[1, S, 512]>>) -> tensor<1x?x1000xf32, #graph.dims<[1, S, 1000]>> {
  %w = graph.parameter @sequence_w : tensor<1000x512xf32>
  %y = graph.fused "dense" (%x, %w) : (tensor<1x?x512xf32, #graph.dims<[1, S, 512]>>, tensor<1000x512xf32>) -> (tensor<1x?x1000xf32, #graph.dims<[1, S, 1000]>>) {
  ^bb0(%a: tensor<1x?x512xf32, #graph.dims<[1, S, 512]>>, %b: tensor<1000x512xf32>):
    %c = graph.dense %a, %b : (tensor<1x?x512xf32, #graph.dims<[1, S, 512]>>, tensor<1000x512xf32>) -> tensor<1x?x1000xf32, #graph.dims<[1, S, 1000]>>
    graph.yield %c : tensor<1x?x1000xf32, #graph.dims<[1, S, 1000]>>
  }
  func.return %y : tensor<1x?x1000xf32, #graph.dims<[1, S, 1000]>>
}
