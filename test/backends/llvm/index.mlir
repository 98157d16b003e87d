// RUN: opt-tool %s --target='llvm -mcpu=haswell' -t llvmir | filecheck %s

// Powers of two are shifts and masks, right for negative values too. Other divisors divide unsigned where the loops
// around show that the dividend is not negative, and else round towards minus infinity. A size divides as it is where the
// loops around do not run if it is 0.
// CHECK-LABEL: define void @division
// CHECK:         ashr i64 %i, 3
// CHECK:         and i64 %i, 7
// CHECK:         udiv i64 %i, 3
// CHECK:         urem i64 %i, 3
// CHECK:         %[[A:.*]] = sub nsw i64 %i, %N
// CHECK-NEXT:    %[[R:.*]] = srem i64 %[[A]], 3
// CHECK-NEXT:    %[[X:.*]] = xor i64 %[[R]], 3
// CHECK-NEXT:    %[[SIGN:.*]] = icmp slt i64 %[[X]], 0
// CHECK-NEXT:    %[[LEFT:.*]] = icmp ne i64 %[[R]], 0
// CHECK-NEXT:    %[[FIX:.*]] = and i1 %[[LEFT]], %[[SIGN]]
// CHECK-NEXT:    %[[Q:.*]] = sdiv i64 %[[A]], 3
// CHECK-NEXT:    %[[BELOW:.*]] = sub nsw i64 %[[Q]], 1
// CHECK-NEXT:    select i1 %[[FIX]], i64 %[[BELOW]], i64 %[[Q]]
// CHECK:         srem i64 %i, %N
loop.kernel @division outs(%y: memref<?xindex> [N]) symbols(%N) {
  loop.for %i = 0 to %N "i" {
    %a = loop.apply %i floordiv 8
    %b = loop.apply %i mod 8
    %c = loop.apply %i floordiv 3
    %d = loop.apply %i mod 3
    %e = loop.apply (%i - %N) floordiv 3
    %f = loop.apply %i mod %N
  }
}

// Elsewhere a size may be 0: the quotient is 0 then, and nothing is left.
// CHECK-LABEL: define void @by_any_size
// CHECK:         %[[N:.*]] = freeze i64 %N
// CHECK-NEXT:    %[[ZERO:.*]] = icmp eq i64 %[[N]], 0
// CHECK-NEXT:    %[[SIZE:.*]] = select i1 %[[ZERO]], i64 1, i64 %[[N]]
// CHECK-NEXT:    srem i64 %K, %[[SIZE]]
// CHECK:         %[[Q:.*]] = select i1 %{{.*}}, i64 %{{.*}}, i64 %{{.*}}
// CHECK-NEXT:    select i1 %[[ZERO]], i64 0, i64 %[[Q]]
// CHECK:         %[[ZERO:.*]] = icmp eq i64 %{{.*}}, 0
// CHECK-NEXT:    %[[SIZE:.*]] = select i1 %[[ZERO]], i64 1, i64 %{{.*}}
// CHECK-NEXT:    srem i64 %K, %[[SIZE]]
loop.kernel @by_any_size outs(%y: memref<2xindex>) symbols(%K, %N) {
  %a = loop.apply %K floordiv %N
  %b = loop.apply %K mod %N
  loop.store %a, %y[0] : memref<2xindex>
  loop.store %b, %y[1] : memref<2xindex>
}

// CHECK-LABEL: define void @extrema
// CHECK:         %[[A:.*]] = add nsw i64 %i, 7
// CHECK:         call i64 @llvm.smin.i64(i64 %{{.*}}, i64 %{{.*}})
// CHECK:         call i64 @llvm.smax.i64(i64 0, i64 %{{.*}})
// CHECK:         mul nsw i64 %{{.*}}, %{{.*}}
loop.kernel @extrema outs(%y: memref<?xindex> [N]) symbols(%N) {
  loop.for %i = 0 to %N "i" {
    %a = loop.apply min(%i + 7, %N)
    %b = loop.apply max(0, %i - %N)
    %c = loop.apply %i * %N
  }
}
