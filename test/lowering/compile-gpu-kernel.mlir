// RUN: opt-tool %s -p schedule-kernels,schedule-to-loop --target=opencl | filecheck %s --check-prefix=LOOP
// RUN: opt-tool %s -p compile-gpu-kernel --target=opencl | filecheck %s
// RUN: opt-tool %s -p compile-gpu-kernel --target=opencl --check-semantics -o /dev/null
// RUN: opt-tool %s -p compile-gpu-kernel --target=opencl -t opencl | filecheck %s --check-prefix=OPENCL

// The paper's product of matrices: the 64 threads of a block fetch a tile of each factor together into memory that they
// share, and wait for each other before they read it, and before they fetch the next one over it.

// Each stage has loops over threads of its own.
// LOOP-LABEL: loop.kernel @matmul
// LOOP:         loop.for %{{.*}} = 0 to 2 "i.outer" blockIdx.y {
// LOOP:           loop.for %{{.*}} = 0 to 8 "i.inner.outer" threadIdx.y {
// LOOP:             memref.alloca() : memref<32x8xf32, "shared">
// LOOP:             loop.for %{{.*}} = 0 to 8 "ax0.ax1.inner.outer" threadIdx.y {
// LOOP-NOT:         loop.barrier

// Behind the pipeline a kernel says what one thread does.
// CHECK-LABEL: loop.kernel @matmul ins(
// CHECK-NEXT:    loop.call @matmul_0 ins(%A, %B) outs(%C)
// CHECK-LABEL: loop.kernel @matmul_0
// CHECK:         loop.for %{{.*}} = 0 to 2 "i.outer" blockIdx.y {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 2 "j.outer" blockIdx.x {
// CHECK-NEXT:        %A_shared = memref.alloca() : memref<256xf32, "shared">
// CHECK-NEXT:        %B_shared = memref.alloca() : memref<256xf32, "shared">
// CHECK-NEXT:        loop.for %[[y:.*]] = 0 to 8 "i.inner.outer" threadIdx.y {
// CHECK-NEXT:          loop.for %[[x:.*]] = 0 to 8 "j.inner.outer" threadIdx.x {
// CHECK:                 loop.for %{{.*}} = 0 to 8 "k.outer" {
// CHECK-NEXT:              loop.barrier
// CHECK:                   loop.store %{{.*}}, %B_shared[
// CHECK:                   loop.barrier
// CHECK-NEXT:              loop.for %{{.*}} = 0 to 8 "k.inner" {
// CHECK-NOT:               loop.barrier

// OPENCL:      __kernel __attribute__((reqd_work_group_size(8, 8, 1))) void matmul_0(
// OPENCL:        const int {{.*}} = get_group_id(1);
// OPENCL:        __local float A_shared[256];
// OPENCL:        const int {{.*}} = get_local_id(1);
// OPENCL:        float C_local[16];
// OPENCL:          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
te.kernel @matmul(%A: tensor<64x64xf32>, %B: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %C = te.compute "C" [i: 64, j: 64] reduce [k: 64] : tensor<64x64xf32> {
    %0 = te.read %A[i, k] : tensor<64x64xf32>
    %1 = te.read %B[k, j] : tensor<64x64xf32>
    %2 = arith.mulf %0, %1 : f32
    te.reduce add %2 : f32
  }
  te.return %C : tensor<64x64xf32>
}
schedule.sequence @matmul {
  %C, %i, %j, %k = schedule.stage "C" [i, j, k]
  %C_local, %i_1, %j_1, %k_1 = schedule.cache_write %C "local" [i, j, k]
  %arg0 = schedule.argument 0
  %A_shared, %ax0, %ax1 = schedule.cache_read %arg0 "shared" readers(%C_local) [ax0, ax1]
  %arg1 = schedule.argument 1
  %B_shared, %ax0_1, %ax1_1 = schedule.cache_read %arg1 "shared" readers(%C_local) [ax0, ax1]
  %i_o, %i_i = schedule.split %i factor 32
  %j_o, %j_i = schedule.split %j factor 32
  %i_i_o, %i_i_i = schedule.split %i_i factor 4
  %j_i_o, %j_i_i = schedule.split %j_i factor 4
  schedule.reorder %i_o, %j_o, %i_i_o, %j_i_o, %i_i_i, %j_i_i
  schedule.bind %i_o "blockIdx.y"
  schedule.bind %j_o "blockIdx.x"
  schedule.bind %i_i_o "threadIdx.y"
  schedule.bind %j_i_o "threadIdx.x"
  schedule.compute_at %C_local, %j_i_o
  %k_o, %k_i = schedule.split %k_1 factor 8
  schedule.reorder %k_o, %k_i, %i_1, %j_1
  schedule.compute_at %A_shared, %k_o
  %ax0_ax1 = schedule.fuse %ax0, %ax1
  %ax0_ax1_o, %ax0_ax1_i = schedule.split %ax0_ax1 factor 64
  %ax0_ax1_i_o, %ax0_ax1_i_i = schedule.split %ax0_ax1_i factor 8
  schedule.bind %ax0_ax1_i_o "threadIdx.y"
  schedule.bind %ax0_ax1_i_i "threadIdx.x"
  schedule.compute_at %B_shared, %k_o
  %ax0_ax1_1 = schedule.fuse %ax0_1, %ax1_1
  %ax0_ax1_o_1, %ax0_ax1_i_1 = schedule.split %ax0_ax1_1 factor 64
  %ax0_ax1_i_o_1, %ax0_ax1_i_i_1 = schedule.split %ax0_ax1_i_1 factor 8
  schedule.bind %ax0_ax1_i_o_1 "threadIdx.y"
  schedule.bind %ax0_ax1_i_i_1 "threadIdx.x"
}
