// RUN: opt-tool %s --target='cuda -arch=sm_80' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='opencl -cores=2' -p compile-gpu-kernel | filecheck %s --check-prefix=LOOP

// A softmax is one launch: the threads of a row find its maximum together, then the sum, and divide. Of short rows there
// are several in a block.

// CHECK-LABEL: schedule.sequence @softmax
// CHECK:         schedule.compute_inline %exp
// CHECK:         %[[BLOCK:\w+]], %[[ROW:\w+]] = schedule.split %i{{\w*}} factor 8
// CHECK:         schedule.bind %[[BLOCK]] "blockIdx.x"
// CHECK-NEXT:    schedule.bind %[[ROW]] "threadIdx.y"
// CHECK-NEXT:    schedule.bind %{{.*}} "threadIdx.x"
// CHECK-NEXT:    schedule.compute_at %max, %[[ROW]]
// CHECK:         schedule.bind %{{.*}} "threadIdx.x"
// CHECK-NEXT:    schedule.compute_at %sum, %[[ROW]]

// LOOP-LABEL:  loop.kernel @softmax ins
// LOOP-NEXT:     loop.call @softmax_0
// LOOP-NEXT:   }
// LOOP-LABEL:  loop.kernel @softmax_0
// LOOP:          loop.barrier
// LOOP:          arith.maximumf
// LOOP:          loop.barrier
// LOOP:          arith.addf
// LOOP:          arith.divf
te.kernel @softmax(%x: tensor<4099x37xf32>) -> tensor<4099x37xf32> {
  %max = te.compute "max" [i: 4099] reduce [r: 37] : tensor<4099xf32> {
    %a = te.read %x[i, r] : tensor<4099x37xf32>
    te.reduce max %a : f32
  }
  %exp = te.compute "exp" [i: 4099, j: 37] : tensor<4099x37xf32> {
    %a = te.read %x[i, j] : tensor<4099x37xf32>
    %m = te.read %max[i] : tensor<4099xf32>
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    te.yield %e : f32
  }
  %sum = te.compute "sum" [i: 4099] reduce [r: 37] : tensor<4099xf32> {
    %a = te.read %exp[i, r] : tensor<4099x37xf32>
    te.reduce add %a : f32
  }
  %softmax = te.compute "softmax" [i: 4099, j: 37] : tensor<4099x37xf32> {
    %a = te.read %exp[i, j] : tensor<4099x37xf32>
    %s = te.read %sum[i] : tensor<4099xf32>
    %d = arith.divf %a, %s : f32
    te.yield %d : f32
  }
  te.return %softmax : tensor<4099x37xf32>
}
