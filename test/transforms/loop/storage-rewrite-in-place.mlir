// RUN: opt-tool %s -p loop-storage-rewrite | filecheck %s

// Buffers that take over the storage of what a loop reads for the last time.

// The sum goes where its first operand was; the second is read at element 0 too, until the end.
// tvm: test_pass_storage_rewrite/inplace_rule
// CHECK-LABEL: loop.kernel @inplace_rule
// CHECK-NEXT:    %[[A0:.*]] = memref.alloca() : memref<10xf32, "local">
// CHECK-NEXT:    %[[A1:.*]] = memref.alloca() : memref<10xf32, "local">
// CHECK-NOT:     alloca
// CHECK:         loop.store %{{.*}}, %[[A0]][
// CHECK:         loop.store %{{.*}}, %[[A1]][
// CHECK:         loop.load %[[A1]][0]
// CHECK:         loop.store %{{.*}}, %[[A0]][
loop.kernel @inplace_rule ins(%x: memref<10xf32>) outs(%y: memref<10xf32>) {
  %a0 = memref.alloca() : memref<10xf32, "local">
  %a1 = memref.alloca() : memref<10xf32, "local">
  %aa = memref.alloca() : memref<10xf32, "local">
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %x[%i] : memref<10xf32>
    loop.store %v0, %a0[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %x[%i] : memref<10xf32>
    %v1 = loop.load %x[%i] : memref<10xf32>
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %a1[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %a0[%i] : memref<10xf32, "local">
    %v1 = loop.load %a1[%i] : memref<10xf32, "local">
    %v2 = loop.load %a1[0] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    %s1 = arith.addf %s0, %v2 : f32
    loop.store %s1, %aa[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %aa[%i] : memref<10xf32, "local">
    loop.store %v0, %y[%i] : memref<10xf32>
  }
}

// Two operands, both read for the last time.
// tvm: test_pass_storage_rewrite/inplace_rule2
// CHECK-LABEL: loop.kernel @inplace_rule2
// CHECK-COUNT-2: memref.alloca() : memref<10xf32, "local">
// CHECK-NOT:     alloca
loop.kernel @inplace_rule2 ins(%x: memref<10xf32>, %z: memref<10xf32>) outs(%y: memref<10xf32>) {
  %a0 = memref.alloca() : memref<10xf32, "local">
  %a1 = memref.alloca() : memref<10xf32, "local">
  %a2 = memref.alloca() : memref<10xf32, "local">
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %x[%i] : memref<10xf32>
    %v1 = loop.load %z[%i] : memref<10xf32>
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %a0[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %z[%i] : memref<10xf32>
    %v1 = loop.load %z[%i] : memref<10xf32>
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %a1[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %a0[%i] : memref<10xf32, "local">
    %v1 = loop.load %a1[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %a2[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %a2[%i] : memref<10xf32, "local">
    loop.store %v0, %y[%i] : memref<10xf32>
  }
}

// Six inputs, each cached right before it is read first, and nine intermediate results: 70 elements.
// tvm: test_pass_storage_rewrite/inplace_rule3
// CHECK-LABEL: loop.kernel @inplace_rule3
// CHECK-COUNT-7: memref.alloca() : memref<10xf32, "local">
// CHECK-NOT:     alloca
loop.kernel @inplace_rule3 ins(%x: memref<60xf32>) outs(%y: memref<10xf32>) {
  %c0 = memref.alloca() : memref<10xf32, "local">
  %c1 = memref.alloca() : memref<10xf32, "local">
  %c2 = memref.alloca() : memref<10xf32, "local">
  %c3 = memref.alloca() : memref<10xf32, "local">
  %c4 = memref.alloca() : memref<10xf32, "local">
  %c5 = memref.alloca() : memref<10xf32, "local">
  %b6 = memref.alloca() : memref<10xf32, "local">
  %b7 = memref.alloca() : memref<10xf32, "local">
  %b8 = memref.alloca() : memref<10xf32, "local">
  %b9 = memref.alloca() : memref<10xf32, "local">
  %b10 = memref.alloca() : memref<10xf32, "local">
  %b11 = memref.alloca() : memref<10xf32, "local">
  %b12 = memref.alloca() : memref<10xf32, "local">
  %b13 = memref.alloca() : memref<10xf32, "local">
  %b14 = memref.alloca() : memref<10xf32, "local">
  loop.for %i = 0 to 10 "i" {
    %v = loop.load %x[%i + 10] : memref<60xf32>
    loop.store %v, %c1[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v = loop.load %x[%i + 50] : memref<60xf32>
    loop.store %v, %c5[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %c1[%i] : memref<10xf32, "local">
    %v1 = loop.load %c5[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b6[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v = loop.load %x[%i + 20] : memref<60xf32>
    loop.store %v, %c2[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v = loop.load %x[%i + 40] : memref<60xf32>
    loop.store %v, %c4[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %c2[%i] : memref<10xf32, "local">
    %v1 = loop.load %c4[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b7[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %b6[%i] : memref<10xf32, "local">
    %v1 = loop.load %b7[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b8[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v = loop.load %x[%i + 30] : memref<60xf32>
    loop.store %v, %c3[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %c2[%i] : memref<10xf32, "local">
    %v1 = loop.load %c3[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b9[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v = loop.load %x[%i + 0] : memref<60xf32>
    loop.store %v, %c0[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %c0[%i] : memref<10xf32, "local">
    %v1 = loop.load %c5[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b10[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %b9[%i] : memref<10xf32, "local">
    %v1 = loop.load %b10[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b11[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %c0[%i] : memref<10xf32, "local">
    %v1 = loop.load %c4[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b12[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %c1[%i] : memref<10xf32, "local">
    %v1 = loop.load %c3[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b13[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %b12[%i] : memref<10xf32, "local">
    %v1 = loop.load %b13[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b14[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %b8[%i] : memref<10xf32, "local">
    %v1 = loop.load %b11[%i] : memref<10xf32, "local">
    %v2 = loop.load %b14[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    %s1 = arith.addf %s0, %v2 : f32
    loop.store %s1, %y[%i] : memref<10xf32>
  }
}

// Element 0 is read all the time, so nothing is in place: two storages take turns.
// tvm: test_pass_storage_rewrite/storage_combine
// CHECK-LABEL: loop.kernel @storage_combine
// CHECK-NEXT:    %[[A:.*]] = memref.alloca() : memref<8xf32, "local">
// CHECK-NEXT:    %[[B:.*]] = memref.alloca() : memref<8xf32, "local">
// CHECK-NOT:     alloca
// CHECK:         loop.store %{{.*}}, %[[A]][
// CHECK:         loop.store %{{.*}}, %[[B]][
// CHECK:         loop.store %{{.*}}, %[[A]][
// CHECK:         loop.store %{{.*}}, %[[B]][
loop.kernel @storage_combine ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  %a = memref.alloca() : memref<8xf32, "local">
  %b = memref.alloca() : memref<8xf32, "local">
  %c = memref.alloca() : memref<8xf32, "local">
  %d = memref.alloca() : memref<8xf32, "local">
  loop.for %i = 0 to 8 "i" {
    %v0 = loop.load %x[%i] : memref<8xf32>
    %v1 = loop.load %x[0] : memref<8xf32>
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %a[%i] : memref<8xf32, "local">
  }
  loop.for %i = 0 to 8 "i" {
    %v0 = loop.load %a[%i] : memref<8xf32, "local">
    %v1 = loop.load %a[0] : memref<8xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %b[%i] : memref<8xf32, "local">
  }
  loop.for %i = 0 to 8 "i" {
    %v0 = loop.load %b[%i] : memref<8xf32, "local">
    %v1 = loop.load %b[0] : memref<8xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %c[%i] : memref<8xf32, "local">
  }
  loop.for %i = 0 to 8 "i" {
    %v0 = loop.load %c[%i] : memref<8xf32, "local">
    %v1 = loop.load %c[0] : memref<8xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %d[%i] : memref<8xf32, "local">
  }
  loop.for %i = 0 to 8 "i" {
    %v0 = loop.load %d[%i] : memref<8xf32, "local">
    %v1 = loop.load %d[0] : memref<8xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %y[%i] : memref<8xf32>
  }
}

// A cached input with four readers keeps its storage until the last; the chain of results is in place.
// tvm: test_pass_storage_rewrite/replace_dataflow
// CHECK-LABEL: loop.kernel @replace_dataflow
// CHECK-NEXT:    %[[A:.*]] = memref.alloca() : memref<10xf32, "local">
// CHECK-NEXT:    %[[C:.*]] = memref.alloca() : memref<10xf32, "local">
// CHECK-NOT:     alloca
loop.kernel @replace_dataflow ins(%x: memref<10xf32>, %z: memref<10xf32>) outs(%y: memref<10xf32>) {
  %a = memref.alloca() : memref<10xf32, "local">
  %c = memref.alloca() : memref<10xf32, "local">
  %d = memref.alloca() : memref<10xf32, "local">
  %e = memref.alloca() : memref<10xf32, "local">
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %x[%i] : memref<10xf32>
    loop.store %v0, %a[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %a[%i] : memref<10xf32, "local">
    %v1 = loop.load %z[%i] : memref<10xf32>
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %c[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %a[%i] : memref<10xf32, "local">
    %v1 = loop.load %c[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %d[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %a[%i] : memref<10xf32, "local">
    %v1 = loop.load %d[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %e[%i] : memref<10xf32, "local">
  }
  loop.for %i = 0 to 10 "i" {
    %v0 = loop.load %a[%i] : memref<10xf32, "local">
    %v1 = loop.load %e[%i] : memref<10xf32, "local">
    %s0 = arith.addf %v0, %v1 : f32
    loop.store %s0, %y[%i] : memref<10xf32>
  }
}

// Vectors: the caches of both operands are apart; the result is in place of the first.
// tvm: test_pass_storage_rewrite/storage_combine_with_vectorization
// CHECK-LABEL: loop.kernel @storage_combine_with_vectorization
// CHECK-NEXT:    %[[A:.*]] = memref.alloca() : memref<64xf32, "local">
// CHECK-NEXT:    %[[B:.*]] = memref.alloca() : memref<64xf32, "local">
// CHECK-NOT:     alloca
// CHECK:         %[[V:.*]] = loop.load %[[A]][8 * %{{.*}}]
// CHECK-NEXT:    %[[W:.*]] = loop.load %[[B]][8 * %{{.*}}]
// CHECK-NEXT:    %[[S:.*]] = arith.addf %[[V]], %[[W]]
// CHECK-NEXT:    loop.store %[[S]], %[[A]][8 * %{{.*}}]
loop.kernel @storage_combine_with_vectorization ins(%x: memref<64xf32>, %z: memref<64xf32>) outs(%y: memref<64xf32>) {
  %a = memref.alloca() : memref<64xf32, "local">
  %b = memref.alloca() : memref<64xf32, "local">
  %c = memref.alloca() : memref<64xf32, "local">
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %x[8 * %i] : memref<64xf32>, vector<8xf32>
    loop.store %v, %a[8 * %i] : memref<64xf32, "local">, vector<8xf32>
  }
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %z[8 * %i] : memref<64xf32>, vector<8xf32>
    loop.store %v, %b[8 * %i] : memref<64xf32, "local">, vector<8xf32>
  }
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %a[8 * %i] : memref<64xf32, "local">, vector<8xf32>
    %w = loop.load %b[8 * %i] : memref<64xf32, "local">, vector<8xf32>
    %s = arith.addf %v, %w : vector<8xf32>
    loop.store %s, %c[8 * %i] : memref<64xf32, "local">, vector<8xf32>
  }
  loop.for %i = 0 to 8 "i" {
    %v = loop.load %c[8 * %i] : memref<64xf32, "local">, vector<8xf32>
    loop.store %v, %y[8 * %i] : memref<64xf32>, vector<8xf32>
  }
}
