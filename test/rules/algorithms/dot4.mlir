// RUN: opt-tool %s --target='llvm -mcpu=icelake-server' -p choose-algorithms,cse | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=icelake-server' -p 'choose-algorithms{precision=strict},cse' | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p choose-algorithms | filecheck %s --check-prefix=NONE
// RUN: opt-tool %s --target='llvm -mcpu=icelake-server' -p choose-algorithms,cse,graph-fold-parameters,graph-to-te | filecheck %s --check-prefix=HOST

// Without instructions for them, words are no gain.
// NONE-NOT: words

// Bytes of rows are words in the same memory.
// CHECK-LABEL: func.func @rows
// CHECK:         %[[W:.*]] = graph.words %w {axis = 1 : i64} : (tensor<64x256xi8>) -> tensor<64x64xi32>
// CHECK:         %[[V:.*]] = graph.words %x {axis = 1 : i64, graph.view} : (tensor<?x256xui8, #graph.dims<[N, 256]>>) -> tensor<?x64xi32, #graph.dims<[N, 64]>>
// CHECK:         graph.fused "dense" (%[[V]], %[[W]])
// CHECK:           graph.dense %{{.*}}, %{{.*}} {words}
// HOST-LABEL: func.func @rows
// HOST:         %[[V:.*]] = loop.words %input0 : memref<?x256xui8> to memref<?x64xi32>
// HOST:         loop.call @dense ins(%[[V]], %{{.*}})
func.func @rows(%x: tensor<?x256xui8, #graph.dims<[N, 256]>>) -> tensor<?x64xi32, #graph.dims<[N, 64]>> {
  %w = graph.parameter @rows_w : tensor<64x256xi8>
  %y = graph.fused "dense" (%x, %w) : (tensor<?x256xui8, #graph.dims<[N, 256]>>, tensor<64x256xi8>) -> (tensor<?x64xi32, #graph.dims<[N, 64]>>) {
  ^bb0(%a: tensor<?x256xui8, #graph.dims<[N, 256]>>, %b: tensor<64x256xi8>):
    %d = graph.dense %a, %b : (tensor<?x256xui8, #graph.dims<[N, 256]>>, tensor<64x256xi8>) -> tensor<?x64xi32, #graph.dims<[N, 64]>>
    graph.yield %d : tensor<?x64xi32, #graph.dims<[N, 64]>>
  }
  func.return %y : tensor<?x64xi32, #graph.dims<[N, 64]>>
}

// So are those of channels in blocks.
// CHECK-LABEL: func.func @blocks
// CHECK:         %[[V:.*]] = graph.words %x {axis = 4 : i64, graph.view} : (tensor<1x4x14x14x16xui8>) -> tensor<1x4x14x14x4xi32>
// CHECK:         graph.fused "conv" (%[[V]], %{{.*}})
// CHECK:           graph.unpack %{{.*}} {axis = 1 : i64, size = 16 : i64} : (tensor<1x4x14x14x4xi32>) -> tensor<1x16x14x14xi32>
// CHECK:           graph.conv %{{.*}}words} : (tensor<1x16x14x14xi32>, tensor<64x16x3x3xi32>) -> tensor<1x64x14x14xi32>
func.func @blocks(%x: tensor<1x4x14x14x16xui8>) -> tensor<1x64x14x14xi32> {
  %w = graph.parameter @blocks_w : tensor<64x64x3x3xi8>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x4x14x14x16xui8>, tensor<64x64x3x3xi8>) -> (tensor<1x64x14x14xi32>) {
  ^bb0(%a: tensor<1x4x14x14x16xui8>, %b: tensor<64x64x3x3xi8>):
    %u = graph.unpack %a {axis = 1 : i64, size = 64 : i64} : (tensor<1x4x14x14x16xui8>) -> tensor<1x64x14x14xui8>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x14x14xui8>, tensor<64x64x3x3xi8>) -> tensor<1x64x14x14xi32>
    graph.yield %c : tensor<1x64x14x14xi32>
  }
  func.return %y : tensor<1x64x14x14xi32>
}

// Others are put together by a kernel, once for all that read them; zeros fill the last word.
// CHECK-LABEL: func.func @apart
// CHECK:         %[[W:.*]] = graph.pad %w {pads = array<i64: 0, 0, 0, 0, 0, 1, 0, 0>, value = 0 : i8}
// CHECK:         %[[V:.*]] = graph.fused "words" (%x) : (tensor<1x3x30x30xui8>) -> (tensor<1x1x30x30xi32>)
// CHECK:           graph.pad
// CHECK:           graph.words
// CHECK:         graph.fused "conv" (%[[V]], %{{.*}})
// CHECK-NOT:     graph.fused "words"
// CHECK:         graph.fused "conv" (%[[V]], %{{.*}})
func.func @apart(%x: tensor<1x3x30x30xui8>) -> (tensor<1x64x28x28xi32>, tensor<1x64x28x28xi32>) {
  %w = graph.parameter @apart_w : tensor<64x3x3x3xi8>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x3x30x30xui8>, tensor<64x3x3x3xi8>) -> (tensor<1x64x28x28xi32>) {
  ^bb0(%a: tensor<1x3x30x30xui8>, %b: tensor<64x3x3x3xi8>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x30x30xui8>, tensor<64x3x3x3xi8>) -> tensor<1x64x28x28xi32>
    graph.yield %c : tensor<1x64x28x28xi32>
  }
  %v = graph.parameter @apart_v : tensor<64x3x3x3xi8>
  %z = graph.fused "conv" (%x, %v) : (tensor<1x3x30x30xui8>, tensor<64x3x3x3xi8>) -> (tensor<1x64x28x28xi32>) {
  ^bb0(%a: tensor<1x3x30x30xui8>, %b: tensor<64x3x3x3xi8>):
    %c = graph.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x30x30xui8>, tensor<64x3x3x3xi8>) -> tensor<1x64x28x28xi32>
    graph.yield %c : tensor<1x64x28x28xi32>
  }
  func.return %y, %z : tensor<1x64x28x28xi32>, tensor<1x64x28x28xi32>
}

// A part of each row of another tensor: where rows do not begin with whole words, words are those of a copy.
// HOST-LABEL: func.func @parts
// HOST:         loop.words %{{.*}} : memref<8x64xui8, strided<[132, 1], offset: 4>> to memref<8x16xi32, strided<[33, 1], offset: 1>>
// HOST:         %[[C:.*]] = memref.alloc() : memref<8x64xui8>
// HOST:         "memref.copy"(%{{.*}}, %[[C]])
// HOST:         loop.words %[[C]] : memref<8x64xui8> to memref<8x16xi32>
func.func @parts(%x: tensor<8x132xui8>) -> (tensor<8x64xi32>, tensor<8x64xi32>) {
  %w = graph.parameter @parts_w : tensor<64x64xi8>
  %whole = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 4>, stops = array<i64: 68>, steps = array<i64: 1>, graph.view} : (tensor<8x132xui8>) -> tensor<8x64xui8>
  %y = graph.fused "dense" (%whole, %w) : (tensor<8x64xui8>, tensor<64x64xi8>) -> (tensor<8x64xi32>) {
  ^bb0(%a: tensor<8x64xui8>, %b: tensor<64x64xi8>):
    %d = graph.dense %a, %b : (tensor<8x64xui8>, tensor<64x64xi8>) -> tensor<8x64xi32>
    graph.yield %d : tensor<8x64xi32>
  }
  %odd = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 3>, stops = array<i64: 67>, steps = array<i64: 1>, graph.view} : (tensor<8x132xui8>) -> tensor<8x64xui8>
  %z = graph.fused "dense" (%odd, %w) : (tensor<8x64xui8>, tensor<64x64xi8>) -> (tensor<8x64xi32>) {
  ^bb0(%a: tensor<8x64xui8>, %b: tensor<64x64xi8>):
    %d = graph.dense %a, %b : (tensor<8x64xui8>, tensor<64x64xi8>) -> tensor<8x64xi32>
    graph.yield %d : tensor<8x64xi32>
  }
  func.return %y, %z : tensor<8x64xi32>, tensor<8x64xi32>
}
