// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What element-wise operators refuse.

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.abs computes on floating-point numbers, not on i32}}
  %y = graph.abs %x : (tensor<8xi32>) -> tensor<8xi32>
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

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.neg computes on floating-point numbers, not on i32}}
  %y = graph.neg %x : (tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%x: tensor<8xi32>) {
  // expected-error@+1 {{graph.relu computes on floating-point numbers, not on i32}}
  %y = graph.relu %x : (tensor<8xi32>) -> tensor<8xi32>
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
  // expected-error@+1 {{graph.cast converts floating-point and signless integer types, not ui8}}
  %y = graph.cast %x {to = ui8} : (tensor<8xf32>) -> tensor<8xui8>
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
