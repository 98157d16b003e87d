// RUN: opt-tool %s --load-plugin %S/../tilework_npu --target=npu -p compile-kernel | filecheck %s
// RUN: opt-tool %s --load-plugin %S/../tilework_npu --target=npu -p compile-kernel --check-semantics -o /dev/null
// RUN: opt-tool %s --load-plugin %S/../tilework_npu --target=npu -p compile-kernel -t npu | filecheck %s --check-prefix=CODE

// CHECK-LABEL: loop.kernel @dense
// CHECK:         loop.for %i = 0 to 3
// CHECK:           loop.for %j_outer = 0 to 2
// CHECK:             loop.intrinsic @npu.zero writes %y_1[16 * %i + 8 * %j_outer] of [8]
// CHECK:             loop.for %k_outer = 0 to 2
// CHECK:               loop.intrinsic @npu.dot updates %y_1{{.*}} from %x_1[16 * %i + 8 * %k_outer] of [8] {{.*}}, %w_1[128 * %j_outer + 8 * %k_outer] of [8, 8] strides [16, 1]

// CODE:      npu.zero 2:0
// CODE-NEXT: npu.dot 2:0 0:0 1:0,16
// CODE-NEXT: npu.dot 2:0 0:8 1:8,16
// CODE-NEXT: npu.zero 2:8
te.kernel @dense(%x: tensor<3x16xi8>, %w: tensor<16x16xi8>) -> tensor<3x16xi32> {
  %y = te.compute "y" [i: 3, j: 16] reduce [k: 16] : tensor<3x16xi32> {
    %0 = te.read %x[i, k] : tensor<3x16xi8>
    %1 = te.read %w[j, k] : tensor<16x16xi8>
    %2 = arith.extsi %0 : i8 to i32
    %3 = arith.extsi %1 : i8 to i32
    %4 = arith.muli %2, %3 : i32
    te.reduce add %4 : i32
  }
  te.return %y : tensor<3x16xi32>
}
