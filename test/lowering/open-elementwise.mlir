// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p optimize-graph,lower-to-te,te-to-schedule,compile-kernel | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=skylake-avx512' -p optimize-graph,lower-to-te,te-to-schedule,compile-kernel | filecheck %s --check-prefix=WIDE

// Kernels element by element whose sizes are all unknown.

// One axis of all elements, in vectors: the indices of the three axes come back together to a linear subscript.
// CHECK-LABEL: loop.kernel @tanh
// CHECK:         loop.for [[I:%[a-z0-9_]+]] = 0 to (%B * %H * %W + 7) floordiv 8 {{.*}} parallel
// CHECK-NEXT:      loop.if
// CHECK-NEXT:        loop.load %input{{[0-9_]*}}[8 * [[I]]] : memref<?xf32>, vector<8xf32>
// CHECK:             loop.store {{.*}}[8 * [[I]]] : memref<?xf32>, vector<8xf32>
// CHECK:           else
// CHECK-NEXT:        loop.load %input{{[0-9_]*}}[8 * [[I]]] count %B * %H * %W - 8 * [[I]] : memref<?xf32>, vector<8xf32>
// CHECK-NOT:     mod
// WIDE-LABEL: loop.kernel @tanh
// WIDE:         loop.for [[I:%[a-z0-9_]+]] = 0 to (%B * %H * %W + 15) floordiv 16 {{.*}} parallel
// WIDE:           loop.load %input{{[0-9_]*}}[16 * [[I]]] : memref<?xf32>, vector<16xf32>

// A number for each row is broadcast, a row for each image is read in vectors: rows stay apart.
// CHECK-LABEL: loop.kernel @mul_add
// CHECK:         loop.load {{.*}} : memref<?xf32>, vector<8xf32>
// CHECK:         loop.store {{.*}} : memref<?xf32>, vector<8xf32>
func.func @main(%x: tensor<?x?x?xf32, #graph.dims<[B, H, W]>>, %n: tensor<?x1xf32, #graph.dims<[H, 1]>>, %r: tensor<?xf32, #graph.dims<[W]>>) -> (tensor<?x?x?xf32, #graph.dims<[B, H, W]>>, tensor<?x?x?xf32, #graph.dims<[B, H, W]>>) {
  %y = graph.tanh %x : (tensor<?x?x?xf32, #graph.dims<[B, H, W]>>) -> tensor<?x?x?xf32, #graph.dims<[B, H, W]>>
  %0 = graph.mul %x, %n : (tensor<?x?x?xf32, #graph.dims<[B, H, W]>>, tensor<?x1xf32, #graph.dims<[H, 1]>>) -> tensor<?x?x?xf32, #graph.dims<[B, H, W]>>
  %z = graph.add %0, %r : (tensor<?x?x?xf32, #graph.dims<[B, H, W]>>, tensor<?xf32, #graph.dims<[W]>>) -> tensor<?x?x?xf32, #graph.dims<[B, H, W]>>
  func.return %y, %z : tensor<?x?x?xf32, #graph.dims<[B, H, W]>>, tensor<?x?x?xf32, #graph.dims<[B, H, W]>>
}
