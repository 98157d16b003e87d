// RUN: opt-tool %s --split-input-file --verify-diagnostics

// te.kernel and te.return

// expected-error@+1 {{te.return's types differ from the kernel's results}}
te.kernel @results(%x: tensor<8xf32>) -> tensor<4xf32> {
  te.return %x : tensor<8xf32>
}

// -----

// expected-error@+1 {{two stages are named 'a'; names are unique in a kernel}}
te.kernel @names(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = te.compute "a" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  %b = te.compute "a" [i: 8] : tensor<8xf32> {
    %v = te.read %a[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %b : tensor<8xf32>
}

// -----

// expected-error@+1 {{the body's arguments differ from the kernel's inputs}}
"te.kernel"() <{sym_name = "arguments", function_type = (tensor<4xf32>) -> ()}> ({
^bb0(%x: tensor<8xf32>):
  "te.return"() : () -> ()
}) : () -> ()

// -----

func.func @outside(%x: tensor<8xf32>) {
  // expected-error@+1 {{'te.return' expects parent op to be one of 'te.kernel', 'te.intrinsic'}}
  te.return %x : tensor<8xf32>
}

// -----

// te.compute

te.kernel @twice(%x: tensor<8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{compute 'a' names an axis twice: i, i}}
  %a = te.compute "a" [i: 8, i: 8] : tensor<8x8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %a : tensor<8x8xf32>
}

// -----

te.kernel @clash(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<4xf32> {
  // expected-error@+1 {{axis 'N' has the name of a symbolic dimension}}
  %a = te.compute "a" [N: 4] : tensor<4xf32> {
    %v = te.read %x[N] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %a : tensor<4xf32>
}

// -----

te.kernel @extents(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{axes [4] differ from tensor<8xf32>}}
  %a = te.compute "a" [i: 4] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %a : tensor<8xf32>
}

// -----

te.kernel @no_symbol(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{tensor<?xf32> has a dynamic dimension without a #graph.dims encoding}}
  %a = te.compute "a" [i: 8] : tensor<?xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %x : tensor<8xf32>
}

// -----

// te.yield and te.reduce

te.kernel @reduction_yields(%x: tensor<8xf32>) -> tensor<f32> {
  // expected-error@+1 {{compute 'a' ends in te.reduce}}
  %a = te.compute "a" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %a : tensor<f32>
}

// -----

te.kernel @elementwise_reduces(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{compute 'a' ends in te.yield}}
  %a = te.compute "a" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<8xf32>
    te.reduce add %v : f32
  }
  te.return %a : tensor<8xf32>
}

// -----

te.kernel @yield_type(%x: tensor<8xf32>) -> tensor<8xf64> {
  // expected-error@+1 {{te.yield of f32 in a compute of tensor<8xf64>}}
  %a = te.compute "a" [i: 8] : tensor<8xf64> {
    %v = te.read %x[i] : tensor<8xf32>
    te.yield %v : f32
  }
  te.return %a : tensor<8xf64>
}

// -----

te.kernel @reducer(%x: tensor<8xf32>) -> tensor<f32> {
  %a = te.compute "a" [] reduce [k: 8] : tensor<f32> {
    %v = te.read %x[k] : tensor<8xf32>
    // expected-error@+1 {{unknown reducer 'argmax'; known: add, mul, max, min, maxui, minui, and, or}}
    te.reduce argmax %v : f32
  }
  te.return %a : tensor<f32>
}

// -----

// te.read

te.kernel @rank(%x: tensor<8x8xf32>) -> tensor<8xf32> {
  %a = te.compute "a" [i: 8] : tensor<8xf32> {
    // expected-error@+1 {{1 indices into a tensor of rank 2}}
    %v = te.read %x[i] : tensor<8x8xf32>
    te.yield %v : f32
  }
  te.return %a : tensor<8xf32>
}

// -----

te.kernel @unknown_axis(%x: tensor<?xf32, #graph.dims<[N]>>) -> tensor<8xf32> {
  %a = te.compute "a" [i: 8] : tensor<8xf32> {
    // expected-error@+1 {{'j' is neither an axis of compute 'a' nor a symbol; known: N, i}}
    %v = te.read %x[j] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %a : tensor<8xf32>
}

// -----

te.kernel @read_outside(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{te.read stands outside a te.compute}}
  %v = te.read %x[0] : tensor<8xf32>
  te.return %x : tensor<8xf32>
}

// -----

// te.if_then_else

te.kernel @choice(%x: tensor<8xf32>, %y: tensor<8xf64>) -> tensor<8xf32> {
  %a = te.compute "a" [i: 8] : tensor<8xf32> {
    // expected-error@+1 {{both regions end in te.yield of f32}}
    %v = te.if_then_else [i - 4 >= 0] : f32 {
      %e = te.read %x[i] : tensor<8xf32>
      te.yield %e : f32
    } else {
      %e = te.read %y[i] : tensor<8xf64>
      te.yield %e : f64
    }
    te.yield %v : f32
  }
  te.return %a : tensor<8xf32>
}
