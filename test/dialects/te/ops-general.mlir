// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// Several results, a reducer of the program's own, the index of an axis as a number.
// CHECK-LABEL: te.kernel @argmax
// CHECK-NEXT:    %[[V:.*]], %[[I:.*]] = te.compute "argmax" [i: 8] reduce [k: 64] : tensor<8xf32>, tensor<8xi32> {
// CHECK-NEXT:      %v = te.read %x[i, k] : tensor<8x64xf32>
// CHECK-NEXT:      %k = te.index k
// CHECK-NEXT:      %n = arith.index_cast %k : index to i32
// CHECK-NEXT:      te.reduce %v, %n from [-3.40282347e+38 : f32, 2147483647 : i32] : f32, i32 {
// CHECK-NEXT:      ^{{.*}}(%v0: f32, %n0: i32, %v1: f32, %n1: i32):
// CHECK:             te.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK:         te.return %[[I]] : tensor<8xi32>
// GENERIC:       "te.reduce"(%v, %n) <{identities = [-3.40282347e+38 : f32, 2147483647 : i32], operandSegmentSizes = array<i32: 2, 0>}>
te.kernel @argmax(%x: tensor<8x64xf32>) -> tensor<8xi32> {
  %m, %i = te.compute "argmax" [i: 8] reduce [k: 64] : tensor<8xf32>, tensor<8xi32> {
    %v = te.read %x[i, k] : tensor<8x64xf32>
    %k = te.index k
    %n = arith.index_cast %k : index to i32
    te.reduce %v, %n from [-3.40282347e+38 : f32, 2147483647 : i32] : f32, i32 {
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
  te.return %i : tensor<8xi32>
}

// An extent that depends on an axis; a condition under which elements take part.
// CHECK-LABEL: te.kernel @triangle
// CHECK-NEXT:    te.compute "lower" [i: 8] reduce [k: i + 1] : tensor<8xf32>
// CHECK:           te.reduce add %v where %positive : f32
// GENERIC:       reduce_extents = #te.index<[i + 1]>
// GENERIC:       "te.reduce"(%v, %positive) <{kind = "add", operandSegmentSizes = array<i32: 1, 1>}>
te.kernel @triangle(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %y = te.compute "lower" [i: 8] reduce [k: i + 1] : tensor<8xf32> {
    %v = te.read %x[i, k] : tensor<8x8xf32>
    %zero = arith.constant 0.0 : f32
    %positive = arith.cmpf ogt, %v, %zero : f32
    te.reduce add %v where %positive : f32
  }
  te.return %y : tensor<8xf32>
}

// Indices that are data, in a read, a number and a condition; unsigned elements are read as bits; any.
// CHECK-LABEL: te.kernel @gather
// CHECK:           %at = arith.index_cast %n : i32 to index
// CHECK-NEXT:      %{{.*}} = te.read %table[%at + 1, j] : tensor<10x4xf32>
// CHECK-NEXT:      %next = te.index i + 2 * %at
// CHECK:           te.if_then_else [%next - %at - 3 >= 0, j - 1 >= 0] : f32 {
// CHECK:           %bits = te.read %bytes[i] : tensor<8xui8>
// CHECK:           te.yield %{{.*}}, %bits : f32, i8
// CHECK:           te.reduce or %c : i1
// GENERIC:       "te.read"(%table, %at) <{indices = #te.index<[op$0 + 1, j]>}>
// GENERIC:       "te.index"(%at) <{expr = #te.index<[i + 2 * op$0]>}>
// GENERIC:       "te.if_then_else"(%next, %at) <{when = #te.when<[op$0 - op$1 - 3 ge 0, j - 1 ge 0]>}>
te.kernel @gather(%table: tensor<10x4xf32>, %rows: tensor<8xi32>, %bytes: tensor<8xui8>, %flags: tensor<8xi1>)
    -> (tensor<8x4xf32>, tensor<8x4xui8>, tensor<i1>) {
  %y, %b = te.compute "gather" [i: 8, j: 4] : tensor<8x4xf32>, tensor<8x4xui8> {
    %n = te.read %rows[i] : tensor<8xi32>
    %at = arith.index_cast %n : i32 to index
    %v = te.read %table[%at + 1, j] : tensor<10x4xf32>
    %next = te.index i + 2 * %at
    %w = te.if_then_else [%next - %at - 3 >= 0, j - 1 >= 0] : f32 {
      te.yield %v : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    %bits = te.read %bytes[i] : tensor<8xui8>
    te.yield %w, %bits : f32, i8
  }
  %any = te.compute "any" [] reduce [i: 8] : tensor<i1> {
    %c = te.read %flags[i] : tensor<8xi1>
    te.reduce or %c : i1
  }
  te.return %y, %b, %any : tensor<8x4xf32>, tensor<8x4xui8>, tensor<i1>
}

// Integers of four bits, which are values without a sign like all others.
// CHECK-LABEL: te.kernel @halves(%w: tensor<8xi4>, %u: tensor<8xui4>) -> (tensor<8xi8>, tensor<8xui4>) {
// CHECK:           %a = te.read %w[i] : tensor<8xi4>
// CHECK-NEXT:      %b = te.read %u[i] : tensor<8xui4>
// CHECK-NEXT:      %c = arith.extsi %a : i4 to i8
// CHECK-NEXT:      te.yield %c, %b : i8, i4
te.kernel @halves(%w: tensor<8xi4>, %u: tensor<8xui4>) -> (tensor<8xi8>, tensor<8xui4>) {
  %x, %y = te.compute "halves" [i: 8] : tensor<8xi8>, tensor<8xui4> {
    %a = te.read %w[i] : tensor<8xi4>
    %b = te.read %u[i] : tensor<8xui4>
    %c = arith.extsi %a : i4 to i8
    te.yield %c, %b : i8, i4
  }
  te.return %x, %y : tensor<8xi8>, tensor<8xui4>
}
