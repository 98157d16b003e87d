// RUN: opt-tool %s --target='cuda -arch=sm_80' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='opencl -cores=2' -p compile-gpu-kernel --check-semantics -o /dev/null

// Along channels that lie apart, neighbours are in other rows: a thread has a row for itself.

// CHECK-LABEL: schedule.sequence @channels
// CHECK:         %[[ROWS:\w+]] = schedule.fuse %n{{\w*}}, %x{{\w*}}
// CHECK-NEXT:    %{{.*}}, %[[THREAD:\w+]] = schedule.split %[[ROWS]] factor 256
// CHECK:         schedule.compute_at %sum{{\w*}}, %[[THREAD]]
te.kernel @channels(%x: tensor<2x13x101xf32>) -> tensor<2x13x101xf32> {
  %sum = te.compute "sum" [n: 2, x: 101] reduce [r: 13] : tensor<2x101xf32> {
    %a = te.read %x[n, r, x] : tensor<2x13x101xf32>
    te.reduce add %a : f32
  }
  %y = te.compute "y" [n: 2, c: 13, x: 101] : tensor<2x13x101xf32> {
    %a = te.read %x[n, c, x] : tensor<2x13x101xf32>
    %s = te.read %sum[n, x] : tensor<2x101xf32>
    %d = arith.subf %a, %s : f32
    te.yield %d : f32
  }
  te.return %y : tensor<2x13x101xf32>
}

// A thread makes a sum of few terms, and one by a reducer of the program's own, alone. There may be no rows, or no
// elements in them.

// CHECK-LABEL: schedule.sequence @few
// CHECK-NOT:     threadIdx.y
// CHECK-LABEL: schedule.sequence @own
// CHECK-NOT:     threadIdx.y
// CHECK-LABEL: schedule.sequence @none
te.kernel @few(%x: tensor<5x7xf32>) -> tensor<5xf32> {
  %y = te.compute "y" [i: 5] reduce [r: 7] : tensor<5xf32> {
    %a = te.read %x[i, r] : tensor<5x7xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<5xf32>
}
te.kernel @own(%x: tensor<5x64xf32>) -> tensor<5xf32> {
  %y = te.compute "y" [i: 5] reduce [r: 64] : tensor<5xf32> {
    %a = te.read %x[i, r] : tensor<5x64xf32>
    te.reduce %a from [0.0 : f32] : f32 {
    ^bb0(%l: f32, %r: f32):
      %s = arith.addf %l, %r : f32
      te.yield %s : f32
    }
  }
  te.return %y : tensor<5xf32>
}
te.kernel @none(%x: tensor<0x64xf32>, %z: tensor<3x0xf32>) -> (tensor<0xf32>, tensor<3xf32>) {
  %y = te.compute "y" [i: 0] reduce [r: 64] : tensor<0xf32> {
    %a = te.read %x[i, r] : tensor<0x64xf32>
    te.reduce add %a : f32
  }
  %w = te.compute "w" [i: 3] reduce [r: 0] : tensor<3xf32> {
    %a = te.read %z[i, r] : tensor<3x0xf32>
    te.reduce add %a : f32
  }
  te.return %y, %w : tensor<0xf32>, tensor<3xf32>
}
