// RUN: opt-tool %s --split-input-file --graph-fold-parameters | filecheck %s
// RUN: opt-tool %s --split-input-file --graph-fold-parameters --graph-fold-parameters | filecheck %s

// What several operators need is computed once; a constant that is not one number repeated is a parameter too.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %v = graph.parameter @w.neg : tensor<4x4xf32>
// CHECK-NEXT:    %u = graph.parameter @w.exp : tensor<4x4xf32>
// CHECK-NEXT:    %two = arith.constant
// CHECK-NEXT:    %table = graph.parameter @constant : tensor<4xf32>
// CHECK-NEXT:    [[A:%[a-z0-9]+]] = graph.dense %x, %v
// CHECK-NEXT:    [[B:%[a-z0-9]+]] = graph.dense [[A]], %u
// CHECK-NEXT:    [[C:%[a-z0-9]+]] = graph.mul [[B]], %two
// CHECK-NEXT:    graph.add [[C]], %table
// CHECK-LABEL: func.func @prepare() {
// CHECK-NEXT:    %w = graph.parameter @w
// CHECK-NEXT:    %v = graph.neg %w
// CHECK-NEXT:    graph.define_parameter @w.neg, %v
// CHECK-NEXT:    %u = graph.exp %v
// CHECK-NEXT:    graph.define_parameter @w.exp, %u
// CHECK-NEXT:    %table = arith.constant
// CHECK-NEXT:    graph.define_parameter @constant, %table
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %w = graph.parameter @w : tensor<4x4xf32>
  %v = graph.neg %w : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = graph.exp %v : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %table = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.dense %x, %v : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %1 = graph.dense %0, %u : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %2 = graph.mul %1, %two : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %3 = graph.add %2, %table : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  func.return %3 : tensor<1x4xf32>
}

// -----

// A later fold goes on from the definitions that are there; those that nobody reads any more go. Names stay unique.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    graph.parameter @w.neg.exp : tensor<2xf32>
// CHECK-NEXT:    graph.parameter @w.exp : tensor<2xf32>
// CHECK-LABEL: func.func @prepare() {
// CHECK-NEXT:    %w = graph.parameter @w
// CHECK-NEXT:    %v = graph.neg %w
// CHECK-NEXT:    %a = graph.exp %v
// CHECK-NEXT:    graph.define_parameter @w.neg.exp, %a
// CHECK-NEXT:    graph.exp %v
// CHECK-NEXT:    graph.define_parameter @w.exp
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = graph.parameter @w.neg.exp : tensor<2xf32>
  %v = graph.parameter @w.neg : tensor<2xf32>
  %b = graph.exp %v : (tensor<2xf32>) -> tensor<2xf32>
  %0 = graph.add %x, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = graph.add %0, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %1 : tensor<2xf32>
}
func.func @prepare() {
  %w = graph.parameter @w : tensor<2xf32>
  %v = graph.neg %w : (tensor<2xf32>) -> tensor<2xf32>
  graph.define_parameter @w.neg, %v : tensor<2xf32>
  %a = graph.exp %v : (tensor<2xf32>) -> tensor<2xf32>
  graph.define_parameter @w.neg.exp, %a : tensor<2xf32>
  func.return
}

// -----

// Nothing depends on the input: the results are parameters. Without anything to do there is no @prepare.
// CHECK-LABEL: func.func @constant_results
// CHECK-NEXT:    [[V:%[a-z0-9]+]] = graph.parameter @w.exp
// CHECK-NEXT:    [[Z:%[a-z0-9]+]] = graph.parameter @constant
// CHECK-NEXT:    func.return [[V]], [[Z]]
// CHECK-LABEL: func.func @prepare
func.func @constant_results(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
  %w = graph.parameter @w : tensor<2xf32>
  %v = graph.exp %w : (tensor<2xf32>) -> tensor<2xf32>
  %z = arith.constant dense<0.0> : tensor<3xf32>
  func.return %v, %z : tensor<2xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @nothing
// CHECK-NOT:   @prepare
func.func @nothing(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = graph.parameter @w : tensor<2xf32>
  %0 = graph.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
