// RUN: opt-tool %s --target='llvm -mcpu=znver3 -num-cores=2 -cache-sizes=32768,524288,33554432' -p te-to-schedule | filecheck %s

// Planes of x are 4096 bytes apart, so that what steps read in turn has room in one place of the nearest cache: a copy in
// blocks of sixteen steps is read, which is made before all else.

// CHECK-LABEL: schedule.sequence @far
// CHECK:         [[COPY:%[a-z_0-9]+]], [[K:%[a-z_0-9]+]], [[Y:%[a-z_0-9]+]], [[X:%[a-z_0-9]+]] = schedule.cache_read %{{.*}} "global"
// CHECK-NEXT:    [[OUTER:%[a-z_0-9]+]], [[INNER:%[a-z_0-9]+]] = schedule.split [[K]] factor 16
// CHECK-NEXT:    schedule.reorder [[OUTER]], [[Y]], [[X]], [[INNER]]
// CHECK-NEXT:    %{{.*}} = schedule.cache_write [[COPY]] "global"
// CHECK:         schedule.parallel
// CHECK:         schedule.parallel
te.kernel @far(%x: tensor<64x32x32xf32>, %w: tensor<4x64x3x16xf32>) -> tensor<4x32x28x16xf32> {
  %y = te.compute "y" [o: 4, y: 32, x: 28, l: 16] reduce [k: 64, r: 3] : tensor<4x32x28x16xf32> {
    %a = te.read %x[k, y, x + 2 * r] : tensor<64x32x32xf32>
    %b = te.read %w[o, k, r, l] : tensor<4x64x3x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<4x32x28x16xf32>
}

// Of each of two images.

// CHECK-LABEL: schedule.sequence @two
// CHECK:         schedule.cache_read %{{.*}} "global"
// CHECK:         schedule.cache_read %{{.*}} "global"
te.kernel @two(%x: tensor<64x32x32xf32>, %z: tensor<64x32x32xf32>, %w: tensor<4x64x3x16xf32>) -> tensor<4x32x28x16xf32> {
  %y = te.compute "y" [o: 4, y: 32, x: 28, l: 16] reduce [k: 64, r: 3] : tensor<4x32x28x16xf32> {
    %a = te.read %x[k, y, x + 2 * r] : tensor<64x32x32xf32>
    %c = te.read %z[k, y, x + 2 * r] : tensor<64x32x32xf32>
    %b = te.read %w[o, k, r, l] : tensor<4x64x3x16xf32>
    %s = arith.addf %a, %c : f32
    %p = arith.mulf %s, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<4x32x28x16xf32>
}

// Not where planes begin at other places of the cache, where there are few of them, or hardly any results for which to
// read a copy.

// CHECK-LABEL: schedule.sequence @near
// CHECK-NOT:     schedule.cache_read {{.*}} "global"
te.kernel @near(%x: tensor<64x30x30xf32>, %w: tensor<4x64x3x16xf32>) -> tensor<4x30x26x16xf32> {
  %y = te.compute "y" [o: 4, y: 30, x: 26, l: 16] reduce [k: 64, r: 3] : tensor<4x30x26x16xf32> {
    %a = te.read %x[k, y, x + 2 * r] : tensor<64x30x30xf32>
    %b = te.read %w[o, k, r, l] : tensor<4x64x3x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<4x30x26x16xf32>
}

// CHECK-LABEL: schedule.sequence @thin
// CHECK-NOT:     schedule.cache_read {{.*}} "global"
te.kernel @thin(%x: tensor<4x32x32xf32>, %w: tensor<4x4x3x16xf32>) -> tensor<4x32x28x16xf32> {
  %y = te.compute "y" [o: 4, y: 32, x: 28, l: 16] reduce [k: 4, r: 3] : tensor<4x32x28x16xf32> {
    %a = te.read %x[k, y, x + 2 * r] : tensor<4x32x32xf32>
    %b = te.read %w[o, k, r, l] : tensor<4x4x3x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<4x32x28x16xf32>
}

// CHECK-LABEL: schedule.sequence @few
// CHECK-NOT:     schedule.cache_read {{.*}} "global"
te.kernel @few(%x: tensor<64x32x32xf32>, %w: tensor<1x64x3x2xf32>) -> tensor<1x32x28x2xf32> {
  %y = te.compute "y" [o: 1, y: 32, x: 28, l: 2] reduce [k: 64, r: 3] : tensor<1x32x28x2xf32> {
    %a = te.read %x[k, y, x + 2 * r] : tensor<64x32x32xf32>
    %b = te.read %w[o, k, r, l] : tensor<1x64x3x2xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<1x32x28x2xf32>
}

// CHECK-LABEL: te.kernel @end
te.kernel @end(%x: tensor<2x2xf32>) -> tensor<2xf32> {
  %y = te.compute "y" [i: 2] reduce [k: 2] : tensor<2xf32> {
    %a = te.read %x[i, k] : tensor<2x2xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<2xf32>
}
