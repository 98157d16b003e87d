// RUN: opt-tool %s -p schedule-apply-dataflow --check-semantics | filecheck %s

// The reduce axis becomes the last dimension; what was done to the spatial axes before stays with the stage.

// tvm: test_lang_schedule/rfactor
// CHECK-LABEL: te.kernel @last
// CHECK: %y_rf = te.compute "y.rf" [i: 8, k.inner: 4] reduce [k.outer: 4] : tensor<8x4xf32>
// CHECK-NEXT: te.read %x[i, 4 * k.outer + k.inner]
// CHECK: %y = te.compute "y" [i: 8] reduce [k.inner: 4]
// CHECK-NEXT: te.read %y_rf[i, k.inner]
// CHECK-NEXT: te.reduce add
// CHECK-LABEL: schedule.sequence @last
// CHECK-NEXT: %y, %i, %k_inner = schedule.stage "y" [i, k.inner]
// CHECK-NEXT: %io, %ii = schedule.split %i factor 2
// CHECK-NEXT: schedule.reorder %io, %ii
// CHECK-NEXT: %y_rf, %{{.*}}, %[[V:.*]], %k_outer = schedule.stage "y.rf" [i, k.inner, k.outer]
// CHECK-NEXT: schedule.vectorize %[[V]]
// CHECK-NEXT: schedule.compute_at %y_rf, %ii
// CHECK-NEXT: schedule.unroll %k_inner
te.kernel @last(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 16] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x16xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @last {
  %y, %i, %k = schedule.stage "y" [i, k]
  %io, %ii = schedule.split %i factor 2
  %ko, %ki = schedule.split %k factor 4
  schedule.reorder %io, %ko, %ii, %ki
  %rf, %ri, %rk, %ro, %rest = schedule.rfactor %y, %ki at -1 [i, k.inner, k.outer]
  schedule.vectorize %rk
  schedule.compute_at %rf, %ii
  schedule.unroll %rest
}

// A split that does not divide: elements that are not there are neither read nor reduced. A reducer of one's own with two
// results, an argmax, is factored like any other.

// CHECK-LABEL: te.kernel @uneven
// CHECK: te.compute "y.rf" [k.outer: 4, i: 8] reduce [k.inner: 4] : tensor<4x8xf32>, tensor<4x8xi32>
// CHECK: te.if_then_else [-4 * k.outer - k.inner + 12 >= 0] : f32 {
// CHECK-NEXT: te.read %x[i, 4 * k.outer + k.inner]
// CHECK: %[[W:.*]] = te.if_then_else [-4 * k.outer - k.inner + 12 >= 0] : i1 {
// CHECK: te.reduce %{{.*}}, %{{.*}} from [{{.*}}] where %[[W]] : f32, i32 {
// CHECK: te.compute "y" [i: 8] reduce [k.outer: 4] : tensor<8xf32>, tensor<8xi32>
// CHECK-NEXT: te.read %{{.*}}[k.outer, i] : tensor<4x8xf32>
// CHECK-NEXT: te.read %{{.*}}[k.outer, i] : tensor<4x8xi32>
// CHECK-NEXT: te.reduce %{{.*}}, %{{.*}} from [{{.*}}] : f32, i32 {
te.kernel @uneven(%x: tensor<8x13xf32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %v, %n = te.compute "y" [i: 8] reduce [k: 13] : tensor<8xf32>, tensor<8xi32> {
    %a = te.read %x[i, k] : tensor<8x13xf32>
    %at = te.index k
    %b = arith.index_cast %at : index to i32
    te.reduce %a, %b from [0xFF800000 : f32, 2147483647 : i32] : f32, i32 {
    ^bb0(%v0: f32, %n0: i32, %v1: f32, %n1: i32):
      %more = arith.cmpf ogt, %v0, %v1 : f32
      %same = arith.cmpf oeq, %v0, %v1 : f32
      %first = arith.cmpi slt, %n0, %n1 : i32
      %tie = arith.andi %same, %first : i1
      %take = arith.ori %more, %tie : i1
      %vs = arith.select %take, %v0, %v1 : f32
      %ns = arith.select %take, %n0, %n1 : i32
      te.yield %vs, %ns : f32, i32
    }
  }
  te.return %v, %n : tensor<8xf32>, tensor<8xi32>
}
schedule.sequence @uneven {
  %y, %i, %k = schedule.stage "y" [i, k]
  %ko, %ki = schedule.split %k factor 4
  %rf, %ro, %ri, %rk, %rest = schedule.rfactor %y, %ko at 0 [k.outer, i, k.inner]
}

// A reduce axis whose length depends on a spatial one, which is split before (found by fuzzing: the length was in terms of
// the split axes).

// CHECK-LABEL: te.kernel @triangle
// CHECK: te.compute "y.rf" [i: 8, r.inner: 3] reduce [r.outer: (i + 2) floordiv 3] : tensor<8x3xf32>
te.kernel @triangle(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [r: i] : tensor<8xf32> {
    %v = te.read %x[i, r] : tensor<8x8xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @triangle {
  %y, %i, %r = schedule.stage "y" [i, r]
  %io, %ii = schedule.split %i factor 4
  %ro, %ri = schedule.split %r factor 3
  %rf, %fi, %fr, %fo, %rest = schedule.rfactor %y, %ri at -1 [i, r.inner, r.outer]
}
