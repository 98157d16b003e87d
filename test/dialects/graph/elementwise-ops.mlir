// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// Element-wise operators of one operand, and conversions.

// CHECK-LABEL: func.func @plain
func.func @plain(%x: tensor<8xf32>) {
  // CHECK: graph.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  %0 = graph.abs %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.ceil %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.ceil %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.cos %x : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.cos %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.erf %x : (tensor<8xf32>) -> tensor<8xf32>
  %3 = graph.erf %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %4 = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.floor %x : (tensor<8xf32>) -> tensor<8xf32>
  %5 = graph.floor %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.log %x : (tensor<8xf32>) -> tensor<8xf32>
  %6 = graph.log %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %7 = graph.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %8 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  %9 = graph.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.sin %x : (tensor<8xf32>) -> tensor<8xf32>
  %10 = graph.sin %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.sqrt %x : (tensor<8xf32>) -> tensor<8xf32>
  %11 = graph.sqrt %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  %12 = graph.tanh %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.acos %x : (tensor<8xf32>) -> tensor<8xf32>
  %13 = graph.acos %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.acosh %x : (tensor<8xf32>) -> tensor<8xf32>
  %14 = graph.acosh %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.asin %x : (tensor<8xf32>) -> tensor<8xf32>
  %15 = graph.asin %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.asinh %x : (tensor<8xf32>) -> tensor<8xf32>
  %16 = graph.asinh %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.atan %x : (tensor<8xf32>) -> tensor<8xf32>
  %17 = graph.atan %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.atanh %x : (tensor<8xf32>) -> tensor<8xf32>
  %18 = graph.atanh %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.cosh %x : (tensor<8xf32>) -> tensor<8xf32>
  %19 = graph.cosh %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.round %x : (tensor<8xf32>) -> tensor<8xf32>
  %20 = graph.round %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.sign %x : (tensor<8xf32>) -> tensor<8xf32>
  %21 = graph.sign %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.sinh %x : (tensor<8xf32>) -> tensor<8xf32>
  %22 = graph.sinh %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.tan %x : (tensor<8xf32>) -> tensor<8xf32>
  %23 = graph.tan %x : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<8xi32>, %u: tensor<8xui8>) {
  // CHECK: graph.abs %x : (tensor<8xi32>) -> tensor<8xi32>
  %0 = graph.abs %x : (tensor<8xi32>) -> tensor<8xi32>
  // CHECK: graph.neg %u : (tensor<8xui8>) -> tensor<8xui8>
  %1 = graph.neg %u : (tensor<8xui8>) -> tensor<8xui8>
  // CHECK: graph.sign %x : (tensor<8xi32>) -> tensor<8xi32>
  %2 = graph.sign %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// CHECK-LABEL: func.func @with_properties
func.func @with_properties(%x: tensor<8xf32>) {
  // CHECK: graph.leaky_relu %x {alpha = 1.000000e-02 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %0 = graph.leaky_relu %x {alpha = 1.000000e-02 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.elu %x {alpha = 1.000000e+00 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.elu %x {alpha = 1.000000e+00 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.clip %x {low = 0.000000e+00 : f32, high = 6.000000e+00 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.clip %x {low = 0.000000e+00 : f32, high = 6.000000e+00 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.clip %x {high = 6.000000e+00 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = graph.clip %x {high = 6.000000e+00 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.clip %x : (tensor<8xf32>) -> tensor<8xf32>
  %4 = graph.clip %x : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: graph.dropout %x {ratio = 5.000000e-01 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %5 = graph.dropout %x {ratio = 5.000000e-01 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// CHECK-LABEL: func.func @cast
func.func @cast(%x: tensor<8xf32>, %i: tensor<8xi32>, %b: tensor<8xi1>, %u: tensor<8xui8>) {
  // CHECK: graph.cast %x {to = f16} : (tensor<8xf32>) -> tensor<8xf16>
  %0 = graph.cast %x {to = f16} : (tensor<8xf32>) -> tensor<8xf16>
  // CHECK: graph.cast %x {to = i32} : (tensor<8xf32>) -> tensor<8xi32>
  %1 = graph.cast %x {to = i32} : (tensor<8xf32>) -> tensor<8xi32>
  // CHECK: graph.cast %i {to = f64} : (tensor<8xi32>) -> tensor<8xf64>
  %2 = graph.cast %i {to = f64} : (tensor<8xi32>) -> tensor<8xf64>
  // CHECK: graph.cast %b {to = f32} : (tensor<8xi1>) -> tensor<8xf32>
  %3 = graph.cast %b {to = f32} : (tensor<8xi1>) -> tensor<8xf32>
  // CHECK: graph.cast %u {to = f32} : (tensor<8xui8>) -> tensor<8xf32>
  %4 = graph.cast %u {to = f32} : (tensor<8xui8>) -> tensor<8xf32>
  func.return
}

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%x: tensor<?x8xf32, #graph.dims<[N, 8]>>) {
  // CHECK: graph.relu %x : (tensor<?x8xf32, #graph.dims<[N, 8]>>) -> tensor<?x8xf32, #graph.dims<[N, 8]>>
  %0 = graph.relu %x : (tensor<?x8xf32, #graph.dims<[N, 8]>>) -> tensor<?x8xf32, #graph.dims<[N, 8]>>
  func.return
}

// What is no property of the operator is kept as a note.
// CHECK-LABEL: func.func @noted
func.func @noted(%x: tensor<8xf32>) {
  // CHECK: graph.relu %x {tilework.note = "kept"} : (tensor<8xf32>) -> tensor<8xf32>
  %0 = graph.relu %x {tilework.note = "kept"} : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}
