// RUN: opt-tool %s -p loop-unroll-lanes | filecheck %s
// RUN: opt-tool %s -p loop-unroll-lanes --check-semantics -o /dev/null
// RUN: opt-tool %s --apply-pattern loop-unroll-lanes.lanes-to-statements | filecheck %s

// A vectorized loop becomes an unrolled one, inside of others, too, whatever its extent; others stay as they are.
// CHECK-LABEL: loop.kernel @lanes
// CHECK:         loop.for %{{.*}} = 0 to 2 "i" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 7 "j" unrolled {
// CHECK:         loop.for %{{.*}} = 0 to 1 "k" unrolled {
// CHECK-NOT:     vectorized
loop.kernel @lanes ins(%x: memref<14xf32>) outs(%y: memref<14xf32>, %z: memref<1xf32>) {
  loop.for %i = 0 to 2 "i" {
    loop.for %j = 0 to 7 "j" vectorized {
      %v = loop.load %x[7 * %i + %j] : memref<14xf32>
      loop.store %v, %y[7 * %i + %j] : memref<14xf32>
    }
  }
  loop.for %k = 0 to 1 "k" vectorized {
    %w = loop.load %x[%k] : memref<14xf32>
    loop.store %w, %z[%k] : memref<1xf32>
  }
}
