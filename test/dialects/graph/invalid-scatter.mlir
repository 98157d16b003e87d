// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<9x4xf32>, %i: tensor<5x1xi64>, %u: tensor<5x4xf32>) {
  // expected-error@+1 {{the axis is counted from the front, it is not -2}}
  %y = graph.scatter %x, %i, %u {axis = -2 : i64, combine = "add"} : (tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<9x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>, %i: tensor<5x1xf32>, %u: tensor<5x4xf32>) {
  // expected-error@+1 {{indices are of type i32 or i64, not f32}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combine = "add"} : (tensor<9x4xf32>, tensor<5x1xf32>, tensor<5x4xf32>) -> tensor<9x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>, %i: tensor<5x1xi64>, %u: tensor<5x4xf16>) {
  // expected-error@+1 {{updates are of the input's type, f32, not f16}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combine = "add"} : (tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf16>) -> tensor<9x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>, %i: tensor<5x1xi64>, %u: tensor<5x4xf32>) {
  // expected-error@+1 {{updates are combined by one of replace, add, mul, max, min, not 'sub'}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combine = "sub"} : (tensor<9x4xf32>, tensor<5x1xi64>, tensor<5x4xf32>) -> tensor<9x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xi1>, %i: tensor<5x1xi64>, %u: tensor<5x4xi1>) {
  // expected-error@+1 {{truth values are replaced, not combined by 'add'}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combine = "add"} : (tensor<9x4xi1>, tensor<5x1xi64>, tensor<5x4xi1>) -> tensor<9x4xi1>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>, %i: tensor<5xi64>, %u: tensor<5x4xf32>) {
  // expected-error@+1 {{1 axes of indices and 2 of updates for 2}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combine = "add"} : (tensor<9x4xf32>, tensor<5xi64>, tensor<5x4xf32>) -> tensor<9x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<9x4xf32>, %i: tensor<3x1xi64>, %u: tensor<5x4xf32>) {
  // expected-error@+1 {{3 indices for 5 updates along axis 0}}
  %y = graph.scatter %x, %i, %u {axis = 0 : i64, combine = "add"} : (tensor<9x4xf32>, tensor<3x1xi64>, tensor<5x4xf32>) -> tensor<9x4xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?x4xf32, #graph.dims<[N, 4]>>, %i: tensor<?x4xi64, #graph.dims<[N + 1, 4]>>, %u: tensor<?x4xf32, #graph.dims<[N + 1, 4]>>) {
  // expected-error@+1 {{N + 1 updates do not fit N along axis 0}}
  %y = graph.scatter %x, %i, %u {axis = 1 : i64, combine = "add"} : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?x4xi64, #graph.dims<[N + 1, 4]>>, tensor<?x4xf32, #graph.dims<[N + 1, 4]>>) -> tensor<?x4xf32, #graph.dims<[N, 4]>>
  func.return
}
