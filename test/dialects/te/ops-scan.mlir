// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// Two states of different ranks, and what each step puts out; the length is not known.
// CHECK-LABEL: te.kernel @mean
// CHECK:         %[[S:.*]] = te.state : tensor<?x4xf32, #graph.dims<[T, 4]>>
// CHECK-NEXT:    %[[N:.*]] = te.state : tensor<?xf32, #graph.dims<[T]>>
// CHECK:         te.read %[[S]][t - 1, i] : tensor<?x4xf32, #graph.dims<[T, 4]>>
// CHECK:         %{{.*}}, %{{.*}}, %[[M:.*]] = te.scan "scan" [t: 1 to T] init(%first, %{{.*}}) update(%sum, %count) state(%[[S]], %[[N]]) outputs(%mean) : tensor<1x4xf32>, tensor<1xf32> -> tensor<?x4xf32, #graph.dims<[T, 4]>>, tensor<?xf32, #graph.dims<[T]>>, tensor<?x4xf32, #graph.dims<[T - 1, 4]>>
// CHECK-NEXT:    te.return %[[M]]
// GENERIC:       "te.state"() : () -> tensor<?x4xf32, #graph.dims<[T, 4]>>
// GENERIC:       "te.scan"(%first, %{{.*}}, %sum, %count, %{{.*}}, %{{.*}}, %mean) <{stage = "scan", axis = "t", bounds = #te.index<[1, T]>, independent = [], operandSegmentSizes = array<i32: 2, 2, 2, 1>}>
te.kernel @mean(%x: tensor<?x4xf32, #graph.dims<[T, 4]>>) -> tensor<?x4xf32, #graph.dims<[T - 1, 4]>> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<?x4xf32, #graph.dims<[T, 4]>>
    te.yield %v : f32
  }
  %one = te.compute "one" [t: 1] : tensor<1xf32> {
    %v = arith.constant 1.0 : f32
    te.yield %v : f32
  }
  %s = te.state : tensor<?x4xf32, #graph.dims<[T, 4]>>
  %n = te.state : tensor<?xf32, #graph.dims<[T]>>
  %sum = te.compute "sum" [t: T, i: 4] : tensor<?x4xf32, #graph.dims<[T, 4]>> {
    %v = te.read %x[t, i] : tensor<?x4xf32, #graph.dims<[T, 4]>>
    %w = te.read %s[t - 1, i] : tensor<?x4xf32, #graph.dims<[T, 4]>>
    %a = arith.addf %v, %w : f32
    te.yield %a : f32
  }
  %count = te.compute "count" [t: T] : tensor<?xf32, #graph.dims<[T]>> {
    %v = te.read %n[t - 1] : tensor<?xf32, #graph.dims<[T]>>
    %w = arith.constant 1.0 : f32
    %a = arith.addf %v, %w : f32
    te.yield %a : f32
  }
  %mean = te.compute "mean" [t: T, i: 4] : tensor<?x4xf32, #graph.dims<[T, 4]>> {
    %v = te.read %sum[t, i] : tensor<?x4xf32, #graph.dims<[T, 4]>>
    %w = te.read %count[t] : tensor<?xf32, #graph.dims<[T]>>
    %a = arith.divf %v, %w : f32
    te.yield %a : f32
  }
  %sums, %counts, %means = te.scan "scan" [t: 1 to T] init(%first, %one) update(%sum, %count) state(%s, %n) outputs(%mean)
    : tensor<1x4xf32>, tensor<1xf32> -> tensor<?x4xf32, #graph.dims<[T, 4]>>, tensor<?xf32, #graph.dims<[T]>>, tensor<?x4xf32, #graph.dims<[T - 1, 4]>>
  te.return %means : tensor<?x4xf32, #graph.dims<[T - 1, 4]>>
}

// An axis that is independent of time.
// CHECK-LABEL: te.kernel @batch
// CHECK:         te.scan "sums" [t: 1 to 9, b: 4] init(%h) update(%next) state(%{{.*}}) : tensor<1x4x3xf32> -> tensor<9x4x3xf32>
// GENERIC:       "te.scan"(%h, %next, %{{.*}}) <{{{.*}}independent = ["b"]
te.kernel @batch(%h: tensor<1x4x3xf32>) -> tensor<9x4x3xf32> {
  %s = te.state : tensor<9x4x3xf32>
  %next = te.compute "next" [t: 9, b: 4, i: 3] : tensor<9x4x3xf32> {
    %v = te.read %s[t - 1, b, 2 - i] : tensor<9x4x3xf32>
    te.yield %v : f32
  }
  %y = te.scan "sums" [t: 1 to 9, b: 4] init(%h) update(%next) state(%s) : tensor<1x4x3xf32> -> tensor<9x4x3xf32>
  te.return %y : tensor<9x4x3xf32>
}
