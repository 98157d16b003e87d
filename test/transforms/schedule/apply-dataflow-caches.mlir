// RUN: opt-tool %s -p schedule-apply-dataflow --check-semantics | filecheck %s

// cache_read of an argument, and of that copy: a chain; only the readers named read it.

// tvm: test_schedule_schedule_ops/schedule_cache
// CHECK-LABEL: te.kernel @chain
// CHECK: %x_global = te.compute "x.global" [a: 8, b: 4]
// CHECK: %x_global_local = te.compute "x.global.local" [a: 8, b: 4]
// CHECK-NEXT: te.read %x_global[a, b]
// CHECK: te.compute "y" [i: 8] reduce [k: 4]
// CHECK-NEXT: te.read %x_global_local[i, k]
// CHECK: te.compute "z"
// CHECK-NEXT: te.read %x[i, 0]
// CHECK-LABEL: schedule.sequence @chain
// CHECK: schedule.stage "x.global" [a, b]
// CHECK-NEXT: %[[L:.*]], %{{.*}}, %{{.*}} = schedule.stage "x.global.local" [a, b]
// CHECK-NEXT: schedule.set_scope %[[L]] "local"
// CHECK-NEXT: schedule.compute_at %[[L]], %i
te.kernel @chain(%x: tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i, 0] : tensor<8x4xf32>
    te.yield %v : f32
  }
  te.return %y, %z : tensor<8xf32>, tensor<8xf32>
}
schedule.sequence @chain {
  %y, %i, %k = schedule.stage "y" [i, k]
  %x = schedule.argument 0
  %s, %a, %b = schedule.cache_read %x "global" readers(%y) [a, b]
  %l, %c, %d = schedule.cache_read %s "local" readers(%y) [a, b]
  schedule.compute_at %l, %i
}

// One copy for several readers stands in front of the first of them; a second copy of the same has a number.

// CHECK-LABEL: te.kernel @readers
// CHECK: %y{{.*}} = te.compute "y"
// CHECK: te.compute "y.local_1" [a: 8]
// CHECK: te.compute "u"
// CHECK-NEXT: te.read %y_local{{.*}}[i]
// CHECK: te.compute "y.local" [a: 8]
// CHECK: te.compute "v"
// CHECK-NEXT: te.read %y_local{{.*}}[i]
// CHECK: te.compute "w"
// CHECK-NEXT: te.read %y_local{{.*}}[-i + 7]
te.kernel @readers(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %r = te.read %x[i] : tensor<8xf32>
    te.yield %r : f32
  }
  %u = te.compute "u" [i: 8] : tensor<8xf32> {
    %r = te.read %y[i] : tensor<8xf32>
    te.yield %r : f32
  }
  %v = te.compute "v" [i: 8] : tensor<8xf32> {
    %r = te.read %y[i] : tensor<8xf32>
    te.yield %r : f32
  }
  %w = te.compute "w" [i: 8] : tensor<8xf32> {
    %r = te.read %y[7 - i] : tensor<8xf32>
    te.yield %r : f32
  }
  te.return %u, %v, %w : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
schedule.sequence @readers {
  %y, %yi = schedule.stage "y" [i]
  %u, %ui = schedule.stage "u" [i]
  %v, %vi = schedule.stage "v" [i]
  %w, %wi = schedule.stage "w" [i]
  %c, %a = schedule.cache_read %y "local" readers(%v, %w) [a]
  %d, %b = schedule.cache_read %y "local" readers(%u) [a]
}

// cache_write of a stage whose axes were split, fused and reordered: those are the dimensions of the cache, elements that
// the tensor does not have are left out, and the stage copies them out with axes of its own.

// tvm: test_schedule_schedule_ops/cache_relayout1 test_schedule_schedule_ops/cache_relayout3
// CHECK-LABEL: te.kernel @layout
// CHECK: te.compute "y.local" [i.outer.j.outer: 12, i.inner: 3, j.inner: 4] reduce [k: 4] : tensor<12x3x4xf32>
// CHECK-NEXT: te.if_then_else [-3 * (i.outer.j.outer floordiv 4) - i.inner + 7 >= 0, -4 * (i.outer.j.outer mod 4) - j.inner + 12 >= 0] : f32 {
// CHECK-NEXT: te.read %x{{.*}}[3 * (i.outer.j.outer floordiv 4) + i.inner, k]
// CHECK: te.reduce add
// CHECK: te.compute "y" [i: 8, j: 13]
// CHECK-NEXT: te.read %y_local{{.*}}[4 * (i floordiv 3) + j floordiv 4, i mod 3, j mod 4]
// CHECK-LABEL: schedule.sequence @layout
// CHECK-NEXT: %{{.*}}, %[[I:.*]], %{{.*}} = schedule.stage "y" [i, j]
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[JI:.*]], %{{.*}} = schedule.stage "y.local" [i.outer.j.outer, i.inner, j.inner, k]
// CHECK: schedule.vectorize %[[JI]]
// CHECK-NEXT: schedule.parallel %[[I]]
te.kernel @layout(%x: tensor<8x4xf32>, %w: tensor<13x4xf32>) -> tensor<8x13xf32> {
  %y = te.compute "y" [i: 8, j: 13] reduce [k: 4] : tensor<8x13xf32> {
    %v = te.read %x[i, k] : tensor<8x4xf32>
    %u = te.read %w[j, k] : tensor<13x4xf32>
    %p = arith.mulf %v, %u : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<8x13xf32>
}
schedule.sequence @layout {
  %y, %i, %j, %k = schedule.stage "y" [i, j, k]
  %io, %ii = schedule.split %i factor 3
  %jo, %ji = schedule.split %j factor 4
  schedule.reorder %io, %jo, %ii, %ji
  %f = schedule.fuse %io, %jo
  %c, %cf, %ci, %cj, %ck = schedule.cache_write %y "local" [i.outer.j.outer, i.inner, j.inner, k]
  %again, %i1, %j1 = schedule.stage "y" [i, j]
  schedule.vectorize %cj
  schedule.parallel %i1
}
