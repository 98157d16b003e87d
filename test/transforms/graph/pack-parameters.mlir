// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p pack-parameters | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --apply-pattern pack-parameters.pack-operands | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p pack-parameters,graph-fold-parameters | filecheck %s --check-prefix=FOLDED

// Neighbouring outputs of a product with one row read weights that are 64 apart: they are put side by side. The input,
// which is no parameter, stays as it is.
// CHECK-LABEL: func.func @main
// CHECK:         %w = graph.parameter @w
// CHECK-NEXT:    [[P:%[a-z0-9_]+]] = graph.pack %w {axis = 0 : i64, block = [[B:[0-9]+]] : i64} : (tensor<96x64xf32>)
// CHECK-NEXT:    graph.fused "dense_relu" (%x, [[P]])
// CHECK-NEXT:    ^bb0({{.*}}: tensor<1x64xf32>, [[Q:%[a-z0-9_]+]]: tensor<{{[0-9]+}}x64x[[B]]xf32>):
// CHECK-NEXT:      [[W:%[a-z0-9_]+]] = graph.unpack [[Q]] {axis = 0 : i64, size = 96 : i64} : {{.*}} -> tensor<96x64xf32>
// CHECK-NEXT:      graph.dense %{{.*}}, [[W]]
// FOLDED-LABEL: func.func @main
// FOLDED:         graph.parameter @w.pack
// FOLDED-NOT:     graph.pack
// FOLDED-LABEL: func.func @stay
// FOLDED-LABEL: func.func @scan
// FOLDED:         graph.scan
// FOLDED-NEXT:    ^bb0(
// FOLDED-NEXT:      [[P:%[a-z0-9_]+]] = graph.parameter @scan_w.pack
// FOLDED-NEXT:      graph.fused "dense_add" (%s, [[P]], %e)
// FOLDED-LABEL: func.func @prepare
// FOLDED:         graph.pack
func.func @main(%x: tensor<1x64xf32>) -> tensor<1x96xf32> {
  %w = graph.parameter @w : tensor<96x64xf32>
  %y = graph.fused "dense_relu" (%x, %w) : (tensor<1x64xf32>, tensor<96x64xf32>) -> (tensor<1x96xf32>) {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<96x64xf32>):
    %d = graph.dense %a, %b : (tensor<1x64xf32>, tensor<96x64xf32>) -> tensor<1x96xf32>
    %r = graph.relu %d : (tensor<1x96xf32>) -> tensor<1x96xf32>
    graph.yield %r : tensor<1x96xf32>
  }
  func.return %y : tensor<1x96xf32>
}

// Weights that a caller passes are not ours to order.
// CHECK-LABEL: func.func @stay
// CHECK-NOT:     graph.pack
// CHECK-LABEL: func.func @rest
func.func @stay(%x: tensor<1x64xf32>, %v: tensor<96x64xf32>) -> tensor<1x96xf32> {
  %y = graph.fused "dense" (%x, %v) : (tensor<1x64xf32>, tensor<96x64xf32>) -> (tensor<1x96xf32>) {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<96x64xf32>):
    %d = graph.dense %a, %b : (tensor<1x64xf32>, tensor<96x64xf32>) -> tensor<1x96xf32>
    graph.yield %d : tensor<1x96xf32>
  }
  func.return %y : tensor<1x96xf32>
}

// The last block need not be full.
// CHECK:         graph.pack %{{.*}} {axis = 0 : i64, block = 40 : i64} : (tensor<97x64xf32>) -> tensor<3x64x40xf32>
// CHECK:           graph.unpack %{{.*}} {axis = 0 : i64, size = 97 : i64} : (tensor<3x64x40xf32>) -> tensor<97x64xf32>
func.func @rest(%x: tensor<1x64xf32>) -> tensor<1x97xf32> {
  %w = graph.parameter @odd : tensor<97x64xf32>
  %z = graph.fused "dense" (%x, %w) : (tensor<1x64xf32>, tensor<97x64xf32>) -> (tensor<1x97xf32>) {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<97x64xf32>):
    %d = graph.dense %a, %b : (tensor<1x64xf32>, tensor<97x64xf32>) -> tensor<1x97xf32>
    graph.yield %d : tensor<1x97xf32>
  }
  func.return %z : tensor<1x97xf32>
}

// A sum over channels in blocks and over taps runs block by block, and its weights lie in that order: channels of a block
// around the filters of one, innermost.
// CHECK-LABEL: func.func @blocks
// CHECK:         [[C:%[a-z0-9_]+]] = graph.pack %w {axis = 1 : i64, block = 8 : i64} : (tensor<16x16x3x3xf32>) -> tensor<16x2x3x3x8xf32>
// CHECK-NEXT:    graph.pack [[C]] {axis = 0 : i64, block = [[B:[0-9]+]] : i64} : (tensor<16x2x3x3x8xf32>) -> tensor<{{[0-9]+}}x2x3x3x8x[[B]]xf32>
func.func @blocks(%x: tensor<1x2x7x7x8xf32>) -> tensor<1x2x7x7x8xf32> {
  %w = graph.parameter @blocks_w : tensor<16x16x3x3xf32>
  %y = graph.fused "conv" (%x, %w) : (tensor<1x2x7x7x8xf32>, tensor<16x16x3x3xf32>) -> (tensor<1x2x7x7x8xf32>) {
  ^bb0(%a: tensor<1x2x7x7x8xf32>, %b: tensor<16x16x3x3xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 16 : i64} : (tensor<1x2x7x7x8xf32>) -> tensor<1x16x7x7xf32>
    %c = graph.conv %u, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x7x7xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x7x7xf32>
    %p = graph.pack %c {axis = 1 : i64, block = 8 : i64} : (tensor<1x16x7x7xf32>) -> tensor<1x2x7x7x8xf32>
    graph.yield %p : tensor<1x2x7x7x8xf32>
  }
  func.return %y : tensor<1x2x7x7x8xf32>
}

// Weights that the body of a scan names are packed there; folding makes one parameter of them for all steps.
// CHECK-LABEL: func.func @scan
// CHECK:         graph.scan
// CHECK:           [[P:%[a-z0-9_]+]] = graph.pack %w {axis = 0 : i64, block = [[B:[0-9]+]] : i64} : (tensor<96x96xf32>)
// CHECK-NEXT:      graph.fused "dense_add" (%s, [[P]], %e)
func.func @scan(%h: tensor<1x96xf32>, %x: tensor<5x1x96xf32>) -> tensor<1x96xf32> {
  %end = graph.scan from (%h) over (%x) : from (tensor<1x96xf32>) over (tensor<5x1x96xf32>) -> (tensor<1x96xf32>) {
  ^bb0(%s: tensor<1x96xf32>, %e: tensor<1x96xf32>):
    %w = graph.parameter @scan_w : tensor<96x96xf32>
    %n = graph.fused "dense_add" (%s, %w, %e) : (tensor<1x96xf32>, tensor<96x96xf32>, tensor<1x96xf32>) -> (tensor<1x96xf32>) {
    ^bb1(%a: tensor<1x96xf32>, %b: tensor<96x96xf32>, %c: tensor<1x96xf32>):
      %d = graph.dense %a, %b : (tensor<1x96xf32>, tensor<96x96xf32>) -> tensor<1x96xf32>
      %r = graph.add %d, %c : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
      graph.yield %r : tensor<1x96xf32>
    }
    graph.yield %n : tensor<1x96xf32>
  }
  func.return %end : tensor<1x96xf32>
}

// Both sums of a mean and a variance read the parameter with rows as lanes; it is packed once.
// CHECK-LABEL: func.func @read_twice
// CHECK:         graph.pack %w {axis = 1 : i64, block = 32 : i64} : (tensor<1x64x768xf32>) -> tensor<1x2x768x32xf32>
// CHECK-NEXT:    graph.fused "add_reduce_sum_reduce_sum_sq"
func.func @read_twice(%x: tensor<1x4x768x16xf32>) -> tensor<1x64x1xf32> {
  %w = graph.parameter @added : tensor<1x64x768xf32>
  %y = graph.fused "add_reduce_sum_reduce_sum_sq" (%x, %w) : (tensor<1x4x768x16xf32>, tensor<1x64x768xf32>) -> (tensor<1x64x1xf32>) {
  ^bb0(%a: tensor<1x4x768x16xf32>, %b: tensor<1x64x768xf32>):
    %u = graph.unpack %a {axis = 1 : i64, size = 64 : i64} : (tensor<1x4x768x16xf32>) -> tensor<1x64x768xf32>
    %s = graph.add %u, %b : (tensor<1x64x768xf32>, tensor<1x64x768xf32>) -> tensor<1x64x768xf32>
    %m = graph.reduce_sum %s {axes = array<i64: 2>, keep_dims = true} : (tensor<1x64x768xf32>) -> tensor<1x64x1xf32>
    %d = graph.sub %s, %m : (tensor<1x64x768xf32>, tensor<1x64x1xf32>) -> tensor<1x64x768xf32>
    %q = graph.mul %d, %d : (tensor<1x64x768xf32>, tensor<1x64x768xf32>) -> tensor<1x64x768xf32>
    %v = graph.reduce_sum %q {axes = array<i64: 2>, keep_dims = true} : (tensor<1x64x768xf32>) -> tensor<1x64x1xf32>
    graph.yield %v : tensor<1x64x1xf32>
  }
  func.return %y : tensor<1x64x1xf32>
}
