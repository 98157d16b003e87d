// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop,loop-simplify --check-semantics | filecheck %s

// Threads as kinds of loops. A buffer that they share is filled by all of them: a loop inside another of the same kind
// deals its iterations out to the same threads.

// CHECK-LABEL: loop.kernel @shared
// CHECK-NEXT:    loop.for %i_outer = 0 to 2 "i.outer" blockIdx.x {
// CHECK-NEXT:      loop.for %i_inner = 0 to 32 "i.inner" threadIdx.x {
// CHECK-NEXT:        %x_shared = memref.alloca() : memref<32xf32, "shared">
// CHECK-NEXT:        loop.for %a = 0 to 32 "a" threadIdx.x {
// CHECK-NEXT:          loop.load %x[%a + 32 * %i_outer]
// CHECK:             %x_shared_local = memref.alloca() : memref<1xf32, "local">
// CHECK-NEXT:        loop.load %x_shared[%i_inner] : memref<32xf32, "shared">
te.kernel @shared(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = te.compute "y" [i: 64] : tensor<64xf32> {
    %v = te.read %x[i] : tensor<64xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<64xf32>
}
schedule.sequence @shared {
  %y, %i = schedule.stage "y" [i]
  %x = schedule.argument 0
  %s, %a = schedule.cache_read %x "shared" readers(%y) [a]
  %l, %b = schedule.cache_read %s "local" readers(%y) [b]
  %bx, %tx = schedule.split %i factor 32
  schedule.bind %bx "blockIdx.x"
  schedule.bind %tx "threadIdx.x"
  schedule.compute_at %s, %tx
  schedule.bind %a "threadIdx.x"
  schedule.compute_at %l, %tx
}

// A reduction shared among threads: thread 0 alone is to store. Virtual threads are loops like others here.

// tvm: test_schedule_schedule_ops/local_stage_predicate
// CHECK-LABEL: loop.kernel @reduction
// CHECK:         loop.for %i = 0 to 8 "i" vthread {
// CHECK:           loop.for %k_inner = 0 to 4 "k.inner" threadIdx.x attributes {loop.storing_thread = 0 : i64} {
te.kernel @reduction(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 16] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x16xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @reduction {
  %y, %i, %k = schedule.stage "y" [i, k]
  schedule.bind %i "vthread"
  %ko, %ki = schedule.split %k factor 4
  %rf, %ri, %rk, %ro, %rest = schedule.rfactor %y, %ki at 0 [k.inner, i, k.outer]
  schedule.bind %rest "threadIdx.x"
  schedule.compute_at %rf, %rest
  schedule.set_store_predicate %y, %rest == 0
}

// Buffers inside blocks are shared, inside threads local, unless the schedule says otherwise.

// CHECK-LABEL: loop.kernel @scopes
// CHECK:         loop.for %i_outer = 0 to 2 "i.outer" blockIdx.x {
// CHECK-NEXT:      %y = memref.alloca() : memref<32xf32, "shared">
// CHECK:           loop.for %i_inner = 0 to 32 "i.inner" threadIdx.x {
// CHECK-NEXT:        %z = memref.alloca() : memref<1xf32, "local">
te.kernel @scopes(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = te.compute "y" [i: 64] : tensor<64xf32> {
    %v = te.read %x[i] : tensor<64xf32>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: 64] : tensor<64xf32> {
    %v = te.read %y[i] : tensor<64xf32>
    te.yield %v : f32
  }
  %w = te.compute "w" [i: 64] : tensor<64xf32> {
    %v = te.read %z[i] : tensor<64xf32>
    te.yield %v : f32
  }
  te.return %w : tensor<64xf32>
}
schedule.sequence @scopes {
  %y, %p = schedule.stage "y" [i]
  %z, %q = schedule.stage "z" [i]
  %w, %i = schedule.stage "w" [i]
  %bx, %tx = schedule.split %i factor 32
  schedule.bind %bx "blockIdx.x"
  schedule.bind %tx "threadIdx.x"
  schedule.compute_at %y, %bx
  schedule.compute_at %z, %tx
}

// What a thread computes for itself ends where the elements that it is for end: the condition is the loop's bound.

// tvm: test_schedule_schedule_ops/local_stage_predicate2
// CHECK-LABEL: loop.kernel @own_part
// CHECK:         loop.for %i_outer = 0 to 2 "i.outer" threadIdx.x {
// CHECK-NEXT:      %y = memref.alloca() : memref<2xf32, "local">
// CHECK-NEXT:      loop.for %i = 0 to min(-2 * %i_outer + 3, 2) "i" {
// CHECK-NEXT:        loop.load
// CHECK-NEXT:        loop.store %{{.*}}, %y[%i]
// CHECK:           loop.for %i_inner = 0 to min(-2 * %i_outer + 3, 2) "i.inner" {
te.kernel @own_part(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = te.compute "y" [i: 3] : tensor<3xf32> {
    %v = te.read %x[i] : tensor<3xf32>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: 3] : tensor<3xf32> {
    %v = te.read %y[i] : tensor<3xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<3xf32>
}
schedule.sequence @own_part {
  %z, %i = schedule.stage "z" [i]
  %y, %j = schedule.stage "y" [i]
  %tx, %inner = schedule.split %i factor 2
  schedule.bind %tx "threadIdx.x"
  schedule.compute_at %y, %tx
}
