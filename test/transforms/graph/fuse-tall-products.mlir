// RUN: opt-tool %s --split-input-file -p graph-fuse-tall-products | filecheck %s
// RUN: opt-tool %s --split-input-file --apply-pattern graph-fuse-tall-products.fuse-transposition | filecheck %s

// The transposition becomes a part of the product that sums along it.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     graph.transpose
// CHECK:         %[[Y:.*]] = graph.fused "transpose_matmul" (%x, %z)
// CHECK:           graph.transpose
// CHECK-NEXT:      graph.matmul
// CHECK:         func.return %[[Y]]
func.func @main(%x: tensor<8000x10xf32>, %z: tensor<8000x3xf32>) -> tensor<10x3xf32> {
  %t = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<8000x10xf32>) -> tensor<10x8000xf32>
  %y = graph.matmul %t, %z : (tensor<10x8000xf32>, tensor<8000x3xf32>) -> tensor<10x3xf32>
  func.return %y : tensor<10x3xf32>
}

// -----

// Of one that several operators read, each product gets its own; whoever else reads it gets it as before.
// CHECK-LABEL: func.func @main
// CHECK:         %[[T:.*]] = graph.transpose
// CHECK:         graph.fused "transpose_matmul" (%x)
// CHECK:         graph.fused "transpose_matmul" (%x, %z)
// CHECK:         graph.relu %[[T]]
func.func @main(%x: tensor<8000x10xf32>, %z: tensor<8000x1xf32>) -> (tensor<10x10xf32>, tensor<10x1xf32>, tensor<10x8000xf32>) {
  %t = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<8000x10xf32>) -> tensor<10x8000xf32>
  %a = graph.matmul %t, %x : (tensor<10x8000xf32>, tensor<8000x10xf32>) -> tensor<10x10xf32>
  %b = graph.matmul %t, %z : (tensor<10x8000xf32>, tensor<8000x1xf32>) -> tensor<10x1xf32>
  %r = graph.relu %t : (tensor<10x8000xf32>) -> tensor<10x8000xf32>
  func.return %a, %b, %r : tensor<10x10xf32>, tensor<10x1xf32>, tensor<10x8000xf32>
}

// -----

// Not of a product that is not tall, nor of a single element.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     graph.fused
func.func @main(%x: tensor<79x10xf32>, %z: tensor<8000x1xf32>) -> (tensor<10x10xf32>, tensor<1x1xf32>) {
  %t = graph.transpose %x {permutation = array<i64: 1, 0>} : (tensor<79x10xf32>) -> tensor<10x79xf32>
  %y = graph.matmul %t, %x : (tensor<10x79xf32>, tensor<79x10xf32>) -> tensor<10x10xf32>
  %u = graph.transpose %z {permutation = array<i64: 1, 0>} : (tensor<8000x1xf32>) -> tensor<1x8000xf32>
  %v = graph.matmul %u, %z : (tensor<1x8000xf32>, tensor<8000x1xf32>) -> tensor<1x1xf32>
  func.return %y, %v : tensor<10x10xf32>, tensor<1x1xf32>
}
