// RUN: opt-tool %s -p graph-fuse-operators,lower-to-te --check-semantics | filecheck %s

// What the two forms of Winograd's algorithm compute for an image of unknown size: rows and columns of tiles, or tiles
// that are counted through, of which an element finds its own.
// CHECK-LABEL: te.kernel @winograd_conv(
// CHECK:         te.compute "winograd_product" role "winograd.product" [n: 1, p: (H + 1) floordiv 2, q: (W + 1) floordiv 2, i: 4, j: 4, o: 3] reduce [c: 2]
// CHECK:         te.compute "conv" [n: 1, o: 3, y: H, x: W]
// CHECK-NEXT:      te.read %winograd_result[n, y, x, o]
// CHECK-LABEL: te.kernel @winograd_conv_1(
// CHECK:         te.compute "winograd_rows" role "winograd.rows" [n: 1, t: ((H + 1) floordiv 2) * ((W + 1) floordiv 2), i: 4, j: 4, c: 2]
// CHECK:           te.read %winograd_image[n, 2 * (t floordiv ((W + 1) floordiv 2)), 2 * (t mod ((W + 1) floordiv 2)) + j, c]
// CHECK:         te.compute "winograd_product" role "winograd.product" [n: 1, t: ((H + 1) floordiv 2) * ((W + 1) floordiv 2), i: 4, j: 4, o: 3] reduce [c: 2]
// CHECK:         te.compute "conv" [n: 1, o: 3, y: H, x: W]
// CHECK-NEXT:      te.read %winograd_result[n, ((W + 1) floordiv 2) * (y floordiv 2) + x floordiv 2, y mod 2, x mod 2, o]
func.func @rows(%x: tensor<1x2x?x?xf32, #graph.dims<[1, 2, H, W]>>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x?x?xf32, #graph.dims<[1, 3, H, W]>> {
  %u = graph.winograd_weight %w {tile = 2 : i64, stride = 1 : i64} : (tensor<3x2x3x3xf32>) -> tensor<3x4x4x2xf32>
  %y = graph.winograd_conv %x, %u {tile = 2 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x2x?x?xf32, #graph.dims<[1, 2, H, W]>>, tensor<3x4x4x2xf32>) -> tensor<1x3x?x?xf32, #graph.dims<[1, 3, H, W]>>
  func.return %y : tensor<1x3x?x?xf32, #graph.dims<[1, 3, H, W]>>
}
func.func @counted(%x: tensor<1x2x?x?xf32, #graph.dims<[1, 2, H, W]>>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x?x?xf32, #graph.dims<[1, 3, H, W]>> {
  %u = graph.winograd_weight %w {tile = 2 : i64, stride = 1 : i64} : (tensor<3x2x3x3xf32>) -> tensor<3x4x4x2xf32>
  %y = graph.winograd_conv %x, %u {tile = 2 : i64, stride = 1 : i64, pads = array<i64: 1, 1, 1, 1>, counted} : (tensor<1x2x?x?xf32, #graph.dims<[1, 2, H, W]>>, tensor<3x4x4x2xf32>) -> tensor<1x3x?x?xf32, #graph.dims<[1, 3, H, W]>>
  func.return %y : tensor<1x3x?x?xf32, #graph.dims<[1, 3, H, W]>>
}
