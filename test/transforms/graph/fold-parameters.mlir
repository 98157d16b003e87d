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

// -----

// A scan names parameters inside that it is given, and holds one number repeated; what its body computes of parameters
// moves to @prepare too. What comes from elsewhere it is given still, and what nothing but the body needs is computed
// once.
// CHECK-LABEL: func.func @scan
// CHECK:         %k = graph.exp %h
// CHECK-NEXT:    graph.scan from (%h) over (%xs) with (%k) : from (tensor<1x4xf32>) over (tensor<5x1x4xf32>) with (tensor<1x4xf32>) -> (tensor<1x4xf32>) {
// CHECK-NEXT:    ^bb0(%s: tensor<1x4xf32>, %x: tensor<1x4xf32>, %c: tensor<1x4xf32>):
// CHECK-NEXT:      [[TWO:%[a-z0-9_]+]] = arith.constant dense<2.0{{.*}}> : tensor<f32>
// CHECK-NEXT:      %e = graph.parameter @w.exp : tensor<4x4xf32>
// CHECK-NEXT:      %r = graph.parameter @u.relu : tensor<1x4xf32>
// CHECK-NEXT:      [[A:%[a-z0-9]+]] = graph.dense %s, %e
// CHECK-NEXT:      [[B:%[a-z0-9]+]] = graph.mul [[A]], [[TWO]]
// CHECK-NEXT:      [[C:%[a-z0-9]+]] = graph.add [[B]], %r
// CHECK-NEXT:      graph.add [[C]], %c
// CHECK-LABEL: func.func @prepare() {
// CHECK:         %v = graph.neg
// CHECK:         %e = graph.exp %v
// CHECK-NEXT:    graph.define_parameter @w.exp, %e
// CHECK:         %r = graph.relu
// CHECK-NEXT:    graph.define_parameter @u.relu, %r
func.func @scan(%h: tensor<1x4xf32>, %xs: tensor<5x1x4xf32>) -> tensor<1x4xf32> {
  %w = graph.parameter @w : tensor<4x4xf32>
  %v = graph.neg %w : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %two = arith.constant dense<2.0> : tensor<f32>
  %k = graph.exp %h : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %end = graph.scan from (%h) over (%xs) with (%v, %two, %k) : from (tensor<1x4xf32>) over (tensor<5x1x4xf32>) with (tensor<4x4xf32>, tensor<f32>, tensor<1x4xf32>) -> (tensor<1x4xf32>) {
  ^bb0(%s: tensor<1x4xf32>, %x: tensor<1x4xf32>, %a: tensor<4x4xf32>, %b: tensor<f32>, %c: tensor<1x4xf32>):
    %e = graph.exp %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %u = graph.parameter @u : tensor<1x4xf32>
    %r = graph.relu %u : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %0 = graph.dense %s, %e : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %1 = graph.mul %0, %b : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %2 = graph.add %1, %r : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    %3 = graph.add %2, %c : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
    graph.yield %3 : tensor<1x4xf32>
  }
  func.return %end : tensor<1x4xf32>
}

// -----

// A scan in a scan names them in the innermost body; a state that stays one number is a parameter, as it is yielded.
// CHECK-LABEL: func.func @nested
// CHECK:         graph.scan from (%h) over (%xs) : from
// CHECK-NEXT:    ^bb0(
// CHECK:           graph.scan from (%{{.*}}) over (%{{.*}}) : from
// CHECK-NEXT:      ^bb
// CHECK-NEXT:        [[W:%[a-z0-9_]+]] = graph.parameter @w : tensor<4xf32>
// CHECK-NEXT:        graph.mul %{{.*}}, [[W]]
// CHECK:           [[ONE:%[a-z0-9_]+]] = graph.parameter @constant : tensor<4xf32>
// CHECK-NEXT:      graph.yield [[ONE]], %{{.*}}
// CHECK-LABEL: func.func @prepare
// CHECK:         graph.define_parameter @constant
func.func @nested(%h: tensor<4xf32>, %xs: tensor<5x3x4xf32>) -> tensor<5x4xf32> {
  %w = graph.parameter @w : tensor<4xf32>
  %end, %ys = graph.scan from (%h) over (%xs) with (%w) : from (tensor<4xf32>) over (tensor<5x3x4xf32>) with (tensor<4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>) {
  ^bb0(%s: tensor<4xf32>, %x: tensor<3x4xf32>, %a: tensor<4xf32>):
    %inner = graph.scan from (%s) over (%x) with (%a) : from (tensor<4xf32>) over (tensor<3x4xf32>) with (tensor<4xf32>) -> (tensor<4xf32>) {
    ^bb1(%t: tensor<4xf32>, %row: tensor<4xf32>, %b: tensor<4xf32>):
      %0 = graph.mul %t, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %sum = graph.add %0, %row : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %sum : tensor<4xf32>
    }
    %one = arith.constant dense<1.0> : tensor<4xf32>
    graph.yield %one, %inner : tensor<4xf32>, tensor<4xf32>
  }
  func.return %ys : tensor<5x4xf32>
}

// -----

// What is known is known in sides and bodies: they name parameters themselves, and what they compute of these is
// computed before the first run.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    graph.if %c with (%x) : with (tensor<4xf32>)
// CHECK-NEXT:    ^bb{{.*}}(%{{.*}}: tensor<4xf32>):
// CHECK-NEXT:      %[[P:.*]] = graph.parameter @{{.*}} : tensor<4xf32>
// CHECK-NEXT:      graph.add %{{.*}}, %[[P]]
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %w = graph.parameter @w : tensor<4xf32>
  %y = graph.if %c with (%w, %x) : with (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%v: tensor<4xf32>, %a: tensor<4xf32>):
    %0 = graph.exp %v : (tensor<4xf32>) -> tensor<4xf32>
    %1 = graph.add %a, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  } else {
  ^bb0(%v: tensor<4xf32>, %a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}
