// RUN: opt-tool %s --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{extern 'e' has no result}}
  te.extern "e" ins(%a = %x : tensor<4xf32>) {
    %v = loop.load %a[0] : memref<4xf32>
  }
  te.return %x : tensor<4xf32>
}

// -----

te.kernel @k(%x: tensor<?x?xf32, #graph.dims<[M, N]>>) -> tensor<4xf32> {
  // expected-error@+1 {{extern 'e' names the symbols [N, M]; name those of the kernel, [M, N]}}
  %y = te.extern "e" ins(%a = %x : tensor<?x?xf32, #graph.dims<[M, N]>>) outs(%b : tensor<4xf32>) symbols(%n = N, %m = M) {
    %v = loop.load %a[0, 0] : memref<?x?xf32>
    loop.store %v, %b[0] : memref<4xf32>
  }
  te.return %y : tensor<4xf32>
}

// -----

"te.kernel"() <{sym_name = "k", function_type = (tensor<4xf32>) -> tensor<4xf32>}> ({
^bb0(%x: tensor<4xf32>):
  // expected-error@+1 {{the body of extern 'e' takes the buffers of its tensors and the symbols: memref<4xf32>, memref<4xf32>}}
  %y = "te.extern"(%x) <{stage = "e", symbols = []}> ({
  ^bb1(%b: memref<4xf32>):
    %v = loop.load %b[0] : memref<4xf32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  te.return %y : tensor<4xf32>
}) : () -> ()

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{extern 'e' stores into its input 0: store into outputs and memref.alloca only}}
  %y = te.extern "e" ins(%a = %x : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    %v = loop.load %b[0] : memref<4xf32>
    loop.store %v, %a[0] : memref<4xf32>
  }
  te.return %y : tensor<4xf32>
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{memref.dealloc in extern 'e': the body is made of loops, loads, stores, calls of intrinsics, memref.alloca, arith and math}}
  %y = te.extern "e" ins(%a = %x : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    memref.dealloc %b : memref<4xf32>
  }
  te.return %y : tensor<4xf32>
}

// -----

te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = te.extern "f" ins(%a = %x : tensor<4xf32>) outs(%b : tensor<4xf32>) {
    %v = loop.load %a[0] : memref<4xf32>
    loop.store %v, %b[0] : memref<4xf32>
  }
  // expected-error@+1 {{arith.addf in extern 'e' uses a value from outside: use the body's arguments}}
  %y = te.extern "e" ins(%c = %z : tensor<4xf32>) outs(%d : tensor<4xf32>) {
    %w = arith.addf %z, %z : tensor<4xf32>
  }
  te.return %y : tensor<4xf32>
}

// -----

te.kernel @k(%h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+1 {{extern 'e' takes the state of a scan, known step by step only: take the scan's result}}
  %z = te.extern "e" ins(%a = %s : tensor<9x4xf32>) outs(%b : tensor<9x4xf32>) {
  }
  %y = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

te.kernel @k(%h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  // expected-error@+3 {{compute 'next' is known step by step only: outside of scan 'scan' read its results}}
  %z = te.extern "e" ins(%a = %next : tensor<9x4xf32>) outs(%b : tensor<9x4xf32>) {
  }
  %y = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}

// -----

// expected-error@+1 {{two stages are named 'e'; names are unique in a kernel}}
te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.extern "e" ins(%a = %x : tensor<4xf32>) outs(%b : tensor<4xf32>) {
  }
  %z = te.extern "e" ins(%c = %x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
  }
  te.return %y : tensor<4xf32>
}
