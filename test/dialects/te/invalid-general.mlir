// RUN: opt-tool %s --split-input-file --verify-diagnostics

// Several results

te.kernel @values(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{te.yield of f32 in a compute of tensor<8xf32>, tensor<8xi32>}}
  %a, %b = te.compute "a" [i: 8] : tensor<8xf32>, tensor<8xi32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %a : tensor<8xf32>
}

// -----

te.kernel @shapes(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{axes [8] differ from tensor<4xf32>}}
  %a, %b = te.compute "a" [i: 8] : tensor<8xf32>, tensor<4xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v, %v : f32, f32
  }
  te.return %a : tensor<8xf32>
}

// -----

// te.reduce

te.kernel @one_value(%x: tensor<8xf32>) -> tensor<f32> {
  %a, %b = te.compute "a" [] reduce [k: 8] : tensor<f32>, tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    // expected-error@+1 {{reducer 'add' joins one value, not 2}}
    te.reduce add %v, %v : f32, f32
  }
  te.return %a : tensor<f32>
}

// -----

te.kernel @logic_on_numbers(%x: tensor<8xf32>) -> tensor<f32> {
  %a = te.compute "a" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    // expected-error@+1 {{reducer 'or' joins values of i1, not of f32}}
    te.reduce or %v : f32
  }
  te.return %a : tensor<f32>
}

// -----

te.kernel @numbers_on_logic(%x: tensor<8xi1>) -> tensor<i1> {
  %a = te.compute "a" [] reduce [k: 8] : tensor<i1> {
    %v = te.read %x[k] : tensor<8xi1>
    // expected-error@+1 {{reducer 'add' joins numbers; values of i1 are joined by 'and' and 'or'}}
    te.reduce add %v : i1
  }
  te.return %a : tensor<i1>
}

// -----

te.kernel @unsigned_floats(%x: tensor<8xf32>) -> tensor<f32> {
  %a = te.compute "a" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    // expected-error@+1 {{reducer 'maxui' joins integers, not f32}}
    te.reduce maxui %v : f32
  }
  te.return %a : tensor<f32>
}

// -----

te.kernel @identity_type(%x: tensor<8xf32>) -> tensor<f32> {
  %a = te.compute "a" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    // expected-error@+1 {{identities [0 : i32] for values of f32}}
    te.reduce %v from [0 : i32] : f32 {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      te.yield %s : f32
    }
  }
  te.return %a : tensor<f32>
}

// -----

te.kernel @arguments(%x: tensor<8xf32>) -> tensor<f32> {
  %a = te.compute "a" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    // expected-error@+1 {{the reducer's arguments are twice f32}}
    te.reduce %v from [0.0 : f32] : f32 {
    ^bb0(%p: f32):
      te.yield %p : f32
    }
  }
  te.return %a : tensor<f32>
}

// -----

te.kernel @joined(%x: tensor<8xf32>) -> tensor<f32> {
  %a = te.compute "a" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    // expected-error@+1 {{the reducer ends in te.yield of f32}}
    te.reduce %v from [0.0 : f32] : f32 {
    ^bb0(%p: f32, %q: f32):
      te.yield %p, %q : f32, f32
    }
  }
  te.return %a : tensor<f32>
}

// -----

te.kernel @reads(%x: tensor<8xf32>) -> tensor<f32> {
  %a = te.compute "a" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    // expected-error@+1 {{a reducer is made of arith and math operations, not of te.read}}
    te.reduce %v from [0.0 : f32] : f32 {
    ^bb0(%p: f32, %q: f32):
      %r = te.read %x[k] : tensor<8xf32>
      te.yield %r : f32
    }
  }
  te.return %a : tensor<f32>
}

// -----

te.kernel @captures(%x: tensor<8xf32>) -> tensor<f32> {
  %a = te.compute "a" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    // expected-error@+1 {{arith.addf in a reducer uses a value from outside}}
    te.reduce %v from [0.0 : f32] : f32 {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %v : f32
      te.yield %s : f32
    }
  }
  te.return %a : tensor<f32>
}

// -----

// Extents of reduce axes

te.kernel @extent(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{the extent j of reduce axis 'k' uses 'j', which is neither a spatial axis nor a symbol}}
  %a = te.compute "a" [i: 8] reduce [k: j] : tensor<8xf32> {
    %v = te.read %x[k] : tensor<8xf32>
    te.reduce add %v : f32
  }
  te.return %a : tensor<8xf32>
}

// -----

// te.index

te.kernel @unknown(%x: tensor<8xf32>) -> tensor<8xi64> {
  %a = te.compute "a" [i: 8] : tensor<8xi64> {
    // expected-error@+1 {{'j' is neither an axis of compute 'a' nor a symbol; known: i}}
    %j = te.index j
    %v = arith.index_cast %j : index to i64
    te.yield %v : i64
  }
  te.return %a : tensor<8xi64>
}

// -----

te.kernel @dollar(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{the name of axis 'op$0' has a '$', which stands for operands}}
  %a = te.compute "a" [op$0: 8] : tensor<8xf32> {
    %v = te.read %x[op$0] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %a : tensor<8xf32>
}
