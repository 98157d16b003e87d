// RUN: opt-tool %s --load-plugin %S/../tilework_python --target=python -p compile-kernel -t python | filecheck %s

// CHECK:      def double(v0, v1, threads):
// CHECK-NEXT:     v0 = floats(v0, 6)
// CHECK-NEXT:     v1 = floats(v1, 6)
// CHECK:          for [[I:v[0-9]+]] in range(0, 2):
// CHECK-NEXT:         for [[J:v[0-9]+]] in range(0, 3):
// CHECK-NEXT:             [[X:v[0-9]+]] = {{v[0-9]+}}[3 * [[I]] + [[J]]]
// CHECK-NEXT:             [[Y:v[0-9]+]] = [[X]] + [[X]]
// CHECK-NEXT:             {{v[0-9]+}}[3 * [[I]] + [[J]]] = [[Y]]
te.kernel @double(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %double = te.compute "double" [i: 2, j: 3] : tensor<2x3xf32> {
    %0 = te.read %x[i, j] : tensor<2x3xf32>
    %1 = arith.addf %0, %0 : f32
    te.yield %1 : f32
  }
  te.return %double : tensor<2x3xf32>
}
