// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop,loop-simplify --check-semantics | filecheck %s

// compute_root takes compute_at back; an axis of extent 1 can be made for a stage without any.

// CHECK-LABEL: loop.kernel @root
// CHECK-SAME:    scratch(%y: memref<8xf32>)
// CHECK:         loop.for %i = 0 to 8 "i" {
// CHECK:         loop.for %i_1 = 0 to 8 "i" {
te.kernel @root(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @root {
  %y, %i = schedule.stage "y" [i]
  %z, %j = schedule.stage "z" [i]
  schedule.compute_at %y, %j
  schedule.compute_root %y
}

// tvm: test_lang_schedule/singleton test_schedule_schedule_ops/reduction_and_dummy_fuse_split
// CHECK-LABEL: loop.kernel @singleton
// CHECK:         loop.for %k = 0 to 8 "k" {
te.kernel @singleton(%x: tensor<8xf32>) -> tensor<f32> {
  %y = te.compute "y" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<f32>
}
schedule.sequence @singleton {
  %y, %k = schedule.stage "y" [k]
  %one = schedule.singleton %y
  %o, %n = schedule.split %one nparts 20
  schedule.parallel %o
}

// decompose_reduction: all elements of a row of tiles are set before the loop that combines.

// CHECK-LABEL: loop.kernel @decomposed
// CHECK:         loop.for %i = 0 to 8 "i" {
// CHECK-NEXT:      loop.for %j = 0 to 4 "j" vectorized {
// CHECK-NEXT:        arith.constant
// CHECK-NEXT:        loop.store
// CHECK:           loop.for %j_1 = 0 to 4 "j" vectorized {
// CHECK-NEXT:        loop.for %k = 0 to 16 "k" {
te.kernel @decomposed(%x: tensor<8x4x16xf32>) -> tensor<8x4xf32> {
  %y = te.compute "y" [i: 8, j: 4] reduce [k: 16] : tensor<8x4xf32> {
    %v = te.read %x[i, j, k] : tensor<8x4x16xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8x4xf32>
}
schedule.sequence @decomposed {
  %y, %i, %j, %k = schedule.stage "y" [i, j, k]
  schedule.decompose_reduction %y, %j
  schedule.vectorize %j
}

// reverse_compute_at: the consumer takes a part as soon as it is finished, behind the reduction; its tail is guarded.

// CHECK-LABEL: loop.kernel @epilogue
// CHECK:         loop.for %i_outer = 0 to 3 "i.outer" parallel {
// CHECK:           loop.for %k = 0 to 16 "k" {
// CHECK:           loop.for %i = 0 to min(-3 * %i_outer + 8, 3) "i" {
// CHECK-NEXT:        loop.load %y[%i + 3 * %i_outer]
te.kernel @epilogue(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 16] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x16xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[i] : tensor<8xf32>
    %m = arith.negf %v : f32
    te.yield %m : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @epilogue {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %o, %n = schedule.split %i factor 3
  schedule.reorder %o, %k, %n
  schedule.parallel %o
  schedule.reverse_compute_at %z, %o
}

// Tail pad: the stage has room for 16 columns, so that nothing around the vectors asks for the last one; what reads an
// argument beyond its end takes zero, what reads a copy that is padded itself does not ask.

// CHECK-LABEL: loop.kernel @padded
// CHECK-SAME:    scratch(%y: memref<8x16xf32>)
// CHECK:         %x_local = memref.alloca() : memref<1x16xf32, "local">
// CHECK:           loop.for %b_inner = 0 to 4 "b.inner" {
// CHECK-NEXT:        loop.if [-4 * %b_outer - %b_inner + 12 >= 0] -> f32 {
// CHECK:         loop.for %j_inner = 0 to 4 "j.inner" vectorized {
// CHECK-NEXT:      loop.load %x_local[0, 4 * %j_outer + %j_inner]
// CHECK-NEXT:      loop.store %{{.*}}, %y[%i, 4 * %j_outer + %j_inner] : memref<8x16xf32>
te.kernel @padded(%x: tensor<8x13xf32>) -> tensor<8x13xf32> {
  %y = te.compute "y" [i: 8, j: 13] : tensor<8x13xf32> {
    %v = te.read %x[i, j] : tensor<8x13xf32>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: 8, j: 13] : tensor<8x13xf32> {
    %v = te.read %y[i, j] : tensor<8x13xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8x13xf32>
}
schedule.sequence @padded {
  %y, %i, %j = schedule.stage "y" [i, j]
  %x = schedule.argument 0
  %l, %a, %b = schedule.cache_read %x "local" readers(%y) [a, b]
  schedule.compute_at %l, %i
  %bo, %bi = schedule.split %b factor 4 tail pad
  %jo, %ji = schedule.split %j factor 4 tail pad
  schedule.vectorize %ji
}

// A strided window needs every other element only: the buffer holds those.

// CHECK-LABEL: loop.kernel @steps
// CHECK:         %y = memref.alloca() : memref<4xf32, "local">
// CHECK:         loop.load %x[2 * %i + 8 * %i_outer]
// CHECK:         loop.load %y[%i_inner] : memref<4xf32, "local">
te.kernel @steps(%x: tensor<16xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 16] : tensor<16xf32> {
    %v = te.read %x[i] : tensor<16xf32>
    te.yield %v : f32
  }
  %z = te.compute "z" [i: 8] : tensor<8xf32> {
    %v = te.read %y[2 * i] : tensor<16xf32>
    te.yield %v : f32
  }
  te.return %z : tensor<8xf32>
}
schedule.sequence @steps {
  %y, %p = schedule.stage "y" [i]
  %z, %i = schedule.stage "z" [i]
  %o, %n = schedule.split %i factor 4
  schedule.compute_at %y, %o
}

// An output that is computed in the loops of its consumer is stored where the caller wants it, part by part.

// CHECK-LABEL: loop.kernel @output_at_its_consumer
// CHECK-SAME:    outs(%y: memref<7xf32>, %z: memref<7xf32>)
// CHECK:         loop.for %{{.*}} = 0 to 3 "i.outer" parallel {
// CHECK-NOT:       memref.alloca
// CHECK:           loop.store %{{.*}}, %y[
// CHECK:           loop.load %y[
// CHECK:           loop.store %{{.*}}, %z[
te.kernel @output_at_its_consumer(%x: tensor<7x5xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %y = te.compute "y" [i: 7] reduce [k: 5] : tensor<7xf32> {
    %v = te.read %x[i, k] : tensor<7x5xf32>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [i: 7] : tensor<7xf32> {
    %v = te.read %y[i] : tensor<7xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  te.return %y, %z : tensor<7xf32>, tensor<7xf32>
}
schedule.sequence @output_at_its_consumer {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [i]
  %o, %n = schedule.split %j factor 3
  schedule.parallel %o
  schedule.compute_at %y, %o
}

// An output that is inlined is computed for the caller too.

// CHECK-LABEL: loop.kernel @inlined_output
// CHECK:         loop.store %{{.*}}, %y[
// CHECK-NOT:     loop.load %y
// CHECK:         loop.store %{{.*}}, %z[
te.kernel @inlined_output(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %y = te.compute "y" [i: 7] : tensor<7xf32> {
    %v = te.read %x[i] : tensor<7xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %z = te.compute "z" [i: 7] : tensor<7xf32> {
    %v = te.read %y[6 - i] : tensor<7xf32>
    te.yield %v : f32
  }
  te.return %y, %z : tensor<7xf32>, tensor<7xf32>
}
schedule.sequence @inlined_output {
  %y, %i = schedule.stage "y" [i]
  schedule.compute_inline %y
}

// A part of constant size is enough for an axis that is no longer, though its own size is open.

// CHECK-LABEL: loop.kernel @few_blocks
// CHECK:         loop.for %{{.*}} = 0 to (min(8, %N) + 7) floordiv 8
// CHECK:           memref.alloca() : memref<1xf32, "local">
te.kernel @few_blocks(%x: tensor<?xf32, #graph.dims<[min(N, 8)]>>) -> tensor<f32> {
  %y = te.compute "y" [i: (min(N, 8) + 7) floordiv 8] reduce [k: 8] : tensor<?xf32, #graph.dims<[(min(N, 8) + 7) floordiv 8]>> {
    %v = te.read %x[min(i * 8 + k, min(N, 8) - 1)] : tensor<?xf32, #graph.dims<[min(N, 8)]>>
    te.reduce add %v : f32
  }
  %z = te.compute "z" [] reduce [j: (min(N, 8) + 7) floordiv 8] : tensor<f32> {
    %v = te.read %y[j] : tensor<?xf32, #graph.dims<[(min(N, 8) + 7) floordiv 8]>>
    te.reduce add %v : f32
  }
  te.return %z : tensor<f32>
}
schedule.sequence @few_blocks {
  %y, %i, %k = schedule.stage "y" [i, k]
  %z, %j = schedule.stage "z" [j]
  schedule.compute_at %y, %j {scope = "local"}
}
