// RUN: opt-tool %s --target='llvm -mcpu=haswell' -t llvmir | filecheck %s

// A loop runs on several threads where its condition holds: here, where there is work enough.

// CHECK-LABEL: define void @rows(
// CHECK:         %[[TRIPS:.*]] = trunc i64
// CHECK-NEXT:    %[[THREADS:.*]] = call i32 @llvm.smin.i32(i32 %num_threads, i32 %[[TRIPS]])
// CHECK-NEXT:    %[[WORK:.*]] = mul nsw i64 %N, %M
// CHECK-NEXT:    %[[ENOUGH:.*]] = icmp sge i64 %[[WORK]], 4096
// CHECK-NEXT:    select i1 %[[ENOUGH]], i32 %[[THREADS]], i32 1
loop.kernel @rows ins(%x: memref<?x?xf32> [N, M]) outs(%y: memref<?x?xf32> [N, M]) symbols(%N, %M) {
  loop.for %i = 0 to %N "i" parallel when [%N * %M - 4096 >= 0] {
    loop.for %j = 0 to %M "j" {
      %a = loop.load %x[%i, %j] : memref<?x?xf32>
      loop.store %a, %y[%i, %j] : memref<?x?xf32>
    }
  }
}
