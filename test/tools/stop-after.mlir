// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p compile-kernel --stop-after=schedule --dump-pass-pipeline 2>&1 | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p compile-kernel --stop-after=te-to-schedule --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not opt-tool %s -p 'compile-kernel{x=1}' 2>&1 | filecheck %s --check-prefix=OPTIONS

// A named pipeline stands for its passes; it can be ended at a level or after a pass.
// CHECK:     builtin.module(te-expand-powers,te-allow-contraction,te-halve-symmetric-products,te-compute-inits,te-to-schedule{{.*}}schedule-apply-dataflow{{.*}})
// CHECK-NOT: schedule-to-loop

// PASS:      Pass Manager with 5 passes:
// PASS-NEXT: builtin.module(te-expand-powers,te-allow-contraction,te-halve-symmetric-products,te-compute-inits,te-to-schedule{{.*}})

// OPTIONS:   opt-tool: error: pipeline 'compile-kernel' has no option 'x'
func.func @nothing_to_compile() {
  func.return
}
