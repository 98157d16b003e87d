// RUN: opt-tool %s -p compile-kernel --target='llvm -mcpu=haswell' | filecheck %s
// RUN: opt-tool %s -p compile-kernel --target='llvm -mcpu=haswell' --check-semantics -o /dev/null

// A layer whose sums are taken eight products at a time by an instruction that the program declares: what it computes,
// and how it is written for LLVM and in C. `tilework run dense.mlir --random 1` runs it.

te.intrinsic @my.dot8(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<f32> attributes {accumulates, snippets = {
  llvm = ["$_a = load <8 x float>, ptr $a, align 4",
          "$_b = load <8 x float>, ptr $b, align 4",
          "$_p = fmul <8 x float> $_a, $_b",
          "$_before = load float, ptr $result, align 4",
          "$_sum = call reassoc float @llvm.vector.reduce.fadd.v8f32(float $_before, <8 x float> $_p)",
          "store float $_sum, ptr $result, align 4"],
  c = "for (int k = 0; k < 8; k++) *$result += $a[k] * $b[k];"
}} {
  %y = te.compute "y" [] reduce [k: 8] : tensor<f32> {
    %x = te.read %a[k] : tensor<8xf32>
    %w = te.read %b[k] : tensor<8xf32>
    %p = arith.mulf %x, %w : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<f32>
}

te.kernel @dense(%x: tensor<12x32xf32>, %w: tensor<10x32xf32>) -> tensor<12x10xf32> {
  %y = te.compute "y" [i: 12, j: 10] reduce [k: 32] : tensor<12x10xf32> {
    %a = te.read %x[i, k] : tensor<12x32xf32>
    %b = te.read %w[j, k] : tensor<10x32xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<12x10xf32>
}

schedule.sequence @dense {
  %y, %i, %j, %k = schedule.stage "y" [i, j, k]
  %ko, %ki = schedule.split %k factor 8
  schedule.tensorize %ki @my.dot8
}

// CHECK-LABEL: loop.kernel @dense
// CHECK:         loop.for %k_outer = 0 to 4 "k.outer" {
// CHECK-NEXT:      loop.intrinsic @my.dot8 updates %y_1[10 * %i + %j] of [] strides [] from %x_1[32 * %i + 8 * %k_outer] of [8] strides [1], %w_1[32 * %j + 8 * %k_outer] of [8] strides [1]
