// RUN: opt-tool %s --pass-pipeline='builtin.module(schedule-apply-dataflow,schedule-to-loop)' --check-semantics | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' --pass-pipeline='builtin.module(compile-kernel)' --check-semantics | filecheck %s --check-prefix=WHOLE

// The statements stand where the stage was, on the buffers of the tensors; what it reads is scheduled like any other.
// CHECK-LABEL: loop.kernel @between ins(%x: memref<?xf32> [N]) outs(%z: memref<?xf32> [N]) scratch(%y: memref<?xf32> [N], %s: memref<?xf32> [N]) symbols(%N)
// CHECK:         loop.for %i_outer = 0 to (%N + 3) floordiv 4 "i.outer"
// CHECK:         %m = memref.alloca() : memref<1xf32, "local">
// CHECK:         loop.for %j = 0 to %N "j" {
// CHECK-NEXT:      loop.load %y[%j] : memref<?xf32>
// CHECK:           loop.store %{{.*}}, %s[%j] : memref<?xf32>
// CHECK:         loop.for %i = 0 to %N "i" {
// CHECK:           loop.load %s[%i] : memref<?xf32>
// CHECK:           loop.store %{{.*}}, %z[%i] : memref<?xf32>
// WHOLE-LABEL: loop.kernel @between
te.kernel @between(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %y = te.compute "y" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %x[i] : tensor<?xf32, #graph.dims<[N]>>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %s = te.extern "s" ins(%a = %y : tensor<?xf32, #graph.dims<[N]>>) outs(%b : tensor<?xf32, #graph.dims<[N]>>) symbols(%n = N) {
    %m = memref.alloca() : memref<1xf32, "local">
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %m[0] : memref<1xf32, "local">
    loop.for %j = 0 to %n "j" {
      %v = loop.load %a[%j] : memref<?xf32>
      %w = loop.load %m[0] : memref<1xf32, "local">
      %u = arith.addf %v, %w : f32
      loop.store %u, %m[0] : memref<1xf32, "local">
      loop.store %u, %b[%j] : memref<?xf32>
    }
  }
  %z = te.compute "z" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %s[i] : tensor<?xf32, #graph.dims<[N]>>
    %w = te.read %y[i] : tensor<?xf32, #graph.dims<[N]>>
    %u = arith.addf %v, %w : f32
    te.yield %u : f32
  }
  te.return %z : tensor<?xf32, #graph.dims<[N]>>
}
schedule.sequence @between {
  %y, %i = schedule.stage "y" [i]
  %o, %n = schedule.split %i factor 4
  %s = schedule.stage "s" []
  schedule.set_scope %s "local"
  schedule.compute_root %s
}

// A result that is returned twice is copied. What is read to find elements is an index in bounds when the check draws data.
// CHECK-LABEL: loop.kernel @scatter
// CHECK-SAME:    outs(%[[A:.*]]: memref<4x3xf32>, %[[B:.*]]: memref<4x3xf32>)
// CHECK:         loop.store %{{.*}}, %[[A]][%{{.*}}, %j] : memref<4x3xf32>
// CHECK:         loop.for %copy = 0 to 4 "copy.0" {
// CHECK-NEXT:      loop.for %copy_1 = 0 to 3 "copy.1" {
// CHECK-NEXT:        %[[V:.*]] = loop.load %[[A]][%copy, %copy_1] : memref<4x3xf32>
// CHECK:             loop.store %[[V]], %[[B]][%copy, %copy_1] : memref<4x3xf32>
// WHOLE-LABEL: loop.kernel @scatter
te.kernel @scatter(%x: tensor<5x3xf32>, %places: tensor<5xi32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %sums = te.extern "sums" ins(%a = %x : tensor<5x3xf32>, %p = %places : tensor<5xi32>) outs(%b : tensor<4x3xf32>) {
    %zero = arith.constant 0.0 : f32
    loop.for %i = 0 to 4 "i" {
      loop.for %j = 0 to 3 "j" vectorized {
        loop.store %zero, %b[%i, %j] : memref<4x3xf32>
      }
    }
    loop.for %i = 0 to 5 "i" {
      %at = loop.load %p[%i] : memref<5xi32>
      %row = arith.index_cast %at : i32 to index
      loop.for %j = 0 to 3 "j" parallel {
        %v = loop.load %a[%i, %j] : memref<5x3xf32>
        %w = loop.load %b[%row, %j] : memref<4x3xf32>
        %u = arith.addf %v, %w : f32
        loop.store %u, %b[%row, %j] : memref<4x3xf32>
      }
    }
  }
  te.return %sums, %sums : tensor<4x3xf32>, tensor<4x3xf32>
}
