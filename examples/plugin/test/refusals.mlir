// RUN: opt-tool %s --load-plugin %S/../tilework_python --target=python -p compile-kernel -t python --split-input-file --verify-diagnostics

// expected-error @below {{kernels in Python are of f32 and of known sizes, not of memref<4xi32>}}
te.kernel @integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  %y = te.compute "y" [i: 4] : tensor<4xi32> {
    %0 = te.read %x[i] : tensor<4xi32>
    te.yield %0 : i32
  }
  te.return %y : tensor<4xi32>
}

// -----

te.kernel @error_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{there is no Python for 'math.erf'}}
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %0 = te.read %x[i] : tensor<4xf32>
    %1 = math.erf %0 : f32
    te.yield %1 : f32
  }
  te.return %y : tensor<4xf32>
}
