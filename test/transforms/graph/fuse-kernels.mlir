// RUN: opt-tool %s -p graph-fuse-operators | filecheck %s

// What a kernel reads at which places says how it is fused.

te.kernel @scale(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %y = te.compute "scale" [i: 8, j: 4] : tensor<8x4xf32> {
    %0 = te.read %x[i, j] : tensor<8x4xf32>
    %1 = te.read %b[j] : tensor<4xf32>
    %2 = arith.mulf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : tensor<8x4xf32>
}
te.kernel @reversed(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = te.compute "reversed" [i: 8, j: 4] : tensor<8x4xf32> {
    %0 = te.read %x[7 - i, j] : tensor<8x4xf32>
    te.yield %0 : f32
  }
  te.return %y : tensor<8x4xf32>
}
te.kernel @squares(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "squares" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %0 = te.read %x[i, k] : tensor<8x4xf32>
    %1 = arith.mulf %0, %0 : f32
    te.reduce add %1 : f32
  }
  te.return %y : tensor<8xf32>
}
te.kernel @product(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
  %y = te.compute "product" [i: 8, j: 4] reduce [k: 4] : tensor<8x4xf32> {
    %0 = te.read %x[i, k] : tensor<8x4xf32>
    %1 = te.read %w[k, j] : tensor<4x4xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %y : tensor<8x4xf32>
}
te.kernel @both(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %y, %z = te.compute "both" [i: 8, j: 4] : tensor<8x4xf32>, tensor<8x4xf32> {
    %0 = te.read %x[i, j] : tensor<8x4xf32>
    %1 = arith.negf %0 : f32
    te.yield %0, %1 : f32, f32
  }
  te.return %y, %z : tensor<8x4xf32>, tensor<8x4xf32>
}

// One that goes element by element joins the kernel of a product in front of it, with what follows.
// CHECK-LABEL: func.func @behind_a_product
// CHECK-NEXT:    graph.fused "dense_scale_relu"
// CHECK-NOT:     graph.fused
func.func @behind_a_product(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %0 = graph.dense %x, %w : (tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<8x4xf32>
  %1 = graph.kernel @scale (%0, %b) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %2 = graph.relu %1 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %2 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @what_moves_elements_stays_behind_a_product
// CHECK:         graph.fused "dense"
// CHECK:         graph.fused "reversed"
func.func @what_moves_elements_stays_behind_a_product(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>) -> tensor<8x4xf32> {
  %0 = graph.dense %x, %w : (tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<8x4xf32>
  %1 = graph.kernel @reversed (%0) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %1 : tensor<8x4xf32>
}

// A reduction takes what is in front of it, and nothing joins it from behind.
// CHECK-LABEL: func.func @reduction
// CHECK:         graph.fused "relu_squares"
// CHECK:         graph.fused "neg"
func.func @reduction(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = graph.kernel @squares (%0) : (tensor<8x4xf32>) -> tensor<8xf32>
  %3 = graph.neg %2 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %3 : tensor<8xf32>
}

// A product of the program's own has element-wise operators joined to it, and takes none in front.
// CHECK-LABEL: func.func @product_of_its_own
// CHECK:         graph.fused "neg"
// CHECK:         graph.fused "product_scale_relu"
func.func @product_of_its_own(%x: tensor<8x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %0 = graph.neg %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = graph.kernel @product (%0, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %2 = graph.kernel @scale (%1, %b) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %3 = graph.relu %2 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %3 : tensor<8x4xf32>
}

// What makes several tensors is a kernel of its own.
// CHECK-LABEL: func.func @several_results
// CHECK:         graph.fused "relu"
// CHECK:         graph.fused "both"
// CHECK:         graph.fused "add"
func.func @several_results(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = graph.relu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1, %2 = graph.kernel @both (%0) : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  %3 = graph.add %1, %2 : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %3 : tensor<8x4xf32>
}
