// RUN: opt-tool %s --target='cuda -arch=sm_80' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='opencl -cores=2' -p compile-gpu-kernel --check-semantics -o /dev/null

// Sums of rows are stored by one thread of each; sums of columns by 32 threads side by side, each of which is helped by
// some others.

// CHECK-LABEL: schedule.sequence @row_sums
// CHECK:         %[[ONE:\w+]] = schedule.singleton
// CHECK:         %{{.*}}, %[[T:\w+]] = schedule.split %[[ONE]]
// CHECK:         schedule.bind %[[T]] "threadIdx.x"
te.kernel @row_sums(%x: tensor<5x131xf32>) -> tensor<5xf32> {
  %y = te.compute "y" [i: 5] reduce [r: 131] : tensor<5xf32> {
    %a = te.read %x[i, r] : tensor<5x131xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<5xf32>
}
// CHECK-LABEL: schedule.sequence @column_sums
// CHECK:         %[[BLOCK:\w+]], %[[ROW:\w+]] = schedule.split %{{.*}} factor 32
// CHECK:         schedule.bind %[[ROW]] "threadIdx.x"
// CHECK:         schedule.bind %{{.*}} "threadIdx.y"
// CHECK-NEXT:    schedule.compute_at %{{.*}}, %[[ROW]]
te.kernel @column_sums(%x: tensor<131x45xf32>) -> tensor<45xf32> {
  %y = te.compute "y" [i: 45] reduce [r: 131] : tensor<45xf32> {
    %a = te.read %x[r, i] : tensor<131x45xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<45xf32>
}
