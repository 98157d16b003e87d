// RUN: opt-tool %s --verify-roundtrip | filecheck %s

// Elements by their bits, and numbers of a byte and less.

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<8xf32>, %b: tensor<4xui8>, %i: tensor<4xi32>) {
  // CHECK: graph.bitcast %x {to = i32} : (tensor<8xf32>) -> tensor<8xi32>
  %0 = graph.bitcast %x {to = i32} : (tensor<8xf32>) -> tensor<8xi32>
  // CHECK: graph.bitcast %b {to = f8E4M3FN} : (tensor<4xui8>) -> tensor<4xf8E4M3FN>
  %1 = graph.bitcast %b {to = f8E4M3FN} : (tensor<4xui8>) -> tensor<4xf8E4M3FN>
  // CHECK: graph.bitcast %b {to = i4} : (tensor<4xui8>) -> tensor<4xi4>
  %2 = graph.bitcast %b {to = i4} : (tensor<4xui8>) -> tensor<4xi4>
  // CHECK: graph.decode %b {element = f4E2M1FN} : (tensor<4xui8>) -> tensor<4xf32>
  %3 = graph.decode %b {element = f4E2M1FN} : (tensor<4xui8>) -> tensor<4xf32>
  // CHECK: graph.decode %b {element = ui2} : (tensor<4xui8>) -> tensor<4xi32>
  %4 = graph.decode %b {element = ui2} : (tensor<4xui8>) -> tensor<4xi32>
  // CHECK: graph.encode %x {element = f8E5M2, saturate} : (tensor<8xf32>) -> tensor<8xui8>
  %5 = graph.encode %x {element = f8E5M2, saturate} : (tensor<8xf32>) -> tensor<8xui8>
  // CHECK: graph.encode %x {element = f8E8M0FNU, rounding = "up"} : (tensor<8xf32>) -> tensor<8xui8>
  %6 = graph.encode %x {element = f8E8M0FNU, rounding = "up"} : (tensor<8xf32>) -> tensor<8xui8>
  // CHECK: graph.encode %i {element = i4} : (tensor<4xi32>) -> tensor<4xui8>
  %7 = graph.encode %i {element = i4} : (tensor<4xi32>) -> tensor<4xui8>
  // CHECK: graph.cast %x {to = f8E4M3FN, saturate} : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  %8 = graph.cast %x {to = f8E4M3FN, saturate} : (tensor<8xf32>) -> tensor<8xf8E4M3FN>
  func.return
}
