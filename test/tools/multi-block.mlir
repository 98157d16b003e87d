// RUN: opt-tool %s --split-input-file --verify-diagnostics -p optimize-graph
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --split-input-file --verify-diagnostics -p apply-rules
// RUN: opt-tool %s --split-input-file --verify-diagnostics -p lower-to-te
// RUN: opt-tool %s --split-input-file --verify-diagnostics -p plan-host
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --split-input-file --verify-diagnostics -t llvmir

// expected-error @below {{@main has 2 blocks: graph and host functions have one}}
func.func @main() {
  cf.br ^last
^last:
  func.return
}

// -----

// A declaration has none, which is no mistake.
func.func private @main()
