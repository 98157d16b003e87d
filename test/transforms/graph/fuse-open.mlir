// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop,loop-simplify --check-semantics | filecheck %s

// Points that are counted through lie in the image wherever the loop runs: nothing asks for their row, and nothing is
// done against dividing by a width of 0. An axis of one element in front takes no part.
// CHECK-LABEL: loop.kernel @counted
// CHECK:         loop.for %[[O:.*]] = 0 to (%H * %W + 59) floordiv 60
// CHECK-NEXT:      loop.for %[[P:.*]] = 0 to min(60, %H * %W - 60 * %[[O]])
// CHECK-NEXT:        loop.load %x[0, (60 * %[[O]] + %[[P]]) floordiv %W, (60 * %[[O]] + %[[P]]) mod %W]
// CHECK-NOT:     loop.if
te.kernel @counted(%x: tensor<1x?x?xf32, #graph.dims<[1, H, W]>>) -> tensor<1x?x?xf32, #graph.dims<[1, H, W]>> {
  %y = te.compute "y" [n: 1, i: H, j: W] : tensor<1x?x?xf32, #graph.dims<[1, H, W]>> {
    %v = te.read %x[n, i, j] : tensor<1x?x?xf32, #graph.dims<[1, H, W]>>
    te.yield %v : f32
  }
  te.return %y : tensor<1x?x?xf32, #graph.dims<[1, H, W]>>
}
schedule.sequence @counted {
  %y, %n, %i, %j = schedule.stage "y" [n, i, j]
  %f = schedule.fuse %n, %i
  %t = schedule.fuse %f, %j
  %o, %p = schedule.split %t factor 60
}

// Nor where a stage before is computed point by point, with a border around the image.
// CHECK-LABEL: loop.kernel @behind
// CHECK:         loop.for %[[F:.*]] = 0 to %H * %W
// CHECK:           loop.if [%[[F]] floordiv %W - 1 >= 0] -> f32 {
// CHECK-NEXT:        loop.load %x[%[[F]] floordiv %W - 1, %[[F]] mod %W]
te.kernel @behind(%x: tensor<?x?xf32, #graph.dims<[H, W]>>) -> tensor<?x?xf32, #graph.dims<[H, W]>> {
  %y = te.compute "y" [i: H, j: W] : tensor<?x?xf32, #graph.dims<[H, W]>> {
    %v = te.if_then_else [i - 1 >= 0] : f32 {
      %a = te.read %x[i - 1, j] : tensor<?x?xf32, #graph.dims<[H, W]>>
      te.yield %a : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  %t = te.compute "t" [i: H, j: W] : tensor<?x?xf32, #graph.dims<[H, W]>> {
    %v = te.read %y[i, j] : tensor<?x?xf32, #graph.dims<[H, W]>>
    te.yield %v : f32
  }
  te.return %t : tensor<?x?xf32, #graph.dims<[H, W]>>
}
schedule.sequence @behind {
  %y, %i, %j = schedule.stage "y" [i, j]
  %t, %k, %l = schedule.stage "t" [i, j]
  %f = schedule.fuse %k, %l
  schedule.compute_at %y, %f
}
