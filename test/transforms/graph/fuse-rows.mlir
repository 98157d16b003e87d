// RUN: opt-tool %s --target='llvm -mcpu=haswell' --graph-fuse-rows | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --apply-pattern graph-fuse-rows.gather-rows | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --graph-fuse-rows --graph-fuse-rows | filecheck %s

// The scores of an attention are nobody else's.
// CHECK-LABEL: func.func @attention
// CHECK-NEXT:    [[Y:%[a-z0-9]+]] = graph.fused "matmul_mul_add_softmax_matmul" (%q, %k, %scale, %mask, %v) : (
// CHECK:           graph.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return [[Y]]
func.func @attention(%q: tensor<2x17x8xf32>, %k: tensor<2x8x13xf32>, %v: tensor<2x13x8xf32>, %scale: tensor<1xf32>, %mask: tensor<2x1x13xf32>) -> tensor<2x17x8xf32> {
  %0 = graph.matmul %q, %k : (tensor<2x17x8xf32>, tensor<2x8x13xf32>) -> tensor<2x17x13xf32>
  %1 = graph.mul %0, %scale : (tensor<2x17x13xf32>, tensor<1xf32>) -> tensor<2x17x13xf32>
  %2 = graph.add %1, %mask : (tensor<2x17x13xf32>, tensor<2x1x13xf32>) -> tensor<2x17x13xf32>
  %3 = graph.softmax %2 {axis = 2 : i64} : (tensor<2x17x13xf32>) -> tensor<2x17x13xf32>
  %4 = graph.matmul %3, %v : (tensor<2x17x13xf32>, tensor<2x13x8xf32>) -> tensor<2x17x8xf32>
  func.return %4 : tensor<2x17x8xf32>
}

// A product that takes the weights as its right operand needs all rows of them.
// CHECK-LABEL: func.func @right_operand
// CHECK-NEXT:    [[P:%[a-z0-9]+]] = graph.fused "matmul_softmax" (%q, %k)
// CHECK:         graph.matmul %v, [[P]]
func.func @right_operand(%q: tensor<17x8xf32>, %k: tensor<8x17xf32>, %v: tensor<17x17xf32>) -> tensor<17x17xf32> {
  %0 = graph.matmul %q, %k : (tensor<17x8xf32>, tensor<8x17xf32>) -> tensor<17x17xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<17x17xf32>) -> tensor<17x17xf32>
  %2 = graph.matmul %v, %1 : (tensor<17x17xf32>, tensor<17x17xf32>) -> tensor<17x17xf32>
  func.return %2 : tensor<17x17xf32>
}

// Scores that are returned are needed as a whole. One row of them, as of a step of a decoder, is kept apart.
// CHECK-LABEL: func.func @scores
// CHECK-NEXT:    graph.matmul
// CHECK-NEXT:    graph.fused "softmax_matmul"
// CHECK-LABEL: func.func @one_row
// CHECK-NOT:     graph.fused
// CHECK:         func.return
func.func @scores(%q: tensor<17x8xf32>, %k: tensor<8x13xf32>, %v: tensor<13x8xf32>) -> (tensor<17x13xf32>, tensor<17x8xf32>) {
  %0 = graph.matmul %q, %k : (tensor<17x8xf32>, tensor<8x13xf32>) -> tensor<17x13xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<17x13xf32>) -> tensor<17x13xf32>
  %2 = graph.matmul %1, %v : (tensor<17x13xf32>, tensor<13x8xf32>) -> tensor<17x8xf32>
  func.return %0, %2 : tensor<17x13xf32>, tensor<17x8xf32>
}
func.func @one_row(%q: tensor<1x8xf32>, %k: tensor<8x13xf32>, %v: tensor<13x8xf32>) -> tensor<1x8xf32> {
  %0 = graph.matmul %q, %k : (tensor<1x8xf32>, tensor<8x13xf32>) -> tensor<1x13xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<1x13xf32>) -> tensor<1x13xf32>
  %2 = graph.matmul %1, %v : (tensor<1x13xf32>, tensor<13x8xf32>) -> tensor<1x8xf32>
  func.return %2 : tensor<1x8xf32>
}

// A normalization begins with its mean and ends where its rows have all elements; relu comes behind that.
// CHECK-LABEL: func.func @normalization
// CHECK-NEXT:    [[Y:%[a-z0-9]+]] = graph.fused "reduce_mean_sub_mul_reduce_mean_sqrt_div_relu" (%x) : (
// CHECK:         func.return [[Y]]
func.func @normalization(%x: tensor<5x12xf32>) -> tensor<5x12xf32> {
  %0 = graph.reduce_mean %x {axes = array<i64: 1>, keep_dims = true} : (tensor<5x12xf32>) -> tensor<5x1xf32>
  %1 = graph.sub %x, %0 : (tensor<5x12xf32>, tensor<5x1xf32>) -> tensor<5x12xf32>
  %2 = graph.mul %1, %1 : (tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %3 = graph.reduce_mean %2 {axes = array<i64: 1>, keep_dims = true} : (tensor<5x12xf32>) -> tensor<5x1xf32>
  %4 = graph.sqrt %3 : (tensor<5x1xf32>) -> tensor<5x1xf32>
  %5 = graph.div %1, %4 : (tensor<5x12xf32>, tensor<5x1xf32>) -> tensor<5x12xf32>
  %6 = graph.relu %5 : (tensor<5x12xf32>) -> tensor<5x12xf32>
  func.return %6 : tensor<5x12xf32>
}

// What multiplies the rows of a dense layer stays with that layer; a number for each row alone is no end of a group.
// CHECK-LABEL: func.func @ends
// CHECK-NEXT:    graph.dense
// CHECK-NEXT:    graph.add
// CHECK-NEXT:    graph.relu
// CHECK-NEXT:    graph.fused "softmax_mul"
// CHECK:           graph.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    graph.reduce_sum
func.func @ends(%x: tensor<5x12xf32>, %w: tensor<12x12xf32>) -> tensor<5x1xf32> {
  %0 = graph.dense %x, %w : (tensor<5x12xf32>, tensor<12x12xf32>) -> tensor<5x12xf32>
  %b = graph.add %0, %0 : (tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %1 = graph.relu %b : (tensor<5x12xf32>) -> tensor<5x12xf32>
  %2 = graph.softmax %1 {axis = 1 : i64} : (tensor<5x12xf32>) -> tensor<5x12xf32>
  %3 = graph.mul %2, %2 : (tensor<5x12xf32>, tensor<5x12xf32>) -> tensor<5x12xf32>
  %4 = graph.reduce_sum %3 {axes = array<i64: 1>, keep_dims = true} : (tensor<5x12xf32>) -> tensor<5x1xf32>
  func.return %4 : tensor<5x1xf32>
}

// Neither columns, nor a mean whose axis is gone, nor rows of which nobody knows how long they are.
// CHECK-LABEL: func.func @columns
// CHECK-NOT:     graph.fused
// CHECK-LABEL: func.func @dropped
// CHECK-NOT:     graph.fused
// CHECK-LABEL: func.func @unknown
// CHECK-NOT:     graph.fused
func.func @columns(%x: tensor<5x12xf32>) -> tensor<5x12xf32> {
  %0 = graph.softmax %x {axis = 0 : i64} : (tensor<5x12xf32>) -> tensor<5x12xf32>
  %1 = graph.relu %0 : (tensor<5x12xf32>) -> tensor<5x12xf32>
  func.return %1 : tensor<5x12xf32>
}
func.func @dropped(%x: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %0 = graph.reduce_mean %x {axes = array<i64: 1>, keep_dims = false} : (tensor<12x12xf32>) -> tensor<12xf32>
  %1 = graph.sub %x, %0 : (tensor<12x12xf32>, tensor<12xf32>) -> tensor<12x12xf32>
  func.return %1 : tensor<12x12xf32>
}
func.func @unknown(%x: tensor<12x?xf32, #graph.dims<[12, N]>>) -> tensor<12x?xf32, #graph.dims<[12, N]>> {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<12x?xf32, #graph.dims<[12, N]>>) -> tensor<12x?xf32, #graph.dims<[12, N]>>
  %1 = graph.relu %0 : (tensor<12x?xf32, #graph.dims<[12, N]>>) -> tensor<12x?xf32, #graph.dims<[12, N]>>
  func.return %1 : tensor<12x?xf32, #graph.dims<[12, N]>>
}

// How many rows there are does not matter.
// CHECK-LABEL: func.func @any_number
// CHECK-NEXT:    graph.fused "softmax_relu" (%x) : (
func.func @any_number(%x: tensor<?x12xf32, #graph.dims<[N, 12]>>) -> tensor<?x12xf32, #graph.dims<[N, 12]>> {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<?x12xf32, #graph.dims<[N, 12]>>) -> tensor<?x12xf32, #graph.dims<[N, 12]>>
  %1 = graph.relu %0 : (tensor<?x12xf32, #graph.dims<[N, 12]>>) -> tensor<?x12xf32, #graph.dims<[N, 12]>>
  func.return %1 : tensor<?x12xf32, #graph.dims<[N, 12]>>
}

// Rows of two axes, a single one of them, and one too long to stay near.
// CHECK-LABEL: func.func @images
// CHECK-NEXT:    [[Y:%[a-z0-9]+]] = graph.fused "reduce_mean_sub" (%x) : (
// CHECK:         func.return [[Y]]
// CHECK-LABEL: func.func @one
// CHECK-NEXT:    graph.fused "softmax_mul" (%x) : (
// CHECK-LABEL: func.func @long
// CHECK-NOT:     graph.fused
func.func @images(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = graph.reduce_mean %x {axes = array<i64: 2, 3>, keep_dims = true} : (tensor<2x3x4x5xf32>) -> tensor<2x3x1x1xf32>
  %1 = graph.sub %x, %0 : (tensor<2x3x4x5xf32>, tensor<2x3x1x1xf32>) -> tensor<2x3x4x5xf32>
  func.return %1 : tensor<2x3x4x5xf32>
}
func.func @one(%x: tensor<12xf32>) -> tensor<12xf32> {
  %0 = graph.softmax %x {axis = 0 : i64} : (tensor<12xf32>) -> tensor<12xf32>
  %1 = graph.mul %0, %0 : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  func.return %1 : tensor<12xf32>
}
func.func @long(%x: tensor<1x32769xf32>) -> tensor<1x32769xf32> {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<1x32769xf32>) -> tensor<1x32769xf32>
  %1 = graph.relu %0 : (tensor<1x32769xf32>) -> tensor<1x32769xf32>
  func.return %1 : tensor<1x32769xf32>
}

// A reduction over no axis goes by no rows.
// CHECK-LABEL: func.func @no_axis
// CHECK-NOT:     graph.fused
func.func @no_axis(%x: tensor<5x12xf32>) -> tensor<5x12xf32> {
  %0 = graph.reduce_mean %x {axes = array<i64>, keep_dims = true} : (tensor<5x12xf32>) -> tensor<5x12xf32>
  %1 = graph.relu %0 : (tensor<5x12xf32>) -> tensor<5x12xf32>
  func.return %1 : tensor<5x12xf32>
}
