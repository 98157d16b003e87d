// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What element-wise operators refuse.

func.func @f(%x: tensor<8xi1>) {
  // expected-error@+1 {{graph.abs computes on numbers, not on truth values, i1}}
  %y = graph.abs %x : (tensor<8xi1>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.ceil computes on floating-point numbers, not on i32}}
  %y = graph.ceil %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.cos computes on floating-point numbers, not on i32}}
  %y = graph.cos %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.erf computes on floating-point numbers, not on i32}}
  %y = graph.erf %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.exp computes on floating-point numbers, not on i32}}
  %y = graph.exp %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.floor computes on floating-point numbers, not on i32}}
  %y = graph.floor %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.log computes on floating-point numbers, not on i32}}
  %y = graph.log %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi1>) {
  // expected-error@+1 {{graph.neg computes on numbers, not on truth values, i1}}
  %y = graph.neg %x : (tensor<8xi1>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%x: tensor<8xi1>) {
  // expected-error@+1 {{graph.relu computes on numbers, not on truth values, i1}}
  %y = graph.relu %x : (tensor<8xi1>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.sigmoid computes on floating-point numbers, not on i32}}
  %y = graph.sigmoid %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.sin computes on floating-point numbers, not on i32}}
  %y = graph.sin %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.sqrt computes on floating-point numbers, not on i32}}
  %y = graph.sqrt %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.tanh computes on floating-point numbers, not on i32}}
  %y = graph.tanh %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.acos computes on floating-point numbers, not on i32}}
  %y = graph.acos %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.acosh computes on floating-point numbers, not on i32}}
  %y = graph.acosh %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.asin computes on floating-point numbers, not on i32}}
  %y = graph.asin %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.asinh computes on floating-point numbers, not on i32}}
  %y = graph.asinh %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.atan computes on floating-point numbers, not on i32}}
  %y = graph.atan %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.atanh computes on floating-point numbers, not on i32}}
  %y = graph.atanh %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.cosh computes on floating-point numbers, not on i32}}
  %y = graph.cosh %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.round computes on floating-point numbers, not on i32}}
  %y = graph.round %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi1>) {
  // expected-error@+1 {{graph.sign computes on numbers, not on truth values, i1}}
  %y = graph.sign %x : (tensor<8xi1>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.sinh computes on floating-point numbers, not on i32}}
  %y = graph.sinh %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.tan computes on floating-point numbers, not on i32}}
  %y = graph.tan %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.leaky_relu computes on floating-point numbers, not on i32}}
  %y = graph.leaky_relu %x {alpha = 0.1 : f32} : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{alpha}}
  %y = graph.leaky_relu %x : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.elu computes on floating-point numbers, not on i32}}
  %y = graph.elu %x {alpha = 0.1 : f32} : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.clip computes on floating-point numbers, not on i32}}
  %y = graph.clip %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{the ratio lies between 0 and 1, it is not 1.5}}
  %y = graph.dropout %x {ratio = 1.5 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{graph.relu makes tensor<8xf32>, not tensor<9xf32>}}
  %y = graph.relu %x : (tensor<8xf32>) -> tensor<9xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{graph.relu makes tensor<8xf32>, not tensor<?xf32>}}
  %y = graph.relu %x : (tensor<8xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{has a dynamic dimension without a #graph.dims encoding}}
  %y = graph.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{graph.cast converts floating-point and integer types, not index}}
  %y = graph.cast %x {to = index} : (tensor<8xf32>) -> tensor<8xindex>
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{graph.cast makes tensor<8xf16>, not tensor<8xf64>}}
  %y = graph.cast %x {to = f16} : (tensor<8xf32>) -> tensor<8xf64>
  func.return
}

// -----

func.func @f(%x: tensor<8xf64>) {
  // expected-error@+1 {{bounds are of the elements' type, f64, not f32}}
  %y = graph.clip %x {low = 0.0 : f64, high = 1.0 : f32} : (tensor<8xf64>) -> tensor<8xf64>
  func.return
}
