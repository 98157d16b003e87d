// RUN: opt-tool %s -p schedule-to-loop | filecheck %s

// Without a schedule: stage by stage, temporaries in scratch.

// CHECK-LABEL: loop.kernel @unscheduled ins(%x: memref<?x4xf32> [N, 4]) outs(%b: memref<?xf32> [N]) scratch(%a: memref<?xf32> [N]) symbols(%N)
// CHECK-NEXT: loop.for %i = 0 to %N "i"
// CHECK:        loop.for %k = 0 to 4 "k"
// CHECK:      loop.for %i_1 = 0 to %N "i"
te.kernel @unscheduled(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %a = te.compute "a" [i: N] reduce [k: 4] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %x[i, k] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    te.reduce max %v : f32
  }
  %b = te.compute "b" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %a[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %b : tensor<?xf32, #graph.dims<[N]>>
}

// compute_at: a three-point window at one output point needs three elements (TVM's bound_conv1d), guarded at the ends.

// CHECK-LABEL: loop.kernel @window
// CHECK: loop.for %i = 0 to 10 "i"
// CHECK-NEXT: memref.alloca() : memref<3xf32, "local">
// CHECK-NEXT: loop.for %j = 0 to 3 "j"
// CHECK: loop.load %x[%j + %i] : memref<12xf32>
// CHECK: loop.load %twice[%k] : memref<3xf32, "local">
te.kernel @window(%x: tensor<12xf32>) -> tensor<10xf32> {
  %twice = te.compute "twice" [j: 12] : tensor<12xf32> {
    %v = te.read %x[j] : tensor<12xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %sum = te.compute "sum" [i: 10] reduce [k: 3] : tensor<10xf32> {
    %v = te.read %twice[i + k] : tensor<12xf32>
    te.reduce add %v : f32
  }
  te.return %sum : tensor<10xf32>
}
schedule.sequence @window {
  %twice, %j = schedule.stage "twice" [j]
  %sum, %i, %k = schedule.stage "sum" [i, k]
  schedule.compute_at %twice, %i
}

// The tail strategies, on a prime extent.

// CHECK-LABEL: loop.kernel @guard
// CHECK: loop.for %i_outer = 0 to 4 "i.outer" {
// CHECK: loop.if [-4 * %i_outer - %i_inner + 12 >= 0]
te.kernel @guard(%x: tensor<13xf32>) -> tensor<13xf32> {
  %y = te.compute "y" [i: 13] : tensor<13xf32> {
    %v = te.read %x[i] : tensor<13xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<13xf32>
}
schedule.sequence @guard {
  %y, %i = schedule.stage "y" [i]
  %o, %n = schedule.split %i factor 4
}

// CHECK-LABEL: loop.kernel @partition
// CHECK: loop.for %i_outer = 0 to 4 "i.outer" partition {
// CHECK: loop.if
te.kernel @partition(%x: tensor<13xf32>) -> tensor<13xf32> {
  %y = te.compute "y" [i: 13] : tensor<13xf32> {
    %v = te.read %x[i] : tensor<13xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<13xf32>
}
schedule.sequence @partition {
  %y, %i = schedule.stage "y" [i]
  %o, %n = schedule.split %i factor 4 tail partition
}

// CHECK-LABEL: loop.kernel @shift
// CHECK-NOT: loop.if
// CHECK: loop.store %{{.*}}, %y[min(4 * %i_outer, 9) + %i_inner]
te.kernel @shift(%x: tensor<13xf32>) -> tensor<13xf32> {
  %y = te.compute "y" [i: 13] : tensor<13xf32> {
    %v = te.read %x[i] : tensor<13xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<13xf32>
}
schedule.sequence @shift {
  %y, %i = schedule.stage "y" [i]
  %o, %n = schedule.split %i factor 4 tail shift
}

// CHECK-LABEL: loop.kernel @mask
// CHECK-NOT: loop.if
// CHECK: loop.for %i_inner = 0 to min(3, %N - 4 * %i_outer - 1) + 1 "i.inner" vectorized
te.kernel @mask(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %y = te.compute "y" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %x[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %y : tensor<?xf32, #graph.dims<[N]>>
}
schedule.sequence @mask {
  %y, %i = schedule.stage "y" [i]
  %o, %n = schedule.split %i factor 4 tail mask
  schedule.vectorize %n
}

// A factor larger than the extent shrinks; a zero extent runs nothing.

// CHECK-LABEL: loop.kernel @larger
// CHECK: loop.for %i_outer = 0 to 1 "i.outer"
// CHECK-NEXT: loop.for %i_inner = 0 to 3 "i.inner"
te.kernel @larger(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = te.compute "y" [i: 3] : tensor<3xf32> {
    %v = te.read %x[i] : tensor<3xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<3xf32>
}
schedule.sequence @larger {
  %y, %i = schedule.stage "y" [i]
  %o, %n = schedule.split %i factor 8
}

// CHECK-LABEL: loop.kernel @empty
// CHECK: loop.for %i_outer = 0 to 0 "i.outer"
te.kernel @empty(%x: tensor<0xf32>) -> tensor<0xf32> {
  %y = te.compute "y" [i: 0] : tensor<0xf32> {
    %v = te.read %x[i] : tensor<0xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<0xf32>
}
schedule.sequence @empty {
  %y, %i = schedule.stage "y" [i]
  %o, %n = schedule.split %i factor 8
}

// fuse: the fused axis is taken apart again; split of a fused axis whose parts line up needs no division.

// CHECK-LABEL: loop.kernel @fused
// CHECK: loop.for %i_j = 0 to 35 "i.j"
// CHECK: loop.store %{{.*}}, %y[%i_j floordiv 7, %i_j mod 7]
te.kernel @fused(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %y = te.compute "y" [i: 5, j: 7] : tensor<5x7xf32> {
    %v = te.read %x[i, j] : tensor<5x7xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<5x7xf32>
}
schedule.sequence @fused {
  %y, %i, %j = schedule.stage "y" [i, j]
  %f = schedule.fuse %i, %j
}

// A reduce axis outside a spatial one: the elements are set in a nest of their own.

// CHECK-LABEL: loop.kernel @outside
// CHECK: loop.for %i = 0 to 4 "i"
// CHECK: arith.constant 0.0
// CHECK: loop.for %k = 0 to 8 "k"
// CHECK-NEXT: loop.for %i_1 = 0 to 4 "i"
te.kernel @outside(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] reduce [k: 8] : tensor<4xf32> {
    %v = te.read %x[i, k] : tensor<4x8xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<4xf32>
}
schedule.sequence @outside {
  %y, %i, %k = schedule.stage "y" [i, k]
  schedule.reorder %k, %i
}

// A split of a split: the surplus of the inner one is another outer iteration's share, so it is guarded as well (found
// by fuzzing: with the reduce axis outside, elements were added twice).

// CHECK-LABEL: loop.kernel @split_split
// CHECK: loop.if [-3 * %i_outer - 2 * %i_inner_outer - %i_inner_inner + 3 >= 0, -2 * %i_inner_outer - %i_inner_inner + 2 >= 0]
te.kernel @split_split(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] reduce [k: 8] : tensor<4xf32> {
    %v = te.read %x[i, k] : tensor<4x8xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<4xf32>
}
schedule.sequence @split_split {
  %y, %i, %k = schedule.stage "y" [i, k]
  %o, %n = schedule.split %i factor 3
  %no, %nn = schedule.split %n factor 2
  schedule.reorder %k, %o, %no, %nn
}

// A sum of nothing is set all the same: conditions on a reduction are none of its result's, even where no loop of the
// reduction is left in them.

// CHECK-LABEL: loop.kernel @empty_sums
// CHECK-NOT:     loop.if
// CHECK:         loop.store
// CHECK-LABEL: loop.kernel @triangle
// CHECK-NEXT:    loop.for %i = 0 to 2 "i" {
// CHECK-NEXT:      arith.constant
// CHECK-NEXT:      loop.store
te.kernel @empty_sums(%x: tensor<3x0xf32>) -> tensor<3xf32> {
  %sum = te.compute "sum" [i: 3] reduce [k: 0] : tensor<3xf32> {
    %v = te.read %x[i, k] : tensor<3x0xf32>
    te.reduce add %v : f32
  }
  te.return %sum : tensor<3xf32>
}
schedule.sequence @empty_sums {
  %sum, %i, %k = schedule.stage "sum" [i, k]
  %ko, %ki = schedule.split %k nparts 8
  %f = schedule.fuse %ko, %ki
}

te.kernel @triangle(%x: tensor<2x2xf32>) -> tensor<2xf32> {
  %sum = te.compute "sum" [i: 2] reduce [k: i] : tensor<2xf32> {
    %v = te.read %x[i, k] : tensor<2x2xf32>
    te.reduce add %v : f32
  }
  te.return %sum : tensor<2xf32>
}
schedule.sequence @triangle {
  %sum, %i, %k = schedule.stage "sum" [i, k]
  %ko, %ki = schedule.split %k factor 2
}
