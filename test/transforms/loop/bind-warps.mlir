// RUN: opt-tool %s -p loop-bind-warps --target='cuda -arch=sm_80' | filecheck %s
// RUN: opt-tool %s --apply-pattern loop-bind-warps.nest-to-warp | filecheck %s
// RUN: opt-tool %s -p 'loop-bind-warps,loop-insert-barriers,loop-map-threads' --target='cuda -arch=sm_80' | filecheck %s --check-prefix=THREAD
// RUN: opt-tool %s -p 'loop-bind-warps,loop-insert-barriers,loop-map-threads,loop-simplify,loop-flatten-storage,loop-tensorize' --target='cuda -arch=sm_80' --check-semantics -o /dev/null

// A warp sets a tile of its registers to zero and writes it to memory that the block shares; its threads read it.
// CHECK-LABEL: loop.kernel @zeros
// CHECK:         memref.alloca() : memref<16x16xf32, "mma">
// CHECK-NEXT:    loop.for %{{.*}} = 0 to 1 "lane" threadIdx.x {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 16 "m" attributes {loop.tensorize = @mma.zero} {
// CHECK:         loop.for %{{.*}} = 0 to 1 "lane" threadIdx.x {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 16 "m" attributes {loop.tensorize = @mma.store} {
// CHECK:         loop.for %{{.*}} = 0 to 32 "t" threadIdx.x {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 8 "i" {

// The first thread stands for all. They wait before they read what the others have written.
// THREAD-LABEL: loop.kernel @zeros
// THREAD:         loop.for %[[t:.*]] = 0 to 32 "lane" threadIdx.x {
// THREAD:           loop.if [-%[[t]] >= 0] {
// THREAD:             loop.for %{{.*}} = 0 to 16 "m" attributes {loop.tensorize = @mma.zero} {
// THREAD:           loop.if [-%[[t]] >= 0] {
// THREAD:             loop.for %{{.*}} = 0 to 16 "m" attributes {loop.tensorize = @mma.store} {
// THREAD:           loop.barrier
// THREAD-NEXT:      loop.for %{{.*}} = 0 to 8 "i" {
loop.kernel @zeros outs(%y: memref<256xf32>) {
  loop.for %b = 0 to 1 "b" blockIdx.x {
    %s = memref.alloca() : memref<16x16xf32, "shared">
    %r = memref.alloca() : memref<16x16xf32, "mma">
    loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @mma.zero} {
      loop.for %n = 0 to 16 "n" {
        %zero = arith.constant 0.0 : f32
        loop.store %zero, %r[%m, %n] : memref<16x16xf32, "mma">
      }
    }
    loop.for %m = 0 to 16 "m" attributes {loop.tensorize = @mma.store} {
      loop.for %n = 0 to 16 "n" {
        %v = loop.load %r[%m, %n] : memref<16x16xf32, "mma">
        loop.store %v, %s[%m, %n] : memref<16x16xf32, "shared">
      }
    }
    loop.for %t = 0 to 32 "t" threadIdx.x {
      loop.for %i = 0 to 8 "i" {
        %v = loop.load %s[2 * %i + (%t floordiv 16), %t mod 16] : memref<16x16xf32, "shared">
        loop.store %v, %y[32 * %i + %t] : memref<256xf32>
      }
    }
  }
}
