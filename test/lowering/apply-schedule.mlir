// RUN: opt-tool %s -p 'apply-schedule{file=%S/Inputs/apply-schedule.txt}' | filecheck %s
// RUN: not opt-tool %s -p 'apply-schedule{file=%S/Inputs/apply-schedule-twice.txt}' 2>&1 | filecheck %s --check-prefix=SECOND
// RUN: not opt-tool %s -p 'apply-schedule{file=%S/Inputs/apply-schedule.txt},apply-schedule{file=%S/Inputs/apply-schedule.txt}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not opt-tool %s -p 'apply-schedule{file=%S/Inputs/apply-schedule-unknown.txt}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not opt-tool %s -p 'apply-schedule{file=%S/Inputs/none.txt}' 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not opt-tool %S/Inputs/apply-schedule.txt -p 'apply-schedule{file=%s}' 2>&1 | filecheck %s --check-prefix=EMPTY
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p 'apply-schedule{file=%S/Inputs/apply-schedule.txt},compile-kernel' | filecheck %s --check-prefix=LOOP

// The schedule stands behind the kernel that it names, and lowers with it.

// CHECK:      te.return %tanh
// CHECK:      te.return %relu
// CHECK-NEXT: }
// CHECK-NEXT: schedule.sequence @relu {
// CHECK:        schedule.split %i factor 16
// LOOP:       loop.kernel @relu
// LOOP:       vector<16xf32>

// MISSING: cannot read the schedule file {{.*}}none.txt: No such file or directory
// EMPTY: apply-schedule.mlir holds no schedule.sequence
// TWICE: apply-schedule{{.*}}.txt schedules @relu, which has a schedule already
// SECOND: apply-schedule-twice.txt:3:1: error: a second schedule of @relu
// UNKNOWN: apply-schedule-unknown.txt schedules @gelu; the module's kernels are @tanh, @relu
te.kernel @tanh(%x: tensor<64xf32>) -> tensor<64xf32> {
  %tanh = te.compute "tanh" [i: 64] : tensor<64xf32> {
    %a = te.read %x[i] : tensor<64xf32>
    %b = math.tanh %a : f32
    te.yield %b : f32
  }
  te.return %tanh : tensor<64xf32>
}

te.kernel @relu(%x: tensor<64xf32>) -> tensor<64xf32> {
  %relu = te.compute "relu" [i: 64] : tensor<64xf32> {
    %a = te.read %x[i] : tensor<64xf32>
    %z = arith.constant 0.0 : f32
    %b = arith.maximumf %a, %z : f32
    te.yield %b : f32
  }
  te.return %relu : tensor<64xf32>
}
