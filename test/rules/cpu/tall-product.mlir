// RUN: opt-tool %s --target='llvm -mcpu=haswell -num-cores=4' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell -num-cores=4' -p te-halve-symmetric-products,te-to-schedule | filecheck %s --check-prefix=HALF
// RUN: opt-tool %s --target='llvm -mcpu=haswell -num-cores=4' -p compile-kernel | filecheck %s --check-prefix=LOOPS

// Each core sums a share of the terms, block by block, into results of its own, which are added in the end.
// CHECK-LABEL: schedule.sequence @tall
// CHECK:         schedule.split %k nparts 4
// CHECK-NEXT:    %[[OWN:rf]], %[[CORE:k_outer]], {{.*}} = schedule.rfactor %y
// CHECK-NEXT:    schedule.split %{{.*}} factor 512
// CHECK-NEXT:    %[[SUMS:rf_1]], {{.*}}, %[[BLOCK:rest_1]] = schedule.rfactor %[[OWN]]
// CHECK:         schedule.reorder %[[CORE]], %[[BLOCK]],
// CHECK:         schedule.parallel %[[CORE]]
// CHECK:         schedule.compute_at %[[SUMS]], %[[BLOCK]]

// Of half a symmetric product, the blocks below the diagonal are not computed.
// HALF-LABEL:  schedule.sequence @tall
// HALF:          schedule.split %i_{{.*}} factor 32 tail partition
// HALF:          schedule.split %j_{{.*}} factor 32 tail partition
// LOOPS-LABEL: loop.kernel @tall
// LOOPS-SAME:    scratch(%{{.*}}: memref<4x64x64xf32>,
// LOOPS:         loop.for %{{.*}} = 0 to 4 "k.outer" parallel
// LOOPS:           loop.for %{{.*}} = 0 to 10 "k.inner.outer"
// LOOPS:             loop.for %{{.*}} = 0 to min({{.*}}, 512) "k.inner.inner"
// LOOPS:               math.fma
// LOOPS:             loop.for %{{.*}} = 0 to min({{.*}}, 512) "k.inner.inner"
// LOOPS:               math.fma
// LOOPS-NOT:         math.fma
// LOOPS-LABEL: loop.kernel @open
te.kernel @tall(%x: tensor<20000x64xf32>) -> tensor<64x64xf32> {
  %y = te.compute "y" [i: 64, j: 64] reduce [k: 20000] : tensor<64x64xf32> {
    %a = te.read %x[k, i] : tensor<20000x64xf32>
    %b = te.read %x[k, j] : tensor<20000x64xf32>
    %p = arith.mulf %a, %b fastmath<contract> : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<64x64xf32>
}

// How many rows there are need not be known.
// CHECK-LABEL: schedule.sequence @open
// CHECK:         schedule.split %{{k.*}} nparts 4
te.kernel @open(%x: tensor<?x8xf32, #graph.dims<[n, 8]>>, %z: tensor<?x5xf32, #graph.dims<[n, 5]>>) -> tensor<8x5xf32> {
  %y = te.compute "y" [i: 8, j: 5] reduce [k: n] : tensor<8x5xf32> {
    %a = te.read %x[k, i] : tensor<?x8xf32, #graph.dims<[n, 8]>>
    %b = te.read %z[k, j] : tensor<?x5xf32, #graph.dims<[n, 5]>>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<8x5xf32>
}

// Operands that stay near are read by ordinary tiles, and so is what is no sum of floats.
// CHECK-LABEL: schedule.sequence @near
// CHECK-NOT:     nparts
te.kernel @near(%x: tensor<400x8xf32>, %z: tensor<400x5xf32>) -> tensor<8x5xf32> {
  %y = te.compute "y" [i: 8, j: 5] reduce [k: 400] : tensor<8x5xf32> {
    %a = te.read %x[k, i] : tensor<400x8xf32>
    %b = te.read %z[k, j] : tensor<400x5xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<8x5xf32>
}

// CHECK-LABEL: schedule.sequence @integers
// CHECK-NOT:     nparts
te.kernel @integers(%x: tensor<20000x64xi32>) -> tensor<64x64xi32> {
  %y = te.compute "y" [i: 64, j: 64] reduce [k: 20000] : tensor<64x64xi32> {
    %a = te.read %x[k, i] : tensor<20000x64xi32>
    %b = te.read %x[k, j] : tensor<20000x64xi32>
    %p = arith.muli %a, %b : i32
    te.reduce add %p : i32
  }
  te.return %y : tensor<64x64xi32>
}
