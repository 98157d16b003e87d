// RUN: tilework tune %s --sketches --target 'llvm -mcpu=haswell' | filecheck %s

// Blocks of rows, lanes along the last axis.
// CHECK-LABEL: // Y in blocks of i
// CHECK:         schedule.split %j factor #schedule.knob<"Y.lanes", [8, 16], 8> tail partition
// CHECK-NOT:   across
te.kernel @rows(%X: tensor<10x20xf32>) -> tensor<10x20xf32> {
  %Y = te.compute "Y" [i: 10, j: 20] : tensor<10x20xf32> {
    %0 = te.read %X[i, j] : tensor<10x20xf32>
    te.yield %0 : f32
  }
  te.return %Y : tensor<10x20xf32>
}

// What is read across also runs in blocks of the axis along which it lies.
// CHECK-LABEL: // T in blocks of i
// CHECK-LABEL: // T in blocks across of i
// CHECK:         schedule.reorder %j_o, %i_o, %i_i, %j_i
te.kernel @transposed(%X: tensor<20x10xf32>) -> tensor<10x20xf32> {
  %T = te.compute "T" [i: 10, j: 20] : tensor<10x20xf32> {
    %0 = te.read %X[j, i] : tensor<20x10xf32>
    te.yield %0 : f32
  }
  te.return %T : tensor<10x20xf32>
}

// A stage with one axis, and one with a single element.
// CHECK-LABEL: // V in blocks of i
// CHECK-LABEL: // W in blocks of i
te.kernel @vector(%X: tensor<7xf32>) -> tensor<7xf32> {
  %V = te.compute "V" [i: 7] : tensor<7xf32> {
    %0 = te.read %X[i] : tensor<7xf32>
    te.yield %0 : f32
  }
  te.return %V : tensor<7xf32>
}
te.kernel @one(%X: tensor<1xf32>) -> tensor<1xf32> {
  %W = te.compute "W" [i: 1] : tensor<1xf32> {
    %0 = te.read %X[i] : tensor<1xf32>
    te.yield %0 : f32
  }
  te.return %W : tensor<1xf32>
}
