// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// An operator names a te kernel of the module, whose symbols stand for the sizes that operands have, or holds one.

te.kernel @swish(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %b: tensor<4xf32>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "swish" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %0 = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %1 = te.read %b[j] : tensor<4xf32>
    %2 = arith.mulf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}

// CHECK-LABEL: func.func @names
// CHECK:         graph.kernel @swish (%x, %b) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT:    graph.kernel @swish (%{{.*}}, %b) : (tensor<?x4xf32, #graph.dims<[2 * M, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #graph.dims<[2 * M, 4]>>
func.func @names(%x: tensor<8x4xf32>, %z: tensor<?x4xf32, #graph.dims<[2 * M, 4]>>, %b: tensor<4xf32>) {
  %y = graph.kernel @swish (%x, %b) : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %0 = graph.kernel @swish (%z, %b) : (tensor<?x4xf32, #graph.dims<[2 * M, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #graph.dims<[2 * M, 4]>>
  func.return
}

// CHECK-LABEL: func.func @holds
// CHECK:         %{{.*}}, %{{.*}} = graph.kernel (%x) attributes {tilework.note = "both"} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi1>) {
// CHECK-NEXT:      te.kernel @both(%{{.*}}: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi1>) {
func.func @holds(%x: tensor<3xf32>) {
  %y, %is_less = graph.kernel (%x) attributes {tilework.note = "both"} : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi1>) {
    te.kernel @both(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi1>) {
      %n, %l = te.compute "both" [i: 3] : tensor<3xf32>, tensor<3xi1> {
        %0 = te.read %a[i] : tensor<3xf32>
        %1 = arith.negf %0 : f32
        %2 = arith.cmpf olt, %0, %1 : f32
        te.yield %1, %2 : f32, i1
      }
      te.return %n, %l : tensor<3xf32>, tensor<3xi1>
    }
  }
  func.return
}

// CHECK-LABEL: func.func @takes_nothing
// CHECK:         graph.kernel () : () -> tensor<2xf32> {
func.func @takes_nothing() {
  %y = graph.kernel () : () -> tensor<2xf32> {
    te.kernel @one() -> tensor<2xf32> {
      %n = te.compute "one" [i: 2] : tensor<2xf32> {
        %0 = arith.constant 1.0 : f32
        te.yield %0 : f32
      }
      te.return %n : tensor<2xf32>
    }
  }
  func.return
}
