// RUN: opt-tool %s -p te-halve-symmetric-products | filecheck %s

// Blocks on the diagonal and above it are computed; each element is read from there. The transposition is gone.
// CHECK-LABEL: te.kernel @whole
// CHECK-NEXT:    %[[HALF:.*]] = te.compute "y.half" [i: 100, j: 100] reduce [k: 2000]
// CHECK-NEXT:      %[[TERM:.*]] = te.if_then_else [j floordiv 32 - i floordiv 32 >= 0]
// CHECK-NEXT:        te.read %x[k, i]
// CHECK-NEXT:        te.read %x[k, j]
// CHECK:           te.reduce add %[[TERM]]
// CHECK:         %[[Y:.*]] = te.compute "y" [i: 100, j: 100] :
// CHECK-NEXT:      te.read %[[HALF]][min(i, j), max(i, j)]
// CHECK:         te.return %[[Y]]
te.kernel @whole(%x: tensor<2000x100xf32>) -> tensor<100x100xf32> {
  %t = te.compute "t" [i: 100, k: 2000] : tensor<100x2000xf32> {
    %a = te.read %x[k, i] : tensor<2000x100xf32>
    te.yield %a : f32
  }
  %y = te.compute "y" [i: 100, j: 100] reduce [k: 2000] : tensor<100x100xf32> {
    %a = te.read %t[i, k] : tensor<100x2000xf32>
    %b = te.read %x[k, j] : tensor<2000x100xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<100x100xf32>
}

// Not of two matrices.
// CHECK-LABEL: te.kernel @two
// CHECK-NOT:     te.if_then_else
te.kernel @two(%x: tensor<2000x100xf32>, %z: tensor<2000x100xf32>) -> tensor<100x100xf32> {
  %y = te.compute "y" [i: 100, j: 100] reduce [k: 2000] : tensor<100x100xf32> {
    %a = te.read %x[k, i] : tensor<2000x100xf32>
    %b = te.read %z[k, j] : tensor<2000x100xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<100x100xf32>
}

// Nor of a single block of results.
// CHECK-LABEL: te.kernel @narrow
// CHECK-NOT:     te.if_then_else
te.kernel @narrow(%x: tensor<2000x32xf32>) -> tensor<32x32xf32> {
  %y = te.compute "y" [i: 32, j: 32] reduce [k: 2000] : tensor<32x32xf32> {
    %a = te.read %x[k, i] : tensor<2000x32xf32>
    %b = te.read %x[k, j] : tensor<2000x32xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<32x32xf32>
}

// Nor of rows that lie in memory from end to end, which no vector of results reads.
// CHECK-LABEL: te.kernel @wide
// CHECK-NOT:     te.if_then_else
te.kernel @wide(%x: tensor<100x2000xf32>) -> tensor<100x100xf32> {
  %y = te.compute "y" [i: 100, j: 100] reduce [k: 2000] : tensor<100x100xf32> {
    %a = te.read %x[i, k] : tensor<100x2000xf32>
    %b = te.read %x[j, k] : tensor<100x2000xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<100x100xf32>
}

// A difference is no product.
// CHECK-LABEL: te.kernel @differences
// CHECK-NOT:     te.if_then_else
te.kernel @differences(%x: tensor<2000x100xf32>) -> tensor<100x100xf32> {
  %y = te.compute "y" [i: 100, j: 100] reduce [k: 2000] : tensor<100x100xf32> {
    %a = te.read %x[k, i] : tensor<2000x100xf32>
    %b = te.read %x[k, j] : tensor<2000x100xf32>
    %p = arith.subf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<100x100xf32>
}

// Nor in a kernel with two results, which the rule for tall products does not take.
// CHECK-LABEL: te.kernel @results
// CHECK-NOT:     te.if_then_else
te.kernel @results(%x: tensor<2000x100xf32>) -> (tensor<100x100xf32>, tensor<100x100xf32>) {
  %y = te.compute "y" [i: 100, j: 100] reduce [k: 2000] : tensor<100x100xf32> {
    %a = te.read %x[k, i] : tensor<2000x100xf32>
    %b = te.read %x[k, j] : tensor<2000x100xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  %z = te.compute "z" [i: 100, j: 100] : tensor<100x100xf32> {
    %a = te.read %y[i, j] : tensor<100x100xf32>
    %n = arith.negf %a : f32
    te.yield %n : f32
  }
  te.return %y, %z : tensor<100x100xf32>, tensor<100x100xf32>
}

// A kernel that brings a schedule is left as the schedule knows it.
// CHECK-LABEL: te.kernel @scheduled
// CHECK-NOT:     te.if_then_else
te.kernel @scheduled(%x: tensor<2000x100xf32>) -> tensor<100x100xf32> {
  %y = te.compute "y" [i: 100, j: 100] reduce [k: 2000] : tensor<100x100xf32> {
    %a = te.read %x[k, i] : tensor<2000x100xf32>
    %b = te.read %x[k, j] : tensor<2000x100xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<100x100xf32>
}
schedule.sequence @scheduled {
  %y, %i, %j, %k = schedule.stage "y" [i, j, k]
  schedule.reorder %k, %i
}

// What is moved twice is read where it comes from, too.
// CHECK-LABEL: te.kernel @moved_twice
// CHECK-NEXT:    te.compute "y.half"
// CHECK-NEXT:      te.if_then_else
// CHECK-NEXT:        te.read %x[k, i]
// CHECK-NEXT:        te.read %x[k, j]
te.kernel @moved_twice(%x: tensor<2000x100xf32>) -> tensor<100x100xf32> {
  %t = te.compute "t" [i: 100, k: 2000] : tensor<100x2000xf32> {
    %a = te.read %x[k, i] : tensor<2000x100xf32>
    te.yield %a : f32
  }
  %u = te.compute "u" [k: 2000, i: 100] : tensor<2000x100xf32> {
    %a = te.read %t[i, k] : tensor<100x2000xf32>
    te.yield %a : f32
  }
  %y = te.compute "y" [i: 100, j: 100] reduce [k: 2000] : tensor<100x100xf32> {
    %a = te.read %u[k, i] : tensor<2000x100xf32>
    %b = te.read %x[k, j] : tensor<2000x100xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<100x100xf32>
}

// Each pattern alone. The product has to read what it multiplies from one argument before it is halved.
// RUN: opt-tool %s --apply-pattern te-halve-symmetric-products.read-what-is-moved | filecheck %s --check-prefix=MOVED
// MOVED-LABEL: te.kernel @whole
// MOVED-NEXT:    te.compute "y"
// MOVED-NEXT:      te.read %x[k, i]
// MOVED-NEXT:      te.read %x[k, j]
// RUN: opt-tool %s --apply-pattern te-halve-symmetric-products.read-what-is-moved --apply-pattern te-halve-symmetric-products.compute-one-half | filecheck %s --check-prefix=BOTH
// BOTH-LABEL: te.kernel @whole
// BOTH-NEXT:    %{{.*}} = te.compute "y.half"
// RUN: not opt-tool %s --apply-pattern te-halve-symmetric-products.compute-one-half@18 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: te-halve-symmetric-products.compute-one-half does not match at line 18
// RUN: not opt-tool %s --apply-pattern te-halve-symmetric-products.read-what-is-moved@20 2>&1 | filecheck %s --check-prefix=ARGUMENT
// ARGUMENT: error: te-halve-symmetric-products.read-what-is-moved does not match at line 20
