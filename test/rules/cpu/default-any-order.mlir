// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule,schedule-apply-dataflow,schedule-to-loop --check-semantics

// Rows of integers, each summed up to one number: LLVM makes vectors of the loop along a row. What takes the sums
// computes each where it needs it.

// CHECK-LABEL: schedule.sequence @rows
// CHECK-NOT:     {{split|vectorize|rfactor}}
// CHECK-LABEL: schedule.sequence @scaled_rows
// CHECK:         %[[S:.*]], %[[I:.*]] = schedule.stage "scaled" [i]
// CHECK-NOT:     {{split|vectorize|rfactor}}
// CHECK:         schedule.compute_at %{{.*}}, %[[I]]{{$}}
te.kernel @rows(%x: tensor<7x101xi8>) -> tensor<7xi8> {
  %y = te.compute "y" [i: 7] reduce [k: 101] : tensor<7xi8> {
    %a = te.read %x[i, k] : tensor<7x101xi8>
    te.reduce max %a : i8
  }
  te.return %y : tensor<7xi8>
}

te.kernel @scaled_rows(%x: tensor<7x101xi64>, %v: tensor<101xi64>) -> tensor<7xi64> {
  %y = te.compute "y" [i: 7] reduce [k: 101] : tensor<7xi64> {
    %a = te.read %x[i, k] : tensor<7x101xi64>
    %b = te.read %v[k] : tensor<101xi64>
    %c = arith.muli %a, %b : i64
    te.reduce add %c : i64
  }
  %z = te.compute "scaled" [i: 7] : tensor<7xi64> {
    %a = te.read %y[i] : tensor<7xi64>
    %b = arith.muli %a, %a : i64
    te.yield %b : i64
  }
  te.return %z : tensor<7xi64>
}

// A reducer of the program's own that joins by one operation, and two sums at once.
// CHECK-LABEL: schedule.sequence @both
// CHECK-NOT:     {{split|vectorize|rfactor}}
te.kernel @both(%x: tensor<7x101xi32>) -> (tensor<7xi32>, tensor<7xi32>) {
  %y:2 = te.compute "y" [i: 7] reduce [k: 101] : tensor<7xi32>, tensor<7xi32> {
    %a = te.read %x[i, k] : tensor<7x101xi32>
    te.reduce %a, %a from [0 : i32, -2147483648 : i32] : i32, i32 {
    ^bb0(%s0: i32, %m0: i32, %s1: i32, %m1: i32):
      %s = arith.addi %s0, %s1 : i32
      %m = arith.maxsi %m0, %m1 : i32
      te.yield %s, %m : i32, i32
    }
  }
  te.return %y#0, %y#1 : tensor<7xi32>, tensor<7xi32>
}

// Lanes along the results where these lie side by side; where rows are short; and for a reducer that LLVM does not know.
// CHECK-LABEL: schedule.sequence @columns
// CHECK:         schedule.vectorize
// CHECK-LABEL: schedule.sequence @short_rows
// CHECK:         schedule.vectorize
// CHECK-LABEL: schedule.sequence @where_largest
// CHECK:         schedule.vectorize
te.kernel @columns(%x: tensor<101x64xi32>) -> tensor<64xi32> {
  %y = te.compute "y" [i: 64] reduce [k: 101] : tensor<64xi32> {
    %a = te.read %x[k, i] : tensor<101x64xi32>
    te.reduce add %a : i32
  }
  te.return %y : tensor<64xi32>
}

te.kernel @short_rows(%x: tensor<64x32xi32>) -> tensor<64xi32> {
  %y = te.compute "y" [i: 64] reduce [k: 32] : tensor<64xi32> {
    %a = te.read %x[i, k] : tensor<64x32xi32>
    te.reduce add %a : i32
  }
  te.return %y : tensor<64xi32>
}

te.kernel @where_largest(%x: tensor<64x101xi32>) -> (tensor<64xi32>, tensor<64xi32>) {
  %y:2 = te.compute "y" [i: 64] reduce [k: 101] : tensor<64xi32>, tensor<64xi32> {
    %a = te.read %x[i, k] : tensor<64x101xi32>
    %at = te.index k
    %n = arith.index_cast %at : index to i32
    te.reduce %n, %a from [-1 : i32, -2147483648 : i32] : i32, i32 {
    ^bb0(%n0: i32, %v0: i32, %n1: i32, %v1: i32):
      %c = arith.cmpi sge, %v0, %v1 : i32
      %m = arith.select %c, %n0, %n1 : i32
      %v = arith.maxsi %v0, %v1 : i32
      te.yield %m, %v : i32, i32
    }
  }
  te.return %y#0, %y#1 : tensor<64xi32>, tensor<64xi32>
}

// A matrix of floats and a vector: lanes along the rows of the matrix, of which several are summed side by side.
// CHECK-LABEL: schedule.sequence @matrix_and_vector
// CHECK:         schedule.rfactor
te.kernel @matrix_and_vector(%x: tensor<64x512xf32>, %v: tensor<512xf32>) -> tensor<64xf32> {
  %y = te.compute "y" [i: 64] reduce [k: 512] : tensor<64xf32> {
    %a = te.read %x[i, k] : tensor<64x512xf32>
    %b = te.read %v[k] : tensor<512xf32>
    %c = arith.mulf %a, %b : f32
    te.reduce add %c : f32
  }
  te.return %y : tensor<64xf32>
}

// Rows of two elements that come from far apart are no vectors.
// CHECK-LABEL: schedule.sequence @pairs
// CHECK-NOT:     schedule.vectorize
te.kernel @pairs(%x: tensor<2x1001xf32>) -> tensor<1001x2xf32> {
  %y = te.compute "y" [i: 1001, j: 2] : tensor<1001x2xf32> {
    %a = te.read %x[j, i] : tensor<2x1001xf32>
    te.yield %a : f32
  }
  te.return %y : tensor<1001x2xf32>
}

// Rows of three elements of any type are lanes of several rows.
// CHECK-LABEL: schedule.sequence @triples
// CHECK-NOT:     {{split|vectorize|rfactor}}
te.kernel @triples(%x: tensor<1009x3xf32>) -> tensor<1009xf32> {
  %y = te.compute "y" [i: 1009] reduce [k: 3] : tensor<1009xf32> {
    %a = te.read %x[i, k] : tensor<1009x3xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<1009xf32>
}
