// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p graph-fuse-operators,lower-to-te --check-semantics | filecheck %s --check-prefix=TE

// Regions are pooled one by one, in parallel where they are many. A bin has as many samples as it is large, all channels
// of each at once.

// CHECK-LABEL: func.func @samples
// TE-LABEL: te.kernel @roi_align(
// TE:         te.extern "roi_align"
// TE:           loop.for %i0 = 0 to %K "i0" parallel when [24 * %K - 32768 >= 0] {
// TE:             loop.for [[I:%i0[_0-9]*]] = 0 to 2 "i0" {
// TE:               loop.for [[J:%i1[_0-9]*]] = 0 to 3 "i1" {
// TE:                 math.ceil
// TE:                 loop.for [[Y:%i0[_0-9]*]] = 0 to [[LAST:%\d+]] - [[FIRST:%\d+]] "i0" {
// TE:                   loop.for [[X:%i0[_0-9]*]] = 0 to {{.*}} "i0" {
// TE:                     loop.for [[C:%i0[_0-9]*]] = 0 to 4 "i0" {
// TE:                       loop.store %{{.*}}, %{{.*}}[%i0, [[I]], [[J]], [[C]]] : memref<?x2x3x4xf32>
func.func @samples(%x: tensor<1x8x9x4xf32>, %boxes: tensor<?x4xf32, #graph.dims<[K, 4]>>, %images: tensor<?xi64, #graph.dims<[K]>>) -> tensor<?x2x3x4xf32, #graph.dims<[K, 2, 3, 4]>> {
  // CHECK: graph.roi_align %x, %boxes, %images {height = 2 : i64, width = 3 : i64, scale = 5.000000e-01 : f32, samples = 0 : i64, half_pixel = true, largest = false} : (tensor<1x8x9x4xf32>, tensor<?x4xf32, #graph.dims<[K, 4]>>, tensor<?xi64, #graph.dims<[K]>>) -> tensor<?x2x3x4xf32, #graph.dims<[K, 2, 3, 4]>>
  %y = graph.roi_align %x, %boxes, %images {height = 2 : i64, width = 3 : i64, scale = 0.5 : f32, samples = 0 : i64, half_pixel = true, largest = false} : (tensor<1x8x9x4xf32>, tensor<?x4xf32, #graph.dims<[K, 4]>>, tensor<?xi64, #graph.dims<[K]>>) -> tensor<?x2x3x4xf32, #graph.dims<[K, 2, 3, 4]>>
  func.return %y : tensor<?x2x3x4xf32, #graph.dims<[K, 2, 3, 4]>>
}

// A known number of samples is that of loops, and nothing is asked beforehand. Halves are added up in f32.
// CHECK-LABEL: func.func @known
// TE-LABEL: te.kernel @roi_align_1(
// TE-NOT:     math.ceil
// TE:         loop.for %{{.*}} = 0 to 2 "i0" {
// TE:         te.compute "round" {{.*}} : tensor<1x1x1x4xf16>
func.func @known(%x: tensor<2x1x1x4xf16>, %boxes: tensor<1x4xf16>, %images: tensor<1xi64>) -> tensor<1x1x1x4xf16> {
  %y = graph.roi_align %x, %boxes, %images {height = 1 : i64, width = 1 : i64, scale = 1.0 : f32, samples = 2 : i64, half_pixel = false, largest = true} : (tensor<2x1x1x4xf16>, tensor<1x4xf16>, tensor<1xi64>) -> tensor<1x1x1x4xf16>
  func.return %y : tensor<1x1x1x4xf16>
}

// CHECK-LABEL: func.func @elements
// TE-LABEL: te.kernel @roi_pool(
// TE:         te.extern "roi_pool"
// TE:           arith.maximumf
func.func @elements(%x: tensor<1x8x9x4xf32>, %boxes: tensor<5x4xf32>, %images: tensor<5xi64>) -> tensor<5x2x3x4xf32> {
  // CHECK: graph.roi_pool %x, %boxes, %images {height = 2 : i64, width = 3 : i64, scale = 1.000000e+00 : f32} : (tensor<1x8x9x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x3x4xf32>
  %y = graph.roi_pool %x, %boxes, %images {height = 2 : i64, width = 3 : i64, scale = 1.0 : f32} : (tensor<1x8x9x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x3x4xf32>
  func.return %y : tensor<5x2x3x4xf32>
}
