// RUN: tilework tune %s --sketches --target 'opencl -threads=256 -shared-kib=32 -warp=32 -cores=16' | filecheck %s

// A stage whose rows need sums is computed row by row. The threads of the row sum up together; what several threads
// read of what others made lies in shared memory.
// CHECK-LABEL: // Y in rows; S summed by threads together at Y.row; E in shared memory at Y.row
// CHECK:         %{{.*}}, %[[THREAD:.*]] = schedule.split %j factor #schedule.knob<"Y.threads", [32, 64, 128, 256], 128>
// CHECK:         schedule.bind %[[THREAD]] "threadIdx.x"
// CHECK:         schedule.split %{{.*}} factor #schedule.knob<"Y.threads", [32, 64, 128, 256], 128>
// CHECK:         schedule.set_scope %E "shared"
// CHECK:         schedule.split %{{.*}} factor #schedule.knob<"Y.threads", [32, 64, 128, 256], 128>
// At the root a stage has threads of its own.
// CHECK-LABEL: // Y in threads along i j; S summed in a thread; E in threads along i j
// CHECK:         #schedule.knob<"S.threads"
// CHECK:         #schedule.knob<"E.threads"
te.kernel @shares(%X: tensor<9x130xf32>) -> tensor<9x130xf32> {
  %E = te.compute "E" [i: 9, j: 130] : tensor<9x130xf32> {
    %0 = te.read %X[i, j] : tensor<9x130xf32>
    %1 = math.exp %0 : f32
    te.yield %1 : f32
  }
  %S = te.compute "S" [i: 9] reduce [k: 130] : tensor<9xf32> {
    %0 = te.read %E[i, k] : tensor<9x130xf32>
    te.reduce add %0 : f32
  }
  %Y = te.compute "Y" [i: 9, j: 130] : tensor<9x130xf32> {
    %0 = te.read %E[i, j] : tensor<9x130xf32>
    %1 = te.read %S[i] : tensor<9xf32>
    %2 = arith.divf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %Y : tensor<9x130xf32>
}

// Writing neighbours, or reading them: both orders of a transpose are tried.
// CHECK-LABEL: // T in threads along i j
// CHECK-LABEL: // T in threads along j i
te.kernel @transposed(%X: tensor<40x30xf32>) -> tensor<30x40xf32> {
  %T = te.compute "T" [i: 30, j: 40] : tensor<30x40xf32> {
    %0 = te.read %X[j, i] : tensor<40x30xf32>
    te.yield %0 : f32
  }
  te.return %T : tensor<30x40xf32>
}
