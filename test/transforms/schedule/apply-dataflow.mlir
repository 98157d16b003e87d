// RUN: opt-tool %s -p schedule-apply-dataflow | filecheck %s

// compute_inline: the producer's expression stands at the indices read, conditions included; the stage is gone.

// CHECK-LABEL: te.kernel @inline
// CHECK-NOT: te.compute "pad"
// CHECK: te.compute "y"
// CHECK-NEXT: te.if_then_else [i + k - 1 >= 0, -i - k + 8 >= 0] : f32
// CHECK-NEXT: te.read %x[i + k - 1]
// CHECK: te.reduce add
// CHECK-LABEL: schedule.sequence @inline
// CHECK-NEXT: }
te.kernel @inline(%x: tensor<8xf32>) -> tensor<8xf32> {
  %pad = te.compute "pad" [i: 10] : tensor<10xf32> {
    %v = te.if_then_else [i - 1 >= 0, 8 - i >= 0] : f32 {
      %a = te.read %x[i - 1] : tensor<8xf32>
      te.yield %a : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  %y = te.compute "y" [i: 8] reduce [k: 3] : tensor<8xf32> {
    %a = te.read %pad[i + k] : tensor<10xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @inline {
  %pad, %i = schedule.stage "pad" [i]
  schedule.compute_inline %pad
}

// Several reads of one stage, by several consumers, each get a copy.

// CHECK-LABEL: te.kernel @consumers
// CHECK-NOT: te.compute "twice"
// CHECK-COUNT-3: arith.addf
// CHECK: te.return
te.kernel @consumers(%x: tensor<8xf32>) -> (tensor<7xf32>, tensor<8xf32>) {
  %twice = te.compute "twice" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %a = te.compute "a" [i: 7] : tensor<7xf32> {
    %v = te.read %twice[i] : tensor<8xf32>
    %w = te.read %twice[i + 1] : tensor<8xf32>
    %p = arith.mulf %v, %w : f32
    te.yield %p : f32
  }
  %b = te.compute "b" [i: 8] : tensor<8xf32> {
    %v = te.read %twice[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %a, %b : tensor<7xf32>, tensor<8xf32>
}
schedule.sequence @consumers {
  %twice, %i = schedule.stage "twice" [i]
  schedule.compute_inline %twice
}

// cache_write: a stage of that scope computes, the old one copies, and handles to both remain.

// CHECK-LABEL: te.kernel @cached
// CHECK: te.compute "y.register" [i: 8] reduce [k: 4]
// CHECK: te.compute "y" [i: 8] : tensor<8xf32>
// CHECK-NEXT: te.read %y_register[i]
// CHECK-LABEL: schedule.sequence @cached
// CHECK: %y, %i = schedule.stage "y" [i]
// CHECK: %y_register, %i_1, %k = schedule.stage "y.register" [i, k]
// CHECK-NEXT: schedule.set_scope %y_register "register"
// CHECK: schedule.compute_at %y_register
te.kernel @cached(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @cached {
  %y, %i, %k = schedule.stage "y" [i, k]
  %l, %li, %lk = schedule.cache_write %y "register" [i, k]
  %o, %n = schedule.split %i factor 4
  schedule.compute_at %l, %o
}
