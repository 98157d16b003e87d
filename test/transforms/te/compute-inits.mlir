// RUN: opt-tool %s -p te-compute-inits --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern te-compute-inits.compute-init | filecheck %s

// What a scan begins with is an argument: a stage copies it.
// CHECK-LABEL: te.kernel @argument
// CHECK:         %[[INIT:.*]] = te.compute "sums.init" [i0: 1, i1: 4] : tensor<1x4xf32> {
// CHECK-NEXT:      te.read %h[i0, i1]
// CHECK:         te.scan "sums" [t: 1 to 9] init(%[[INIT]])
te.kernel @argument(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    %w = te.read %x[t, i] : tensor<9x4xf32>
    %a = arith.addf %v, %w : f32
    te.yield %a : f32
  }
  %y = te.scan "sums" [t: 1 to 9] init(%h) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// A stage that is for two states is copied for each, and one for a single scan is taken as it is.
// CHECK-LABEL: te.kernel @stages
// CHECK:         %shared = te.compute "shared"
// CHECK:         %own = te.compute "own"
// CHECK:         %[[ONE:.*]] = te.compute "pair.init"
// CHECK:         %[[OTHER:.*]] = te.compute "pair.init_1"
// CHECK:         te.scan "pair" [t: 1 to 3] init(%[[ONE]], %[[OTHER]], %own)
te.kernel @stages(%h: tensor<1x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %shared = te.compute "shared" [t: 1, i: 2] : tensor<1x2xf32> {
    %v = te.read %h[t, i] : tensor<1x2xf32>
    te.yield %v : f32
  }
  %own = te.compute "own" [t: 1, i: 2] : tensor<1x2xf32> {
    %v = te.read %h[t, 1 - i] : tensor<1x2xf32>
    te.yield %v : f32
  }
  %p = te.state : tensor<3x2xf32>
  %q = te.state : tensor<3x2xf32>
  %r = te.state : tensor<3x2xf32>
  %a, %b, %c = te.compute "next" [t: 3, i: 2] : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32> {
    %0 = te.read %p[t - 1, i] : tensor<3x2xf32>
    %1 = te.read %q[t - 1, i] : tensor<3x2xf32>
    %2 = te.read %r[t - 1, i] : tensor<3x2xf32>
    te.yield %1, %2, %0 : f32, f32, f32
  }
  %y, %z, %w = te.scan "pair" [t: 1 to 3] init(%shared, %shared, %own) update(%a, %b, %c) state(%p, %q, %r) : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32> -> tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
  te.return %y, %z, %w : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// A kernel that brings a schedule keeps the stages that this is about.
// CHECK-LABEL: te.kernel @mine
// CHECK-NOT:     te.compute "sums.init"
te.kernel @mine(%h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y = te.scan "sums" [t: 1 to 9] init(%h) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @mine {
  %next, %t, %i = schedule.stage "next" [t, i]
  schedule.vectorize %i
}
