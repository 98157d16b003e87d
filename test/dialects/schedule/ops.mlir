// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | filecheck %s --check-prefix GENERIC

te.kernel @conv_relu(%x: tensor<8x34xf32>, %w: tensor<16x8x3xf32>) -> tensor<16x32xf32> {
  %twice = te.compute "twice" [c: 8, i: 34] : tensor<8x34xf32> {
    %a = te.read %x[c, i] : tensor<8x34xf32>
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  }
  %conv = te.compute "conv" [k: 16, i: 32] reduce [c: 8, s: 3] : tensor<16x32xf32> {
    %a = te.read %twice[c, i + s] : tensor<8x34xf32>
    %b = te.read %w[k, c, s] : tensor<16x8x3xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  %relu = te.compute "relu" [k: 16, i: 32] : tensor<16x32xf32> {
    %a = te.read %conv[k, i] : tensor<16x32xf32>
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %z : f32
    te.yield %m : f32
  }
  te.return %relu : tensor<16x32xf32>
}

// CHECK-LABEL: schedule.sequence @conv_relu
// GENERIC: "schedule.sequence"() <{kernel = @conv_relu}>
schedule.sequence @conv_relu {
  // CHECK: %twice, %c, %i = schedule.stage "twice" [c, i]
  // GENERIC: "schedule.stage"() <{stage = "twice", axis_names = ["c", "i"]}> : () -> (!schedule.stage, !schedule.axis, !schedule.axis)
  %twice, %c, %i = schedule.stage "twice" [c, i]
  // CHECK: schedule.compute_inline %twice
  schedule.compute_inline %twice
  %relu, %k, %ri = schedule.stage "relu" [k, i]
  %conv, %ck, %ci, %cc, %cs = schedule.stage "conv" [k, i, c, s]
  // CHECK: schedule.cache_write %conv "local" [k, i, c, s]
  %l, %lk, %li, %lc, %ls = schedule.cache_write %conv "local" [k, i, c, s]
  // CHECK: %ko, %ki = schedule.split %k factor 4
  %ko, %ki = schedule.split %k factor 4
  // CHECK: schedule.split %ri factor 16 tail shift
  // GENERIC: "schedule.split"(%{{.*}}) <{factor = 16 : i64, tail = #schedule<tail shift>}> : (!schedule.axis) -> (!schedule.axis, !schedule.axis)
  %io, %ii = schedule.split %ri factor 16 tail shift
  // CHECK: schedule.split %ck nparts 2 tail partition
  %cko, %cki = schedule.split %ck nparts 2 tail partition
  // CHECK: schedule.split %ci factor 5 tail mask
  %cio, %cii = schedule.split %ci factor 5 tail mask
  // CHECK: schedule.reorder %ko, %io, %ki, %ii
  schedule.reorder %ko, %io, %ki, %ii
  // CHECK: %f = schedule.fuse %ko, %io
  %f = schedule.fuse %ko, %io
  // CHECK: schedule.compute_at %l, %f
  schedule.compute_at %l, %f
  // CHECK: schedule.set_scope %conv "global"
  schedule.set_scope %conv "global"
  // CHECK: schedule.parallel %f
  schedule.parallel %f
  // CHECK: schedule.unroll %ki
  schedule.unroll %ki
  // CHECK: schedule.vectorize %ii masked
  schedule.vectorize %ii masked
}
