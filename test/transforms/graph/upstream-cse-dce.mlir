// RUN: opt-tool %s -p cse,dce | filecheck %s

// xDSL's own passes know that graph operators are pure: equal ones become one, unused ones go.
// CHECK-LABEL: func.func @f
// CHECK-NEXT:    %w = graph.parameter @w
// CHECK-NEXT:    [[A:%[a-z0-9]+]] = graph.mul %x, %w
// CHECK-NEXT:    [[B:%[a-z0-9]+]] = graph.add [[A]], [[A]]
// CHECK-NEXT:    func.return [[B]]
// CHECK-LABEL: func.func @prepare
// CHECK-NEXT:    graph.parameter
// CHECK-NEXT:    graph.neg
// CHECK-NEXT:    graph.define_parameter
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = graph.parameter @w : tensor<2xf32>
  %v = graph.parameter @w : tensor<2xf32>
  %0 = graph.mul %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.mul %x, %v : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = graph.exp %1 : (tensor<2xf32>) -> tensor<2xf32>
  %3 = graph.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %3 : tensor<2xf32>
}
func.func @prepare() {
  %w = graph.parameter @w : tensor<2xf32>
  %0 = graph.neg %w : (tensor<2xf32>) -> tensor<2xf32>
  graph.define_parameter @v, %0 : tensor<2xf32>
  func.return
}
