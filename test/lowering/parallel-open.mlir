// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule,schedule-apply-dataflow,schedule-to-loop | filecheck %s --check-prefix=LOOP

// Rows of unknown number: from so much work on a second thread is worth it. Of known many it is known, also where
// each row is a lot of work, as is each of an unknown number of them.

// CHECK-LABEL: schedule.sequence @open
// CHECK:         schedule.parallel [[ROWS:%[a-z0-9_]*]]
// CHECK-NEXT:    schedule.pragma [[ROWS]] "parallel_least_work"
// LOOP-LABEL:  loop.kernel @open
// LOOP:          parallel when [64 * %N - 32768 >= 0] {
// CHECK-LABEL: schedule.sequence @known
// CHECK:         schedule.parallel
// CHECK-NOT:     schedule.pragma
// CHECK-LABEL: schedule.sequence @long
// CHECK:         schedule.parallel
// CHECK-NOT:     schedule.pragma
// CHECK-LABEL: schedule.sequence @open_long
// CHECK:         schedule.parallel
// CHECK-NOT:     schedule.pragma
// One row times a matrix of an unknown number of columns: the loop over these asks, too.
// CHECK-LABEL: schedule.sequence @columns
// CHECK:         schedule.parallel
// CHECK-NEXT:    schedule.pragma %{{.*}} "parallel_least_work"
te.kernel @open(%x: tensor<?x64xf32, #graph.dims<[N, 64]>>) -> tensor<?x64xf32, #graph.dims<[N, 64]>> {
  %y = te.compute "y" [i: N, j: 64] : tensor<?x64xf32, #graph.dims<[N, 64]>> {
    %a = te.read %x[i, j] : tensor<?x64xf32, #graph.dims<[N, 64]>>
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  }
  te.return %y : tensor<?x64xf32, #graph.dims<[N, 64]>>
}
te.kernel @known(%x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %y = te.compute "y" [i: 4096, j: 64] : tensor<4096x64xf32> {
    %a = te.read %x[i, j] : tensor<4096x64xf32>
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  }
  te.return %y : tensor<4096x64xf32>
}
te.kernel @long(%x: tensor<64x2097152xf32>) -> tensor<64xf32> {
  %y = te.compute "y" [i: 64] reduce [k: 2097152] : tensor<64xf32> {
    %a = te.read %x[i, k] : tensor<64x2097152xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<64xf32>
}
te.kernel @open_long(%x: tensor<?x2097152xf32, #graph.dims<[N, 2097152]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %y = te.compute "y" [i: N] reduce [k: 2097152] : tensor<?xf32, #graph.dims<[N]>> {
    %a = te.read %x[i, k] : tensor<?x2097152xf32, #graph.dims<[N, 2097152]>>
    te.reduce add %a : f32
  }
  te.return %y : tensor<?xf32, #graph.dims<[N]>>
}
te.kernel @columns(%x: tensor<1x64xf32>, %w: tensor<64x?xf32, #graph.dims<[64, N]>>) -> tensor<1x?xf32, #graph.dims<[1, N]>> {
  %y = te.compute "y" [i: 1, j: N] reduce [k: 64] : tensor<1x?xf32, #graph.dims<[1, N]>> {
    %a = te.read %x[i, k] : tensor<1x64xf32>
    %b = te.read %w[k, j] : tensor<64x?xf32, #graph.dims<[64, N]>>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<1x?xf32, #graph.dims<[1, N]>>
}
