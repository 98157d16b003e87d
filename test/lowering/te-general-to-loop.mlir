// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop | filecheck %s
// RUN: opt-tool %s -p schedule-apply-dataflow,schedule-to-loop --check-semantics

// Two results in two buffers, joined by the program's own reducer; the index of the reduce axis as a number. The cache
// of both is written by one primitive.

// CHECK-LABEL: loop.kernel @argmax ins(%x: memref<8x64xf32>) outs(%{{.*}}: memref<8xf32>, %{{.*}}: memref<8xi32>)
// CHECK:         %[[V:.*]] = memref.alloca() : memref<1xf32, "local">
// CHECK-NEXT:    %[[N:.*]] = memref.alloca() : memref<1xi32, "local">
// CHECK:         arith.constant 0xff800000 : f32
// CHECK-NEXT:    arith.constant 2147483647 : i32
// CHECK-NEXT:    loop.store %{{.*}}, %[[V]]
// CHECK-NEXT:    loop.store %{{.*}}, %[[N]]
// CHECK:         loop.for %k = 0 to 64 "k"
// CHECK:           loop.load %[[V]]
// CHECK-NEXT:      loop.load %[[N]]
// CHECK-NEXT:      loop.load %x
// CHECK-NEXT:      loop.apply %k
// CHECK-NEXT:      arith.index_cast %{{.*}} : index to i32
// CHECK:           arith.select
// CHECK-NEXT:      arith.select
// CHECK-NEXT:      loop.store %{{.*}}, %[[V]]
// CHECK-NEXT:      loop.store %{{.*}}, %[[N]]
te.kernel @argmax(%x: tensor<8x64xf32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %m, %i = te.compute "argmax" [i: 8] reduce [k: 64] : tensor<8xf32>, tensor<8xi32> {
    %v = te.read %x[i, k] : tensor<8x64xf32>
    %k = te.index k
    %n = arith.index_cast %k : index to i32
    te.reduce %v, %n from [0xFF800000 : f32, 2147483647 : i32] : f32, i32 {
    ^bb0(%v0: f32, %n0: i32, %v1: f32, %n1: i32):
      %gt = arith.cmpf ogt, %v0, %v1 : f32
      %eq = arith.cmpf oeq, %v0, %v1 : f32
      %lt = arith.cmpi slt, %n0, %n1 : i32
      %first = arith.andi %eq, %lt : i1
      %better = arith.ori %gt, %first : i1
      %vm = arith.select %better, %v0, %v1 : f32
      %nm = arith.select %better, %n0, %n1 : i32
      te.yield %vm, %nm : f32, i32
    }
  }
  te.return %m, %i : tensor<8xf32>, tensor<8xi32>
}
schedule.sequence @argmax {
  %m, %i, %k = schedule.stage "argmax" [i, k]
  %c, %ci, %ck = schedule.cache_write %m "local" [i, k]
  schedule.compute_at %c, %i
}

// An extent that depends on an axis becomes the loop's bound, in parts too; the condition chooses what is joined.

// CHECK-LABEL: loop.kernel @triangle
// CHECK:         loop.for %i = 0 to 8 "i"
// CHECK:           loop.for %k_outer = 0 to %i floordiv 3 + 1 "k.outer"
te.kernel @triangle(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %y = te.compute "lower" [i: 8] reduce [k: i + 1] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x8xf32>
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %v, %zero : f32
    te.reduce add %v where %positive : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @triangle {
  %y, %i, %k = schedule.stage "lower" [i, k]
  %o, %n = schedule.split %k factor 3
}

// What is read at data is computed whole: the buffer holds all ten elements.

// CHECK-LABEL: loop.kernel @lookup
// CHECK:         loop.for %i_outer
// CHECK-NEXT:      %[[T:.*]] = memref.alloca() : memref<10xf32, "local">
// CHECK:           loop.for %i_inner
// CHECK:             %[[N:.*]] = loop.load %rows
// CHECK-NEXT:        %[[AT:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK-NEXT:        loop.load %[[T]][%[[AT]]]
// CHECK:             loop.if [%[[AT]] - 5 >= 0] -> f32
te.kernel @lookup(%x: tensor<10xf32>, %rows: tensor<12xi32>) -> tensor<12xf32> {
  %twice = te.compute "twice" [j: 10] : tensor<10xf32> {
    %v = te.read %x[j] : tensor<10xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %y = te.compute "y" [i: 12] : tensor<12xf32> {
    %n = te.read %rows[i] : tensor<12xi32>
    %j = arith.index_cast %n : i32 to index
    %v = te.read %twice[%j] : tensor<10xf32>
    %w = te.if_then_else [%j - 5 >= 0] : f32 {
      %u = te.read %x[%j - 5] : tensor<10xf32>
      te.yield %u : f32
    } else {
      te.yield %v : f32
    }
    te.yield %w : f32
  }
  te.return %y : tensor<12xf32>
}
schedule.sequence @lookup {
  %twice, %j = schedule.stage "twice" [j]
  %y, %i = schedule.stage "y" [i]
  %o, %n = schedule.split %i factor 4
  schedule.compute_at %twice, %o
}

// A kernel without axes.

// CHECK-LABEL: loop.kernel @scalar
// CHECK-NEXT:    %[[A:.*]] = loop.load %a[] : memref<f32>
// CHECK-NEXT:    %[[B:.*]] = arith.negf %[[A]] : f32
// CHECK-NEXT:    loop.store %[[B]], %{{.*}}[] : memref<f32>
te.kernel @scalar(%a: tensor<f32>) -> tensor<f32> {
  %b = te.compute "b" [] : tensor<f32> {
    %v = te.read %a[] : tensor<f32>
    %w = arith.negf %v : f32
    te.yield %w : f32
  }
  te.return %b : tensor<f32>
}
