// RUN: opt-tool %s -t llvmir | filecheck %s

// A loop of unknown length runs on one thread where it has too few iterations, counting those of open loops inside by
// the elements that they go over: the rows in steps of 8, not the steps.

// CHECK-LABEL: define void @rows(
// CHECK:         %[[TRIPS:.*]] = trunc i64
// CHECK-NEXT:    %[[THREADS:.*]] = call i32 @llvm.smin.i32(i32 %num_threads, i32 %[[TRIPS]])
// CHECK:         %[[LENGTH:.*]] = add nsw i64 %M, 7
// CHECK:         %[[ALL:.*]] = mul nsw i64 %{{.*}}, %{{.*}}
// CHECK-NEXT:    %[[FEW:.*]] = icmp slt i64 %[[ALL]], 4096
// CHECK-NEXT:    select i1 %[[FEW]], i32 1, i32 %[[THREADS]]
loop.kernel @rows ins(%x: memref<?x?xf32> [N, M]) outs(%y: memref<?x?xf32> [N, M]) symbols(%N, %M) {
  loop.for %i = 0 to %N "i" parallel attributes {loop.least_extent = 4096 : i64} {
    loop.for %j = 0 to (%M + 7) floordiv 8 "j" {
      %a = loop.load %x[%i, 8 * %j] : memref<?x?xf32>
      loop.store %a, %y[%i, 8 * %j] : memref<?x?xf32>
    }
  }
}
