// RUN: tilework tune %s --sketches --target 'llvm -mcpu=haswell' | filecheck %s

// What lies side by side is summed in lanes, which are joined at the end. So many vectors of parts are a choice as
// divide the row.
// CHECK-LABEL: // S in lanes along k
// CHECK:         schedule.split %k{{.*}} factor #schedule.knob<"S.parts", [8, 16, 32], 8>
// CHECK:         schedule.rfactor {{.*}} at -1 [i, k.inner, k.outer]
// CHECK-LABEL: // S in tiles, lanes along i, order i
te.kernel @rows(%X: tensor<100x96xf32>) -> tensor<100xf32> {
  %S = te.compute "S" [i: 100] reduce [k: 96] : tensor<100xf32> {
    %0 = te.read %X[i, k] : tensor<100x96xf32>
    te.reduce add %0 : f32
  }
  te.return %S : tensor<100xf32>
}

// A prime length has one vector of parts, and lanes without a part are masked.
// CHECK-LABEL: // M in lanes along k
// CHECK:         schedule.split %k{{.*}} factor 8
// CHECK:         schedule.vectorize {{.*}} masked
te.kernel @prime(%X: tensor<100x97xf32>) -> tensor<100xf32> {
  %M = te.compute "M" [i: 100] reduce [k: 97] : tensor<100xf32> {
    %0 = te.read %X[i, k] : tensor<100x97xf32>
    te.reduce max %0 : f32
  }
  te.return %M : tensor<100xf32>
}

// Along columns nothing lies side by side, and lanes are columns.
// CHECK-NOT:   // T in lanes along k
// CHECK-LABEL: // T in tiles, lanes along j, order j
te.kernel @columns(%X: tensor<97x100xf32>) -> tensor<100xf32> {
  %T = te.compute "T" [j: 100] reduce [k: 97] : tensor<100xf32> {
    %0 = te.read %X[k, j] : tensor<97x100xf32>
    te.reduce add %0 : f32
  }
  te.return %T : tensor<100xf32>
}
