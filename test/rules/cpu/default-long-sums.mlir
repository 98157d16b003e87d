// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule | filecheck %s

// A long sum goes in blocks: of 384 terms in a tile of a product.
// CHECK-LABEL: schedule.sequence @product
// CHECK:         %[[ALL:cache]], {{.*}} = schedule.cache_write %c "local"
// CHECK:         schedule.split %k_1 factor 384
// CHECK-NEXT:    %[[PARTS:rf]], {{.*}}, %[[LEFT:rest]] = schedule.rfactor %[[ALL]]
// CHECK:         schedule.set_scope %[[ALL]] "local"
// CHECK:         schedule.compute_at %[[PARTS]], %[[LEFT]]
// CHECK-NEXT:    schedule.set_scope %[[PARTS]] "register"
te.kernel @product(%a: tensor<16x1000xf32>, %b: tensor<1000x16xf32>) -> tensor<16x16xf32> {
  %c = te.compute "c" [i: 16, j: 16] reduce [k: 1000] : tensor<16x16xf32> {
    %x = te.read %a[i, k] : tensor<16x1000xf32>
    %y = te.read %b[k, j] : tensor<1000x16xf32>
    %p = arith.mulf %x, %y : f32
    te.reduce add %p : f32
  }
  te.return %c : tensor<16x16xf32>
}

// A sum of few terms does not, nor one of integers, nor a maximum.
// CHECK-LABEL: schedule.sequence @short
// CHECK-NOT:     rfactor
te.kernel @short(%a: tensor<16x768xf32>, %b: tensor<768x16xf32>) -> tensor<16x16xf32> {
  %c = te.compute "c" [i: 16, j: 16] reduce [k: 768] : tensor<16x16xf32> {
    %x = te.read %a[i, k] : tensor<16x768xf32>
    %y = te.read %b[k, j] : tensor<768x16xf32>
    %p = arith.mulf %x, %y : f32
    te.reduce add %p : f32
  }
  te.return %c : tensor<16x16xf32>
}

// CHECK-LABEL: schedule.sequence @exact
// CHECK-NOT:     rfactor
te.kernel @exact(%a: tensor<5000x16xi32>) -> tensor<16xi32> {
  %c = te.compute "c" [i: 16] reduce [k: 5000] : tensor<16xi32> {
    %x = te.read %a[k, i] : tensor<5000x16xi32>
    te.reduce add %x : i32
  }
  te.return %c : tensor<16xi32>
}

// CHECK-LABEL: schedule.sequence @maximum
// CHECK-NOT:     rfactor
te.kernel @maximum(%a: tensor<5000x16xf32>) -> tensor<16xf32> {
  %c = te.compute "c" [i: 16] reduce [k: 5000] : tensor<16xf32> {
    %x = te.read %a[k, i] : tensor<5000x16xf32>
    te.reduce max %x : f32
  }
  te.return %c : tensor<16xf32>
}

// A very long sum, and one of unknown length, has blocks of blocks.
// CHECK-LABEL: schedule.sequence @open
// CHECK:         schedule.split %{{.*}} factor 12288
// CHECK:         schedule.split %{{.*}} factor 384
te.kernel @open(%a: tensor<?x16xf32, #graph.dims<[n, 16]>>) -> tensor<16xf32> {
  %c = te.compute "c" [i: 16] reduce [k: n] : tensor<16xf32> {
    %x = te.read %a[k, i] : tensor<?x16xf32, #graph.dims<[n, 16]>>
    te.reduce add %x : f32
  }
  te.return %c : tensor<16xf32>
}

// Rows are summed in the lanes of vectors, 64 elements of a lane at a time, and lanes 8 at a time.
// CHECK-LABEL: schedule.sequence @rows
// CHECK:         schedule.rfactor
// CHECK:         %{{.*}}, %[[STEPS:.*]] = schedule.cache_write %{{.*}} "register"
// CHECK:         schedule.split %[[STEPS]] factor 64
// CHECK-NEXT:    schedule.rfactor
// CHECK:         schedule.cache_write %c
// CHECK:         schedule.split %{{.*}} factor 8
// CHECK-NEXT:    schedule.rfactor
te.kernel @rows(%a: tensor<2x64000xf32>) -> tensor<2xf32> {
  %c = te.compute "c" [i: 2] reduce [k: 64000] : tensor<2xf32> {
    %x = te.read %a[i, k] : tensor<2x64000xf32>
    te.reduce add %x : f32
  }
  te.return %c : tensor<2xf32>
}
