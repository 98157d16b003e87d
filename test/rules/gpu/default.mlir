// RUN: opt-tool %s --target=opencl -p te-compute-inits,te-to-schedule | filecheck %s
// RUN: opt-tool %s --target=opencl -p compile-gpu-kernel --check-semantics | filecheck %s --check-prefix=LOOP

// A kernel that runs over time: what its stages compute is dealt out to threads, also what it begins with, which is an
// argument; what is cheap is computed where it is read. The steps are launched one after the other.

// CHECK-LABEL: schedule.sequence @sums
// CHECK:         %[[INIT:.*]] = schedule.fuse
// CHECK-NEXT:    %[[BLOCK:.*]], %[[THREAD:.*]] = schedule.split %[[INIT]] factor 256
// CHECK-NEXT:    schedule.bind %[[BLOCK]] "blockIdx.x"
// CHECK-NEXT:    schedule.bind %[[THREAD]] "threadIdx.x"
// CHECK:         schedule.bind %{{.*}} "blockIdx.x"
// CHECK-NEXT:    schedule.bind %{{.*}} "threadIdx.x"

// LOOP-LABEL:  loop.kernel @sums ins
// LOOP-NEXT:     loop.call @sums_0 ins(%h) outs(%y)
// LOOP-NEXT:     loop.for %t = 0 to 8 "t" {
// LOOP-NEXT:       loop.call @sums_1
te.kernel @sums(%x: tensor<9x4xf32>, %h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %twice = te.compute "twice" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %twice[t, i] : tensor<9x4xf32>
    %w = te.read %x[t, i] : tensor<9x4xf32>
    %a = arith.addf %v, %w : f32
    te.yield %a : f32
  }
  %y = te.scan "sums" [t: 1 to 9] init(%h) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}
