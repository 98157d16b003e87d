// RUN: opt-tool %s -p schedule-apply-dataflow --check-semantics | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p compile-kernel --check-semantics > %t

// A primitive that rewrites te may stand behind others: a stage stays where it is computed, and what was done to the axes
// that it keeps stays done.

// CHECK-LABEL: te.kernel @placed_then_factored
// CHECK: te.compute "s.rf" [k.inner: 8, i: 7] reduce [k.outer: 7]
// CHECK: te.compute "s" [i: 7] reduce [k.inner: 8]
// CHECK-LABEL: schedule.sequence @placed_then_factored
// CHECK-NEXT: %s, %i, %k_inner = schedule.stage "s" [i, k.inner]
// CHECK-NEXT: %y, %a, %b = schedule.stage "y" [i, j]
// CHECK-NEXT: schedule.compute_at %s, %a
// CHECK-NEXT: schedule.pragma %i "auto_unroll_max_step" 4
// CHECK-NEXT: %s_rf, {{.*}} = schedule.stage "s.rf" [k.inner, i, k.outer]
// CHECK-NEXT: schedule.compute_at %s_rf, %i
te.kernel @placed_then_factored(%x: tensor<7x53xf32>) -> tensor<7x53xf32> {
  %s = te.compute "s" [i: 7] reduce [k: 53] : tensor<7xf32> {
    %v = te.read %x[i, k] : tensor<7x53xf32>
    te.reduce add %v : f32
  }
  %y = te.compute "y" [i: 7, j: 53] : tensor<7x53xf32> {
    %v = te.read %x[i, j] : tensor<7x53xf32>
    %w = te.read %s[i] : tensor<7xf32>
    %u = arith.mulf %v, %w : f32
    te.yield %u : f32
  }
  te.return %y : tensor<7x53xf32>
}
schedule.sequence @placed_then_factored {
  %s, %i, %k = schedule.stage "s" [i, k]
  %y, %a, %b = schedule.stage "y" [i, j]
  schedule.compute_at %s, %a
  schedule.pragma %i "auto_unroll_max_step" 4
  %ko, %ki = schedule.split %k factor 8
  schedule.reorder %ki, %i, %ko
  %rf, %ri, %rki, %rko, %rest = schedule.rfactor %s, %ki at 0 [k.inner, i, k.outer]
  schedule.compute_at %rf, %i
}

// A cache in another layout: the stage stays in its consumer under a new handle, the distance between its rows stays
// asked for, and the axis of one iteration that became a dimension of the cache is gone from the schedule.

// CHECK-LABEL: te.kernel @placed_then_relaid
// CHECK: te.compute "s.local" [singleton: 1, j: 16, i.outer: 4, i.inner: 2]
// CHECK: te.compute "s" [i: 8, j: 16]
// CHECK-NEXT: te.read %s_local{{.*}}[0, j, i floordiv 2, i mod 2]
// CHECK-LABEL: schedule.sequence @placed_then_relaid
// CHECK-NEXT: %[[S:.*]], %[[I:.*]], %[[J:.*]] = schedule.stage "s" [i, j]
// CHECK-NEXT: %{{.*}}, %[[A:.*]], %{{.*}} = schedule.stage "y" [i, j]
// CHECK-NEXT: schedule.compute_at %[[S]], %[[A]]
// CHECK-NEXT: schedule.storage_align %[[I]] factor 8 offset 1
// CHECK-NOT: schedule.singleton
// CHECK: schedule.vectorize %[[J]]
te.kernel @placed_then_relaid(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %s = te.compute "s" [i: 8, j: 16] : tensor<8x16xf32> {
    %v = te.read %x[i, j] : tensor<8x16xf32>
    te.yield %v : f32
  }
  %y = te.compute "y" [i: 8, j: 16] : tensor<8x16xf32> {
    %v = te.read %s[i, j] : tensor<8x16xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<8x16xf32>
}
schedule.sequence @placed_then_relaid {
  %s, %i, %j = schedule.stage "s" [i, j]
  %y, %a, %b = schedule.stage "y" [i, j]
  schedule.compute_at %s, %a
  schedule.storage_align %i factor 8 offset 1
  %one = schedule.singleton %s
  %io, %ii = schedule.split %i factor 2
  schedule.reorder %j, %io, %ii
  %c, %c0, %c1, %c2, %c3 = schedule.cache_write %s "local" [singleton, j, i.outer, i.inner]
  %again, %i1, %j1 = schedule.stage "s" [i, j]
  schedule.vectorize %j1
}

// What was asked of axes that stay is asked of the copy; of a reorder with a reduce axis the others keep their order.

// CHECK-LABEL: te.kernel @annotated_then_cached
// CHECK: te.compute "s.global" [i: 8, j: 4] reduce [k: 16]
// CHECK-LABEL: schedule.sequence @annotated_then_cached
// CHECK-NEXT: %{{.*}}, %[[I:.*]], %[[J:.*]] = schedule.stage "s" [i, j]
// CHECK-NEXT: schedule.reorder %[[I]], %[[J]]
// CHECK-NEXT: schedule.parallel %[[I]]
// CHECK-NEXT: = schedule.stage "s.global" [i, j, k]
te.kernel @annotated_then_cached(%x: tensor<8x4x16xf32>) -> tensor<8x4xf32> {
  %s = te.compute "s" [i: 8, j: 4] reduce [k: 16] : tensor<8x4xf32> {
    %v = te.read %x[i, j, k] : tensor<8x4x16xf32>
    te.reduce add %v : f32
  }
  te.return %s : tensor<8x4xf32>
}
schedule.sequence @annotated_then_cached {
  %s, %i, %j, %k = schedule.stage "s" [i, j, k]
  schedule.reorder %k, %i, %j
  schedule.parallel %i
  %c, %ci, %cj, %ck = schedule.cache_write %s "global" [i, j, k]
}

// Stages are inlined last: one may be a reader of a copy, or be copied, whichever is said first. A place that is said
// later takes the inlining back, and inlining takes back one said before.

// CHECK-LABEL: te.kernel @inlined
// CHECK-NOT: te.compute "a"
// CHECK: te.compute "x.local"
// CHECK: te.compute "b"
// CHECK-NEXT: te.read %x_local
// CHECK: te.compute "c"
// CHECK-NEXT: te.read %b
// CHECK-LABEL: schedule.sequence @inlined
// CHECK: schedule.compute_at %b{{.*}}, %k
// CHECK-NOT: schedule.compute_at
te.kernel @inlined(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = te.compute "a" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %b = te.compute "b" [i: 8] : tensor<8xf32> {
    %v = te.read %a[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %c = te.compute "c" [i: 8] : tensor<8xf32> {
    %v = te.read %b[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %c : tensor<8xf32>
}
schedule.sequence @inlined {
  %a, %i = schedule.stage "a" [i]
  %b, %j = schedule.stage "b" [i]
  %c, %k = schedule.stage "c" [i]
  schedule.compute_at %a, %j
  schedule.compute_inline %a
  schedule.compute_inline %b
  %x = schedule.argument 0
  %xl, %l = schedule.cache_read %x "local" readers(%a) [i]
  schedule.compute_at %b, %k
}

// What a scan or an extern makes may be copied for a reader like any other tensor.

// CHECK-LABEL: te.kernel @of_a_scan
// CHECK: te.scan "scan"
// CHECK-NEXT: te.compute "scan.local" [a: 8]
// CHECK-NEXT: te.read %scan[a]
// CHECK: te.compute "y"
// CHECK-NEXT: te.read %scan_local
te.kernel @of_a_scan(%x: tensor<8xf32>) -> tensor<8xf32> {
  %first = te.compute "first" [t: 1] : tensor<1xf32> {
    %v = te.read %x[t] : tensor<8xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<8xf32>
  %step = te.compute "step" [t: 8] : tensor<8xf32> {
    %a = te.read %s[t - 1] : tensor<8xf32>
    %b = te.read %x[t] : tensor<8xf32>
    %v = arith.addf %a, %b : f32
    te.yield %v : f32
  }
  %scan = te.scan "scan" [t: 1 to 8] init(%first) update(%step) state(%s) : tensor<1xf32> -> tensor<8xf32>
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %scan[7 - i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @of_a_scan {
  %scan, %t = schedule.stage "scan" [t]
  %y, %i = schedule.stage "y" [i]
  %c, %a = schedule.cache_read %scan "local" readers(%y) [a]
  schedule.compute_at %c, %i
}
