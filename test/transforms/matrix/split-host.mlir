// RUN: opt-tool %s --split-input-file --matrix-split-host | filecheck %s

// What numpy computes and what depends on it moves; what both sides read crosses once, and comes first as it is asked for.
// CHECK-LABEL: func.func @main(%x: tensor<2x2xf64>, %b: tensor<2x1xf64>) -> (tensor<2x2xf64>, tensor<2x1xf64>)
// CHECK-NEXT:    %[[G:.*]] = graph.matmul %x, %x
// CHECK-NEXT:    func.return %[[G]], %b
// CHECK-LABEL: func.func @finish(%{{.*}}: tensor<2x2xf64>, %{{.*}}: tensor<2x1xf64>) -> (tensor<2x1xf64>, tensor<2x2xf64>)
// CHECK-NEXT:    %[[W:.*]] = matrix.solve
// CHECK-NEXT:    %[[TWICE:.*]] = graph.add %[[W]], %[[W]]
// CHECK-NEXT:    func.return %[[TWICE]]
func.func @main(%x: tensor<2x2xf64>, %b: tensor<2x1xf64>) -> (tensor<2x1xf64>, tensor<2x2xf64>) {
  %g = graph.matmul %x, %x : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %w = matrix.solve %g, %b : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  %t = graph.add %w, %w : (tensor<2x1xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  func.return %t, %g : tensor<2x1xf64>, tensor<2x2xf64>
}

// -----

// A function without such operations stays as it is.
// CHECK-LABEL: func.func @main(%x: tensor<2xf64>) -> tensor<2xf64>
// CHECK-NEXT:    func.return %x
// CHECK-NOT:     @finish
func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {
  func.return %x : tensor<2xf64>
}

// -----

// Functions of other names are not looked at.
// CHECK-LABEL: func.func @fit
// CHECK-NEXT:    matrix.solve
func.func @fit(%a: tensor<2x2xf64>, %b: tensor<2x1xf64>) -> tensor<2x1xf64> {
  %w = matrix.solve %a, %b : (tensor<2x2xf64>, tensor<2x1xf64>) -> tensor<2x1xf64>
  func.return %w : tensor<2x1xf64>
}
