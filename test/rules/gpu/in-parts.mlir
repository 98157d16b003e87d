// RUN: opt-tool %s --target='cuda -arch=sm_80' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='opencl -cores=2' -p compile-gpu-kernel | filecheck %s --check-prefix=LOOP
// RUN: opt-tool %s --target='opencl -cores=2' -p compile-gpu-kernel --check-semantics -o /dev/null

// One sum of all elements: blocks sum up parts, a launch later one block the parts.

// CHECK-LABEL: schedule.sequence @total
// CHECK:         schedule.rfactor
// LOOP-LABEL:  loop.kernel @total ins
// LOOP-NEXT:     loop.call @total_0
// LOOP-NEXT:     loop.call @total_1
// LOOP-NEXT:   }
te.kernel @total(%x: tensor<8209xf32>) -> tensor<f32> {
  %sum = te.compute "sum" [] reduce [r: 8209] : tensor<f32> {
    %a = te.read %x[r] : tensor<8209xf32>
    te.reduce add %a : f32
  }
  %mean = te.compute "mean" [] : tensor<f32> {
    %a = te.read %sum[] : tensor<f32>
    %n = arith.constant 8209.0 : f32
    %d = arith.divf %a, %n : f32
    te.yield %d : f32
  }
  te.return %mean : tensor<f32>
}
