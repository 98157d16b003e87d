// RUN: tilework tune %s --sketches --target 'opencl -threads=256 -shared-kib=32 -warp=32 -cores=16' | filecheck %s

// A product without a schedule is summed as anything is; or in tiles. Threads of a block fetch both factors together then,
// as many along each axis as compute: that is one knob.
// CHECK-LABEL: // C summed by threads together
// CHECK-LABEL: // C summed in a thread
// CHECK-LABEL: // C in tiles along i j, arguments 0, 1 in shared memory
// CHECK:         schedule.cache_read %{{.*}} "shared"
// CHECK:         schedule.cache_read %{{.*}} "shared"
// CHECK:         schedule.split %{{.*}} factor #schedule.knob<"C.i.threads", [1, 2, 4, 8, 16, 32, 64], 1>
// CHECK:         schedule.bind %{{.*}} "vthread"
// CHECK:         schedule.bind %{{.*}} "threadIdx.x"
// CHECK:         schedule.split %{{.*}} factor #schedule.knob<"C.i.threads", [1, 2, 4, 8, 16, 32, 64], 1>
// CHECK-NEXT:    schedule.bind %{{.*}} "threadIdx.y"
// CHECK-LABEL: // C in tiles along i j
// CHECK-NOT:     schedule.cache_read
te.kernel @product(%A: tensor<64x48xf32>, %B: tensor<48x97xf32>) -> tensor<64x97xf32> {
  %C = te.compute "C" [i: 64, j: 97] reduce [k: 48] : tensor<64x97xf32> {
    %0 = te.read %A[i, k] : tensor<64x48xf32>
    %1 = te.read %B[k, j] : tensor<48x97xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %C : tensor<64x97xf32>
}

// Nothing is read twice, so there are no tiles.
// CHECK-LABEL: // S summed by threads together
// CHECK-LABEL: // S summed in a thread
// CHECK-NOT:   in tiles
te.kernel @rows(%X: tensor<7x96xf32>) -> tensor<7xf32> {
  %S = te.compute "S" [i: 7] reduce [k: 96] : tensor<7xf32> {
    %0 = te.read %X[i, k] : tensor<7x96xf32>
    te.reduce add %0 : f32
  }
  te.return %S : tensor<7xf32>
}
