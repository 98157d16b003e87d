// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What graph.scan refuses.

func.func @f(%h: tensor<2xf32>) {
  // expected-error@+1 {{a scan goes over one sequence at least}}
  %end = graph.scan from (%h) : from (tensor<2xf32>) -> (tensor<2xf32>) {
  ^bb0(%s: tensor<2xf32>):
    graph.yield %s : tensor<2xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{a sequence has an axis at least}}
  %ys = graph.scan over (%x) : over (tensor<f32>) -> (tensor<1xf32>) {
  ^bb0(%e: tensor<f32>):
    graph.yield %e : tensor<f32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<3xf32>, %z: tensor<4xf32>) {
  // expected-error@+1 {{sequences of different lengths: }}
  %ys = graph.scan over (%x, %z) : over (tensor<3xf32>, tensor<4xf32>) -> (tensor<3xf32>) {
  ^bb0(%e: tensor<f32>, %g: tensor<f32>):
    graph.yield %e : tensor<f32>
  }
  func.return
}

// -----

// The body takes an element, not the sequence.
func.func @f(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{the region takes the states, an element of each sequence, and what is constant}}
  %ys = graph.scan over (%x) : over (tensor<3x2xf32>) -> (tensor<3x2xf32>) {
  ^bb0(%e: tensor<3x2xf32>):
    graph.yield %e : tensor<3x2xf32>
  }
  func.return
}

// -----

// What is constant comes last, and cannot be left out.
func.func @f(%x: tensor<3x2xf32>, %k: tensor<2xf32>) {
  // expected-error@+1 {{the region takes the states, an element of each sequence, and what is constant}}
  %ys = graph.scan over (%x) with (%k) : over (tensor<3x2xf32>) with (tensor<2xf32>) -> (tensor<3x2xf32>) {
  ^bb0(%e: tensor<2xf32>):
    graph.yield %e : tensor<2xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{the region ends in graph.yield}}
  %ys = graph.scan over (%x) : over (tensor<3x2xf32>) -> (tensor<3x2xf32>) {
  ^bb0(%e: tensor<2xf32>):
    "cf.br"() [^bb0] : () -> ()
  }
  func.return
}

// -----

// States keep their types from step to step.
func.func @f(%h: tensor<2xf32>, %x: tensor<3x2x2xf32>) {
  // expected-error@+1 {{the region yields the next states, of the same types, first}}
  %end = graph.scan from (%h) over (%x) : from (tensor<2xf32>) over (tensor<3x2x2xf32>) -> (tensor<2xf32>) {
  ^bb0(%s: tensor<2xf32>, %e: tensor<2x2xf32>):
    graph.yield %e : tensor<2x2xf32>
  }
  func.return
}

// -----

// A state that is not handed on.
func.func @f(%h: tensor<2xf32>, %x: tensor<3x2xf32>) {
  // expected-error@+1 {{the region yields the next states, of the same types, first}}
  %end = graph.scan from (%h) over (%x) : from (tensor<2xf32>) over (tensor<3x2xf32>) -> (tensor<2xf32>) {
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>):
    "graph.yield"() : () -> ()
  }
  func.return
}

// -----

// A new sequence is as long as the others.
func.func @f(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{the results are the states, and sequences of what else the region yields}}
  %ys = graph.scan over (%x) : over (tensor<3x2xf32>) -> (tensor<4x2xf32>) {
  ^bb0(%e: tensor<2xf32>):
    graph.yield %e : tensor<2xf32>
  }
  func.return
}

// -----

// A body sees its arguments only.
func.func @f(%x: tensor<3x2xf32>, %k: tensor<2xf32>) {
  %ys = graph.scan over (%x) : over (tensor<3x2xf32>) -> (tensor<3x2xf32>) {
  ^bb0(%e: tensor<2xf32>):
    // expected-error@+1 {{'graph.add' op operand #1 is defined outside 'graph.scan'}}
    %y = graph.add %e, %k : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    graph.yield %y : tensor<2xf32>
  }
  func.return
}

// -----

// A kernel has no steps.
func.func @f(%x: tensor<3x2xf32>) {
  // expected-error@+1 {{the region holds graph.scan, which is no operator of a kernel}}
  %y = graph.fused "scan" (%x) : (tensor<3x2xf32>) -> (tensor<3x2xf32>) {
  ^bb0(%a: tensor<3x2xf32>):
    %ys = graph.scan over (%a) : over (tensor<3x2xf32>) -> (tensor<3x2xf32>) {
    ^bb0(%e: tensor<2xf32>):
      graph.yield %e : tensor<2xf32>
    }
    graph.yield %ys : tensor<3x2xf32>
  }
  func.return
}
