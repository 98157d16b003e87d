// RUN: opt-tool %s --load-plugin %S/../tilework_python --target=python -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --load-plugin %S/../tilework_python --target=python -p compile-kernel --check-semantics

// The sum stays; what it reads is computed where it is read.
// CHECK-LABEL: schedule.sequence @sum_of_squares
// CHECK:         [[SQUARE:%[a-z]+]], {{.*}} = schedule.stage "square"
// CHECK:         schedule.compute_inline [[SQUARE]]
// CHECK-NOT:     schedule.compute_inline
te.kernel @sum_of_squares(%x: tensor<7xf32>) -> tensor<1xf32> {
  %square = te.compute "square" [i: 7] : tensor<7xf32> {
    %0 = te.read %x[i] : tensor<7xf32>
    %1 = arith.mulf %0, %0 : f32
    te.yield %1 : f32
  }
  %sum = te.compute "sum" [j: 1] reduce [k: 7] : tensor<1xf32> {
    %0 = te.read %square[k] : tensor<7xf32>
    te.reduce add %0 : f32
  }
  te.return %sum : tensor<1xf32>
}
