// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule | filecheck %s

// Bias and relu are inlined, the convolution is computed in a register tile at relu, padding some rows at a time, right
// before all filters read them.

// CHECK-LABEL: schedule.sequence @conv_relu
// CHECK: %relu, {{.*}} = schedule.stage "relu"
// CHECK: %conv, {{.*}} = schedule.stage "conv"
// CHECK: schedule.parallel %[[ROWS:.*]]
// CHECK: schedule.compute_at %conv
// CHECK: schedule.set_scope %conv "register"
// CHECK: %pad, {{.*}} = schedule.stage "pad"
// CHECK: schedule.vectorize
// CHECK: schedule.compute_at %pad, %[[ROWS]]
te.kernel @conv_relu(%x: tensor<1x16x28x28xf32>, %w: tensor<32x16x3x3xf32>, %b: tensor<32xf32>) -> tensor<1x32x28x28xf32> {
  %pad = te.compute "pad" [n: 1, c: 16, y: 30, x: 30] : tensor<1x16x30x30xf32> {
    %v = te.if_then_else [y - 1 >= 0, 28 - y >= 0, x - 1 >= 0, 28 - x >= 0] : f32 {
      %e = te.read %x[n, c, y - 1, x - 1] : tensor<1x16x28x28xf32>
      te.yield %e : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  %conv = te.compute "conv" [n: 1, k: 32, y: 28, x: 28] reduce [c: 16, r: 3, s: 3] : tensor<1x32x28x28xf32> {
    %a = te.read %pad[n, c, y + r, x + s] : tensor<1x16x30x30xf32>
    %f = te.read %w[k, c, r, s] : tensor<32x16x3x3xf32>
    %p = arith.mulf %a, %f : f32
    te.reduce add %p : f32
  }
  %bias = te.compute "bias" [n: 1, k: 32, y: 28, x: 28] : tensor<1x32x28x28xf32> {
    %a = te.read %conv[n, k, y, x] : tensor<1x32x28x28xf32>
    %f = te.read %b[k] : tensor<32xf32>
    %p = arith.addf %a, %f : f32
    te.yield %p : f32
  }
  %relu = te.compute "relu" [n: 1, k: 32, y: 28, x: 28] : tensor<1x32x28x28xf32> {
    %a = te.read %bias[n, k, y, x] : tensor<1x32x28x28xf32>
    %z = arith.constant 0.0 : f32
    %p = arith.maximumf %a, %z : f32
    te.yield %p : f32
  }
  te.return %relu : tensor<1x32x28x28xf32>
}

// A kernel that has a schedule keeps it.

// CHECK-LABEL: schedule.sequence @mine
// CHECK-NEXT: schedule.stage
// CHECK-NEXT: schedule.parallel
// CHECK-NEXT: }
// CHECK-NOT: schedule.sequence
te.kernel @mine(%x: tensor<7xf32>) -> tensor<7xf32> {
  %y = te.compute "y" [i: 7] : tensor<7xf32> {
    %a = te.read %x[i] : tensor<7xf32>
    te.yield %a : f32
  }
  te.return %y : tensor<7xf32>
}
schedule.sequence @mine {
  %y, %i = schedule.stage "y" [i]
  schedule.parallel %i
}

// What statements read whole is neither inlined nor computed at another reader; they stay as they are.

// CHECK-LABEL: schedule.sequence @statements
// CHECK-NOT:   schedule.compute_inline
// CHECK-NOT:   schedule.compute_at %sum
// CHECK-NOT:   schedule.stage "total"
// CHECK:       schedule.stage "relu"
te.kernel @statements(%x: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<1xf32>) {
  %twice = te.compute "twice" [i: 64, k: 64] : tensor<64x64xf32> {
    %v = te.read %x[i, k] : tensor<64x64xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %sum = te.compute "sum" [i: 64] reduce [k: 64] : tensor<64xf32> {
    %v = te.read %twice[i, k] : tensor<64x64xf32>
    te.reduce add %v : f32
  }
  %relu = te.compute "relu" [i: 64] : tensor<64xf32> {
    %v = te.read %sum[i] : tensor<64xf32>
    %zero = arith.constant 0.0 : f32
    %w = arith.maximumf %v, %zero : f32
    te.yield %w : f32
  }
  %total = te.extern "total" ins(%a = %sum : tensor<64xf32>, %b = %twice : tensor<64x64xf32>) outs(%c : tensor<1xf32>) {
    %v = loop.load %a[0] : memref<64xf32>
    %w = loop.load %b[0, 0] : memref<64x64xf32>
    %u = arith.addf %v, %w : f32
    loop.store %u, %c[0] : memref<1xf32>
  }
  te.return %relu, %total : tensor<64xf32>, tensor<1xf32>
}
