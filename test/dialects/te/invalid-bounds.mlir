// RUN: opt-tool %s --split-input-file --verify-diagnostics

// A read that is certainly out of bounds, at whichever end.

te.kernel @behind(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    // expected-error@+1 {{compute 'y' reads argument 0 (%x) out of bounds: axis 0 has 4 elements, index i + 1 runs from 1 to 4, and is 4 at i = 3}}
    %v = te.read %x[i + 1] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

te.kernel @before(%x: tensor<4x6xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] reduce [k: 6] : tensor<4xf32> {
    // expected-error@+1 {{axis 1 has 6 elements, index i - k + 1 runs from -4 to 4, and is -1 at i = 0, k = 2}}
    %v = te.read %x[i, i - k + 1] : tensor<4x6xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// For every size.

te.kernel @symbolic(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %y = te.compute "y" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    // expected-error@+1 {{axis 0 has N elements, index i + 1 is N at i = N - 1}}
    %v = te.read %x[i + 1] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %y : tensor<?xf32, #graph.dims<[N]>>
}

// -----

// Where a condition holds, and where it does not.

te.kernel @then(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.if_then_else [i - 2 >= 0] : f32 {
      // expected-error@+1 {{index i - 3 runs from -1 to 4, and is -1 at i = 2}}
      %a = te.read %x[i - 3] : tensor<8xf32>
      te.yield %a : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  te.return %y : tensor<8xf32>
}

// -----

te.kernel @else(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.if_then_else [i - 2 >= 0, 6 - i >= 0] : f32 {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    } else {
      // expected-error@+1 {{index i + 1 runs from 1 to 8, and is 8 at i = 7}}
      %a = te.read %x[i + 1] : tensor<8xf32>
      te.yield %a : f32
    }
    te.yield %v : f32
  }
  te.return %y : tensor<8xf32>
}

// -----

// Whatever the data are.

te.kernel @data(%x: tensor<4xf32>, %n: tensor<4xi64>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %d = te.read %n[i] : tensor<4xi64>
    %j = arith.index_cast %d : i64 to index
    // expected-error@+1 {{reads argument 0 (%x) out of bounds: axis 0 has 4 elements, index max(%j, 0) + 4}}
    %v = te.read %x[max(%j, 0) + 4] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// In the steps of a scan, of what was computed before.

te.kernel @scan(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %a = te.read %x[t, i] : tensor<9x4xf32>
    te.yield %a : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %b = te.read %s[t - 1, i] : tensor<9x4xf32>
    // expected-error@+1 {{compute 'next' reads argument 0 (%x) out of bounds: axis 0 has 9 elements, index t + 1 runs from 2 to 9}}
    %c = te.read %x[t + 1, i] : tensor<9x4xf32>
    %d = arith.addf %b, %c : f32
    te.yield %d : f32
  }
  %all = te.scan "all" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %all : tensor<9x4xf32>
}

// -----

// An index divided by 0.

te.kernel @divided(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [r: 3] : tensor<8xf32> {
    // expected-error@+1 {{compute 'y' divides an index by 0 at r = 0: r in (i + 2) mod r}}
    %v = te.read %x[(i + 2) mod r] : tensor<8xf32>
    te.reduce max %v : f32
  }
  te.return %y : tensor<8xf32>
}

// -----

te.kernel @number() -> tensor<8xi64> {
  %y = te.compute "y" [i: 8] : tensor<8xi64> {
    // expected-error@+1 {{compute 'y' divides an index by 0 at i = 3: i - 3 in 7 floordiv (i - 3)}}
    %n = te.index 7 floordiv (i - 3)
    %v = arith.index_cast %n : index to i64
    te.yield %v : i64
  }
  te.return %y : tensor<8xi64>
}
