// RUN: opt-tool %s --target='llvm -mcpu=haswell' | filecheck %s --check-prefix=WRITTEN
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --target=npu0='llvm -mcpu=znver4' | filecheck %s --check-prefix=DEVICES
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --target=wide='llvm -mcpu=skylake-avx512' -p te-to-schedule | filecheck %s
// RUN: not opt-tool %s -p te-to-schedule 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not opt-tool %s --target='llvm -mcpu=haswell' --target='host=llvm' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not opt-tool %s --target='llvm -mcpu=hasswell' 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: not opt-tool %s --target='llvm -mcpu=haswell' -t llvmir 2>&1 | filecheck %s --check-prefix=DROPPED
// RUN: not opt-tool %s --target='llvm -mcpu=haswell' -t c 2>&1 | filecheck %s --check-prefix=KIND
// RUN: not opt-tool %s --target='llvm -mattr=+nonsense' 2>&1 | filecheck %s --check-prefix=FEATURE

// WRITTEN: builtin.module attributes {tilework.targets = "llvm -mtriple=x86_64-{{.*}} -mcpu=haswell {{.*}}"} {
// DEVICES: tilework.targets = {host = "llvm {{.*}} -mcpu=haswell {{.*}}", npu0 = "llvm {{.*}} -mcpu=znver4 {{.*}}"}
// NONE: error: the program names no target: give opt-tool --target=host for this machine, or write tilework.targets into the attributes of the module
// UNKNOWN: error: device 'wide' is not among the program's targets, which are host: give opt-tool --target=wide=TARGET, or add it to tilework.targets
// KIND: error: -t c is written of programs for 'c', and this one is for 'llvm': give --target=c
// FEATURE: opt-tool: error: -mattr: LLVM knows no feature 'nonsense'
// TWICE: opt-tool: error: --target: the target of 'host' is given twice
// WRONG: opt-tool: error: unknown processor 'hasswell' in -mcpu
// DROPPED: error: -t llvmir writes kernels of the loop level and the function @main on buffers; it has nothing for 'te.kernel' @here: lower it, or take it out

// Every kernel is scheduled for the machine that it runs on: vectors of 8 floats here, of 16 there, four at a time.
// CHECK-LABEL: schedule.sequence @here
// CHECK:         schedule.split {{.*}} factor 32
te.kernel @here(%x: tensor<256xf32>) -> tensor<256xf32> {
  %y = te.compute "y" [i: 256] : tensor<256xf32> {
    %e = te.read %x[i] : tensor<256xf32>
    %r = math.sqrt %e : f32
    te.yield %r : f32
  }
  te.return %y : tensor<256xf32>
}

// CHECK-LABEL: schedule.sequence @there
// CHECK:         schedule.split {{.*}} factor 64
te.kernel @there(%x: tensor<256xf32>) -> tensor<256xf32> attributes {device = "wide"} {
  %y = te.compute "y" [i: 256] : tensor<256xf32> {
    %e = te.read %x[i] : tensor<256xf32>
    %r = math.sqrt %e : f32
    te.yield %r : f32
  }
  te.return %y : tensor<256xf32>
}
