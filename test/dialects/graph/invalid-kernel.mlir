// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{the module has no te.kernel @swish (its te kernels: none): write it, or give tilework.compile kernels={"swish": ...}}}
  %y = graph.kernel @swish (%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

te.kernel @k(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %z: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "y" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %0 = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %1 = te.read %z[i] : tensor<?xf32, #graph.dims<[N]>>
    %2 = arith.addf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{the module has no te.kernel @swish (its te kernels: @k): write it, or give tilework.compile kernels={"swish": ...}}}
  %y = graph.kernel @swish (%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

te.kernel @k(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %z: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "y" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %0 = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %1 = te.read %z[i] : tensor<?xf32, #graph.dims<[N]>>
    %2 = arith.addf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{te.kernel @k takes 2 tensors, but the number of operands is 1}}
  %y = graph.kernel @k (%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

te.kernel @k(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %z: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "y" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %0 = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %1 = te.read %z[i] : tensor<?xf32, #graph.dims<[N]>>
    %2 = arith.addf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}

func.func @f(%x: tensor<8x4xf32>, %z: tensor<8xf16>) {
  // expected-error@+1 {{operand 1 is tensor<8xf16>, where te.kernel @k takes tensor<?xf32, #graph.dims<[N]>>}}
  %y = graph.kernel @k (%x, %z) : (tensor<8x4xf32>, tensor<8xf16>) -> tensor<8x4xf32>
  func.return
}

// -----

te.kernel @k(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %z: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "y" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %0 = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %1 = te.read %z[i] : tensor<?xf32, #graph.dims<[N]>>
    %2 = arith.addf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}

func.func @f(%x: tensor<8x4xf32>, %z: tensor<8x1xf32>) {
  // expected-error@+1 {{operand 1 is tensor<8x1xf32>, where te.kernel @k takes tensor<?xf32, #graph.dims<[N]>>}}
  %y = graph.kernel @k (%x, %z) : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

te.kernel @k(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %z: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "y" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %0 = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %1 = te.read %z[i] : tensor<?xf32, #graph.dims<[N]>>
    %2 = arith.addf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}

func.func @f(%x: tensor<8x5xf32>, %z: tensor<8xf32>) {
  // expected-error@+1 {{operand 0 is tensor<8x5xf32>, where te.kernel @k takes tensor<?x4xf32, #graph.dims<[N, 4]>>}}
  %y = graph.kernel @k (%x, %z) : (tensor<8x5xf32>, tensor<8xf32>) -> tensor<8x5xf32>
  func.return
}

// -----

te.kernel @k(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %z: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "y" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %0 = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %1 = te.read %z[i] : tensor<?xf32, #graph.dims<[N]>>
    %2 = arith.addf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}

func.func @f(%x: tensor<8x4xf32>, %z: tensor<7xf32>) {
  // expected-error@+1 {{operand 1 is tensor<7xf32>, where te.kernel @k takes tensor<?xf32, #graph.dims<[N]>> with N = 8}}
  %y = graph.kernel @k (%x, %z) : (tensor<8x4xf32>, tensor<7xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

te.kernel @k(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %z: tensor<?xf32, #graph.dims<[N]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>> {
  %y = te.compute "y" [i: N, j: 4] : tensor<?x4xf32, #graph.dims<[N, 4]>> {
    %0 = te.read %x[i, j] : tensor<?x4xf32, #graph.dims<[N, 4]>>
    %1 = te.read %z[i] : tensor<?xf32, #graph.dims<[N]>>
    %2 = arith.addf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : tensor<?x4xf32, #graph.dims<[N, 4]>>
}

func.func @f(%x: tensor<8x4xf32>, %z: tensor<8xf32>) {
  // expected-error@+1 {{graph.kernel makes tensor<8x4xf32>, not tensor<8xf32>}}
  %y = graph.kernel @k (%x, %z) : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{it names no te.kernel, so that it has to hold one, behind intrinsics alone}}
  %y = graph.kernel (%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return
}

// -----

te.kernel @no() -> tensor<2xf32> {
  %y = te.compute "one" [i: 2] : tensor<2xf32> {
    %0 = arith.constant 1.0 : f32
    te.yield %0 : f32
  }
  te.return %y : tensor<2xf32>
}

func.func @f() {
  // expected-error@+1 {{it names a te.kernel, or holds one, not both}}
  %y = graph.kernel @no () : () -> tensor<2xf32> {
    te.kernel @one() -> tensor<2xf32> {
      %n = te.compute "one" [i: 2] : tensor<2xf32> {
        %0 = arith.constant 1.0 : f32
        te.yield %0 : f32
      }
      te.return %n : tensor<2xf32>
    }
  }
  func.return
}

// -----

te.kernel @k(%x: tensor<?xf32, #graph.dims<[N + 2]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %y = te.compute "y" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %0 = te.read %x[i + 2] : tensor<?xf32, #graph.dims<[N + 2]>>
    te.yield %0 : f32
  }
  te.return %y : tensor<?xf32, #graph.dims<[N]>>
}

func.func @f(%x: tensor<1xf32>) {
  // expected-error@+1 {{operand 0 is tensor<1xf32>, where te.kernel @k takes tensor<?xf32, #graph.dims<[N + 2]>>}}
  %y = graph.kernel @k (%x) : (tensor<1xf32>) -> tensor<0xf32>
  func.return
}
