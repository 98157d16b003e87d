// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-annotate-regions | filecheck %s

// What bound inference finds, one kernel for each of TVM's tests of it: for every stage its place, its region and loops.


// tvm: test_schedule_bound_inference/bound1

// CHECK-LABEL: te.kernel @bound1(
// CHECK-SAME: "a1 at a2.i.outer: i from 8 * i.outer extent 8, j from 0 extent L; loops i 8, j L"
// CHECK-SAME: "a2: i from 0 extent M, j from 0 extent L; loops i.outer (M + 7) floordiv 8, i.inner 8, j L"
te.kernel @bound1(%x: tensor<?x?xf32, #graph.dims<[M, L]>>) -> tensor<?x?xf32, #graph.dims<[M, L]>> {
  %a1 = te.compute "a1" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %x[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %a1[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  te.return %a2 : tensor<?x?xf32, #graph.dims<[M, L]>>
}
schedule.sequence @bound1 {
  %a1, %p, %q = schedule.stage "a1" [i, j]
  %a2, %i, %j = schedule.stage "a2" [i, j]
  %xo, %xi = schedule.split %i factor 8
  schedule.compute_at %a1, %xo
}


// tvm: test_schedule_bound_inference/bound2

// CHECK-LABEL: te.kernel @bound2(
// CHECK-SAME: "a1 at a2.j.outer: i from 8 * i.outer extent 8, j from 8 * j.outer extent 8; loops i 8, j 8"
te.kernel @bound2(%x: tensor<?x?xf32, #graph.dims<[M, L]>>) -> tensor<?x?xf32, #graph.dims<[M, L]>> {
  %a1 = te.compute "a1" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %x[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %a1[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  te.return %a2 : tensor<?x?xf32, #graph.dims<[M, L]>>
}
schedule.sequence @bound2 {
  %a1, %p, %q = schedule.stage "a1" [i, j]
  %a2, %i, %j = schedule.stage "a2" [i, j]
  %xo, %xi = schedule.split %i factor 8
  %yo, %yi = schedule.split %j factor 8
  schedule.reorder %xo, %yo, %xi, %yi
  schedule.compute_at %a1, %yo
}


// tvm: test_schedule_bound_inference/bound3
// Threads share the buffer: it holds what all of them need.

// CHECK-LABEL: te.kernel @bound3(
// CHECK-SAME: "a1 at a2.i.inner.outer: i from 32 * i.outer extent 32, j from 16 * j.outer extent 16; loops i 32, j 16"
te.kernel @bound3(%x: tensor<?x?xf32, #graph.dims<[M, L]>>) -> tensor<?x?xf32, #graph.dims<[M, L]>> {
  %a1 = te.compute "a1" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %x[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %a1[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  te.return %a2 : tensor<?x?xf32, #graph.dims<[M, L]>>
}
schedule.sequence @bound3 {
  %a1, %p, %q = schedule.stage "a1" [i, j]
  %a2, %i, %j = schedule.stage "a2" [i, j]
  schedule.set_scope %a1 "shared"
  %xo, %xi = schedule.split %i factor 32
  %xi0, %xi1 = schedule.split %xi nparts 16
  schedule.bind %xi0 "threadIdx.x"
  %yo, %yi = schedule.split %j factor 16
  schedule.reorder %yo, %xo, %xi0, %xi1, %yi
  schedule.compute_at %a1, %xi0
}


// tvm: test_schedule_bound_inference/bound_split_divisible test_schedule_bound_inference/bound_tile_divisible

// CHECK-LABEL: te.kernel @divisible(
// CHECK-SAME: loops i.outer M, j.outer L, i.inner 8, j.inner 1"
te.kernel @divisible(%m: tensor<?x?xf32, #graph.dims<[M, L]>>, %x: tensor<?x?xf32, #graph.dims<[8 * M, L]>>) -> tensor<?x?xf32, #graph.dims<[8 * M, L]>> {
  %b = te.compute "b" [i: 8 * M, j: L] : tensor<?x?xf32, #graph.dims<[8 * M, L]>> {
    %v = te.read %x[i, j] : tensor<?x?xf32, #graph.dims<[8 * M, L]>>
    te.yield %v : f32
  }
  te.return %b : tensor<?x?xf32, #graph.dims<[8 * M, L]>>
}
schedule.sequence @divisible {
  %b, %i, %j = schedule.stage "b" [i, j]
  %xo, %xi = schedule.split %i factor 8
  %yo, %yi = schedule.split %j factor 1
  schedule.reorder %xo, %yo, %xi, %yi
}


// tvm: test_schedule_bound_inference/bound_fusesplit2
// A fused axis that a split cuts evenly: rows and columns are exact. Cut unevenly, two rows are needed, and all columns.

// CHECK-LABEL: te.kernel @bound_fusesplit2(
// CHECK-SAME: "a1 at a2.i.j.outer: i from i.j.outer floordiv 2 extent 1, j from 3 * (i.j.outer mod 2) extent 3;
te.kernel @bound_fusesplit2(%x: tensor<12x6xf32>) -> tensor<12x6xf32> {
  %a1 = te.compute "a1" [i: 12, j: 6] : tensor<12x6xf32> {
    %v = te.read %x[i, j] : tensor<12x6xf32>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: 12, j: 6] : tensor<12x6xf32> {
    %v = te.read %a1[i, j] : tensor<12x6xf32>
    te.yield %v : f32
  }
  te.return %a2 : tensor<12x6xf32>
}
schedule.sequence @bound_fusesplit2 {
  %a1, %p, %q = schedule.stage "a1" [i, j]
  %a2, %i, %j = schedule.stage "a2" [i, j]
  %f = schedule.fuse %i, %j
  %o, %n = schedule.split %f factor 3
  schedule.compute_at %a1, %o
}



// CHECK-LABEL: te.kernel @uneven(
// CHECK-SAME: "a1 at a2.i.j.outer: i from (2 * i.j.outer) floordiv 3 extent 2, j from 0 extent 6;
te.kernel @uneven(%x: tensor<12x6xf32>) -> tensor<12x6xf32> {
  %a1 = te.compute "a1" [i: 12, j: 6] : tensor<12x6xf32> {
    %v = te.read %x[i, j] : tensor<12x6xf32>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: 12, j: 6] : tensor<12x6xf32> {
    %v = te.read %a1[i, j] : tensor<12x6xf32>
    te.yield %v : f32
  }
  te.return %a2 : tensor<12x6xf32>
}
schedule.sequence @uneven {
  %a1, %p, %q = schedule.stage "a1" [i, j]
  %a2, %i, %j = schedule.stage "a2" [i, j]
  %f = schedule.fuse %i, %j
  %o, %n = schedule.split %f factor 4
  schedule.compute_at %a1, %o
}


// tvm: test_schedule_bound_inference/bound_warp
// A warp shares threadIdx.x, and that alone.

// CHECK-LABEL: te.kernel @bound_warp(
// CHECK-SAME: "a1 at a2.j: i from 32 * i.outer + 16 * i.inner.outer extent 16, j from j extent 1; loops i.outer {{.*}}, i.inner 16, j 1"
te.kernel @bound_warp(%x: tensor<?x?xf32, #graph.dims<[M, L]>>) -> tensor<?x?xf32, #graph.dims<[M, L]>> {
  %a1 = te.compute "a1" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %x[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %a1[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  te.return %a2 : tensor<?x?xf32, #graph.dims<[M, L]>>
}
schedule.sequence @bound_warp {
  %a1, %p, %q = schedule.stage "a1" [i, j]
  %a2, %i, %j = schedule.stage "a2" [i, j]
  schedule.set_scope %a1 "warp"
  %xo, %xi = schedule.split %i factor 32
  %xi0, %xi1 = schedule.split %xi factor 16
  schedule.bind %xi1 "threadIdx.x"
  schedule.bind %xi0 "threadIdx.y"
  schedule.compute_at %a1, %j
  %po, %pi = schedule.split %p factor 16
  schedule.bind %pi "threadIdx.x"
}


// tvm: test_schedule_bound_inference/bound_conv1d

// CHECK-LABEL: te.kernel @bound_conv1d(
// CHECK-SAME: "a at b.i: i from i extent 3; loops i 3"
te.kernel @bound_conv1d(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %a = te.compute "a" [i: N + 2] : tensor<?xf32, #graph.dims<[N + 2]>> {
    %z = arith.constant 1.0 : f32
    te.yield %z : f32
  }
  %b = te.compute "b" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %u = te.read %a[i] : tensor<?xf32, #graph.dims<[N + 2]>>
    %v = te.read %a[i + 1] : tensor<?xf32, #graph.dims<[N + 2]>>
    %w = te.read %a[i + 2] : tensor<?xf32, #graph.dims<[N + 2]>>
    %s = arith.addf %u, %v : f32
    %t = arith.addf %s, %w : f32
    te.yield %t : f32
  }
  te.return %b : tensor<?xf32, #graph.dims<[N]>>
}
schedule.sequence @bound_conv1d {
  %a, %p = schedule.stage "a" [i]
  %b, %i = schedule.stage "b" [i]
  schedule.compute_at %a, %i
}


// tvm: test_schedule_bound_inference/bound_blur

// CHECK-LABEL: te.kernel @bound_blur(
// CHECK-SAME: "a at b.j: i from i extent 3, j from j extent 3; loops i 3, j 3"
te.kernel @bound_blur(%x: tensor<?x?xf32, #graph.dims<[M, L]>>) -> tensor<?x?xf32, #graph.dims<[M, L]>> {
  %a = te.compute "a" [i: M + 2, j: L + 2] : tensor<?x?xf32, #graph.dims<[M + 2, L + 2]>> {
    %z = arith.constant 1.0 : f32
    te.yield %z : f32
  }
  %b = te.compute "b" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %u = te.read %a[i + 1, j] : tensor<?x?xf32, #graph.dims<[M + 2, L + 2]>>
    %v = te.read %a[i, j + 1] : tensor<?x?xf32, #graph.dims<[M + 2, L + 2]>>
    %w = te.read %a[i + 1, j + 2] : tensor<?x?xf32, #graph.dims<[M + 2, L + 2]>>
    %x1 = te.read %a[i + 2, j + 1] : tensor<?x?xf32, #graph.dims<[M + 2, L + 2]>>
    %s = arith.addf %u, %v : f32
    %t = arith.addf %w, %x1 : f32
    %r = arith.addf %s, %t : f32
    te.yield %r : f32
  }
  te.return %b : tensor<?x?xf32, #graph.dims<[M, L]>>
}
schedule.sequence @bound_blur {
  %a, %p, %q = schedule.stage "a" [i, j]
  %b, %i, %j = schedule.stage "b" [i, j]
  schedule.compute_at %a, %j
}


// tvm: test_schedule_bound_inference/bound_rfactor

// CHECK-LABEL: te.kernel @bound_rfactor(
// CHECK-SAME: "b.rf at b.k.outer: i from 0 extent 1, k.outer from k.outer extent 1; loops i 1, k.outer 1, k.inner (N + 3) floordiv 4"
te.kernel @bound_rfactor(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<1xf32> {
  %b = te.compute "b" [i: 1] reduce [k: N] : tensor<1xf32> {
    %v = te.read %x[k] : tensor<?xf32, #graph.dims<[N]>>
    te.reduce add %v : f32
  }
  te.return %b : tensor<1xf32>
}
schedule.sequence @bound_rfactor {
  %b, %i, %k = schedule.stage "b" [i, k]
  %kf, %ki = schedule.split %k nparts 4
  %rf, %ri, %rf_k, %rest_k, %rest = schedule.rfactor %b, %kf at 1 [i, k.outer, k.inner]
  schedule.compute_at %rf, %rest
}


// tvm: test_schedule_bound_inference/bound_group_schedule

// CHECK-LABEL: te.kernel @bound_group_schedule(
// CHECK-SAME: "a1 at a3.i: i from i extent 1, j from 0 extent L;
// CHECK-SAME: "a2 at a3.i: i from i extent 1, j from 0 extent L;
te.kernel @bound_group_schedule(%x: tensor<?x?xf32, #graph.dims<[M, L]>>) -> tensor<?x?xf32, #graph.dims<[M, L]>> {
  %a1 = te.compute "a1" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %x[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %a1[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  %a3 = te.compute "a3" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %a2[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  te.return %a3 : tensor<?x?xf32, #graph.dims<[M, L]>>
}
schedule.sequence @bound_group_schedule {
  %a1, %p, %q = schedule.stage "a1" [i, j]
  %a2, %r, %s = schedule.stage "a2" [i, j]
  %a3, %i, %j = schedule.stage "a3" [i, j]
  %g = schedule.create_group outputs(%a2) inputs(%a1) include_inputs
  schedule.compute_at %g, %i
}


// tvm: test_schedule_bound_inference/bound_nest_group

// CHECK-LABEL: te.kernel @bound_nest_group(
// CHECK-SAME: "a1 at a2.i: i from i extent 1, j from 0 extent L;
// CHECK-SAME: "a2 at a3.i: i from i extent 1, j from 0 extent L;
te.kernel @bound_nest_group(%x: tensor<?x?xf32, #graph.dims<[M, L]>>) -> tensor<?x?xf32, #graph.dims<[M, L]>> {
  %a1 = te.compute "a1" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %x[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %a1[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  %a3 = te.compute "a3" [i: M, j: L] : tensor<?x?xf32, #graph.dims<[M, L]>> {
    %v = te.read %a2[i, j] : tensor<?x?xf32, #graph.dims<[M, L]>>
    te.yield %v : f32
  }
  te.return %a3 : tensor<?x?xf32, #graph.dims<[M, L]>>
}
schedule.sequence @bound_nest_group {
  %a1, %p, %q = schedule.stage "a1" [i, j]
  %a2, %r, %s = schedule.stage "a2" [i, j]
  %a3, %i, %j = schedule.stage "a3" [i, j]
  %g1 = schedule.create_group outputs(%a1) inputs() include_inputs
  %g2 = schedule.create_group outputs(%a2) inputs(%a1) include_inputs
  schedule.compute_at %g2, %i
  schedule.compute_at %g1, %r
}


// tvm: test_schedule_bound_inference/bound_nest_thread
// A shared buffer holds what 32 threads need, a local one what its own needs.

// CHECK-LABEL: te.kernel @bound_nest_thread(
// CHECK-SAME: "a1 at a2.i.inner: i from i.inner + 32 * i.outer extent 1; loops i 1"
// CHECK-SAME: "a2 at a3.i.inner: i from 32 * i.outer extent 32; loops i.outer 1, i.inner 32"
// CHECK-SAME: "a3: i from 0 extent N;
te.kernel @bound_nest_thread(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %a1 = te.compute "a1" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %x[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %a1[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  %a3 = te.compute "a3" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %a2[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %a3 : tensor<?xf32, #graph.dims<[N]>>
}
schedule.sequence @bound_nest_thread {
  %a1, %p = schedule.stage "a1" [i]
  %a2, %q = schedule.stage "a2" [i]
  %a3, %i = schedule.stage "a3" [i]
  schedule.set_scope %a2 "shared"
  schedule.set_scope %a1 "local"
  %bx, %tx = schedule.split %i factor 32
  schedule.bind %bx "blockIdx.x"
  schedule.bind %tx "threadIdx.x"
  schedule.compute_at %a2, %tx
  %qo, %qi = schedule.split %q nparts 1
  schedule.bind %qi "threadIdx.x"
  schedule.compute_at %a1, %qi
}


// Inside threads a buffer is local unless the schedule says otherwise.

// CHECK-LABEL: te.kernel @default_scopes(
// CHECK-SAME: "a1 at a2.i: i from 32 * i.outer + i.inner extent 1; loops i 1"
// CHECK-SAME: "a2 at a3.i.inner: i from 32 * i.outer + i.inner extent 1; loops i 1"
te.kernel @default_scopes(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %a1 = te.compute "a1" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %x[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %a1[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  %a3 = te.compute "a3" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %a2[i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %a3 : tensor<?xf32, #graph.dims<[N]>>
}
schedule.sequence @default_scopes {
  %a1, %p = schedule.stage "a1" [i]
  %a2, %q = schedule.stage "a2" [i]
  %a3, %i = schedule.stage "a3" [i]
  %bx, %tx = schedule.split %i factor 32
  schedule.bind %bx "blockIdx.x"
  schedule.bind %tx "threadIdx.x"
  schedule.compute_at %a2, %tx
  schedule.compute_at %a1, %q
}


// tvm: test_schedule_bound_inference/bound_split_ext_less_than_factor test_schedule_bound_inference/bound_split_ext_less_than_naprts

// CHECK-LABEL: te.kernel @short(
// CHECK-SAME: "b: i from 0 extent 8; loops i.outer 1, i.inner.outer 8, i.inner.inner 1"
te.kernel @short(%x: tensor<8xf32>) -> tensor<8xf32> {
  %b = te.compute "b" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %b : tensor<8xf32>
}
schedule.sequence @short {
  %b, %i = schedule.stage "b" [i]
  %io, %ii = schedule.split %i factor 16
  %iio, %iii = schedule.split %ii nparts 64
}


// tvm: test_schedule_bound_inference/bound_simplification_failure
// An index that is always 0, once the ranges of its axes are known.

// CHECK-LABEL: te.kernel @declared(
// CHECK-SAME: "a at b.i.outer: i from 0 extent 1; loops i 1"
te.kernel @declared(%x: tensor<2xf32>) -> tensor<10xf32> {
  %a = te.compute "a" [i: 2] : tensor<2xf32> {
    %v = te.read %x[i] : tensor<2xf32>
    te.yield %v : f32
  }
  %b = te.compute "b" [i: 10] : tensor<10xf32> {
    %v = te.read %a[min(3 * i, 4 * i) + min(-3 * i, -2 * i)] : tensor<2xf32>
    te.yield %v : f32
  }
  te.return %b : tensor<10xf32>
}
schedule.sequence @declared {
  %a, %p = schedule.stage "a" [i]
  %b, %i = schedule.stage "b" [i]
  %io, %ii = schedule.split %i factor 5
  schedule.compute_at %a, %io
}


// tvm: test_schedule_bound_inference/bound_tile_mod

// CHECK-LABEL: te.kernel @bound_tile_mod(
// CHECK-SAME: "a1 at a2.j.outer.outer: i from 8 * i.outer.outer extent 8, j from 8 * j.outer.outer extent 8;
te.kernel @bound_tile_mod(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %a1 = te.compute "a1" [i: 32, j: 32] : tensor<32x32xf32> {
    %v = te.read %x[i, j] : tensor<32x32xf32>
    te.yield %v : f32
  }
  %a2 = te.compute "a2" [i: 32, j: 32] : tensor<32x32xf32> {
    %v = te.read %a1[i, j] : tensor<32x32xf32>
    te.yield %v : f32
  }
  te.return %a2 : tensor<32x32xf32>
}
schedule.sequence @bound_tile_mod {
  %a1, %p, %q = schedule.stage "a1" [i, j]
  %a2, %i, %j = schedule.stage "a2" [i, j]
  %io, %ii = schedule.split %i factor 4
  %jo, %ji = schedule.split %j factor 4
  %ioo, %ioi = schedule.split %io factor 2
  %joo, %joi = schedule.split %jo factor 2
  schedule.reorder %ioo, %joo, %ioi, %joi, %ii, %ji
  schedule.compute_at %a1, %joo
}


// apache/tvm#1316: three elements, five apart, not the eleven between the first and the last.

// CHECK-LABEL: te.kernel @strided(
// CHECK-SAME: "b at c.i: i from i extent 3 step 5; loops i 3"
te.kernel @strided(%x: tensor<15xf32>) -> tensor<5x3xf32> {
  %b = te.compute "b" [i: 15] : tensor<15xf32> {
    %v = te.read %x[i] : tensor<15xf32>
    te.yield %v : f32
  }
  %c = te.compute "c" [i: 5, j: 3] : tensor<5x3xf32> {
    %v = te.read %b[i + 5 * j] : tensor<15xf32>
    te.yield %v : f32
  }
  te.return %c : tensor<5x3xf32>
}
schedule.sequence @strided {
  %b, %bi = schedule.stage "b" [i]
  %c, %i, %j = schedule.stage "c" [i, j]
  schedule.compute_at %b, %i
}


// apache/tvm#597: quotient and remainder of one axis run together, and an axis taken apart and put together is itself.

// CHECK-LABEL: te.kernel @correlated(
// CHECK-SAME: "b at c.i: i from 4 * i extent 7; loops i 7"
te.kernel @correlated(%x: tensor<64xf32>) -> tensor<8x16xf32> {
  %b = te.compute "b" [i: 64] : tensor<64xf32> {
    %v = te.read %x[i] : tensor<64xf32>
    te.yield %v : f32
  }
  %c = te.compute "c" [i: 8, j: 16] : tensor<8x16xf32> {
    %v = te.read %b[4 * i + j floordiv 4 + j mod 4] : tensor<64xf32>
    te.yield %v : f32
  }
  te.return %c : tensor<8x16xf32>
}
schedule.sequence @correlated {
  %b, %bi = schedule.stage "b" [i]
  %c, %i, %j = schedule.stage "c" [i, j]
  schedule.compute_at %b, %i
}



// CHECK-LABEL: te.kernel @put_together(
// CHECK-SAME: "b at c.i: i from 16 * i extent 5; loops i 5"
te.kernel @put_together(%x: tensor<128xf32>) -> tensor<8x5xf32> {
  %b = te.compute "b" [i: 128] : tensor<128xf32> {
    %v = te.read %x[i] : tensor<128xf32>
    te.yield %v : f32
  }
  %c = te.compute "c" [i: 8, j: 5] : tensor<8x5xf32> {
    %v = te.read %b[16 * i + 3 * (j floordiv 3) + j mod 3] : tensor<128xf32>
    te.yield %v : f32
  }
  te.return %c : tensor<8x5xf32>
}
schedule.sequence @put_together {
  %b, %bi = schedule.stage "b" [i]
  %c, %i, %j = schedule.stage "c" [i, j]
  schedule.compute_at %b, %i
}
