// --check-semantics runs the program before and after every pass and stops at the first that changes an answer.

// RUN: opt-tool %s --target='llvm -mcpu=haswell' --check-semantics -p 'te-to-schedule,schedule-to-loop,loop-simplify,loop-flatten-storage,loop-vectorize' | filecheck %s
// CHECK: loop.kernel @mean

te.kernel @mean(%x: tensor<?x20xf32, #graph.dims<[N, 20]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %sum = te.compute "sum" [i: N] reduce [k: 20] : tensor<?xf32, #graph.dims<[N]>> {
    %a = te.read %x[i, k] : tensor<?x20xf32, #graph.dims<[N, 20]>>
    te.reduce add %a : f32
  }
  %mean = te.compute "mean" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %s = te.read %sum[i] : tensor<?xf32, #graph.dims<[N]>>
    %n = arith.constant 2.000000e+01 : f32
    %m = arith.divf %s, %n : f32
    te.yield %m : f32
  }
  te.return %mean : tensor<?xf32, #graph.dims<[N]>>
}

// The program itself may be at fault: what it reads must be there.
// RUN: not opt-tool %S/Inputs/out-of-bounds.mlir --target='llvm -mcpu=haswell' --check-semantics -p te-to-schedule,schedule-to-loop 2>&1 | filecheck %s --check-prefix=BOUNDS
// BOUNDS: out-of-bounds.mlir:1:1: error: {{(before|after)}} 'schedule-to-loop', {{.*}}kernel @shift cannot be run: {{.*}}out of bounds

// Tensors that no memory holds cannot be computed with; that is said, and is no defect.
// RUN: not opt-tool %S/Inputs/larger-than-memory.mlir --target='llvm -mcpu=haswell' --check-semantics -p compile-kernel 2>&1 | filecheck %s --check-prefix=MEMORY
// RUN: opt-tool %S/Inputs/larger-than-memory.mlir --target='llvm -mcpu=haswell' -p compile-kernel | filecheck %s --check-prefix=COMPILED
// MEMORY-NOT: internal error
// MEMORY: larger-than-memory.mlir:1:1: error: te kernel @k cannot be run to check it: tensor<4611686018427387904xf32> has 4611686018427387904 elements, too many for memory
// COMPILED: loop.kernel @k
