// RUN: opt-tool %s --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{a state belongs to one scan, not to 0}}
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  te.return %x : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{scan 'sums' has 2 inits, 1 updates and 1 states: as many of each, and at least one}}
  %y = te.scan "sums" [t: 1 to 9] init(%first, %first) update(%next) state(%s) : tensor<1x4xf32>, tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 2, i: 4] : tensor<2x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{an init of scan 'sums' has 2 elements along time, which starts at 1}}
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<2x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1] : tensor<1xf32> {
    %v = te.read %x[0, 0] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{a state of scan 'sums' is tensor<9x4xf32>, expected tensor<9xf32> by its init and times}}
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %x[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{a state of scan 'sums' is made by te.state}}
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%x) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{updates and outputs of scan 'sums' are results of computes, each once}}
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%x) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{compute 'next' reads a state of scan 'sums' at t: only times from t - 1 to t - 1 are known}}
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 2, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{compute 'next' reads a state of scan 'sums' at t - 2: only times from t - 1 to t - 1 are known}}
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %part = te.compute "part" [i: 4] : tensor<4xf32> {
    %v = te.read %s[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{compute 'part' is part of the steps of scan 'sums': its first axis is time, of extent 9}}
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %last = te.compute "last" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{compute 'last' reads 'next' at t - 1: in a step of scan 'sums' at t}}
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{compute 'next' is known step by step only: outside of scan 'sums' read its results}}
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %next : tensor<9x4xf32>
}

// -----

"te.kernel"() <{sym_name = "put_out", function_type = (tensor<1x4xf32>) -> tensor<9x4xf32>}> ({
^bb0(%h: tensor<1x4xf32>):
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %out = te.compute "out" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %next[t, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{what the steps of scan 'scan' put out is tensor<8x4xf32>, not tensor<9x4xf32>}}
  %y, %z = "te.scan"(%h, %next, %s, %out) <{stage = "scan", axis = "t", bounds = #te.index<[1, 9]>, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (tensor<1x4xf32>, tensor<9x4xf32>, tensor<9x4xf32>, tensor<9x4xf32>) -> (tensor<9x4xf32>, tensor<9x4xf32>)
  te.return %y : tensor<9x4xf32>
}) : () -> ()

// -----

te.kernel @k(%h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, 3 - i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{compute 'next' reads at -i + 3 along axis 'b', of which scan 'scan' says that it is independent of time: it must be i}}
  %y = te.scan "scan" [t: 1 to 9, b: 4] init(%h) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{the extents of axes that are independent of time are not those of the states}}
  %y = te.scan "scan" [t: 1 to 9, b: 4, c: 4] init(%h) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{scan 'scan' names more axes than its states have, or one twice}}
  %y = te.scan "scan" [t: 1 to 9, t: 4] init(%h) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}
