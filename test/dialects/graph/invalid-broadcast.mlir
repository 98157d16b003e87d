// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What operators of two operands refuse.

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x7x4xf32>) {
  // expected-error@+1 {{shapes [2, 8, 4] and [2, 7, 4] do not broadcast: 8 is not 7}}
  %y = graph.add %a, %b : (tensor<2x8x4xf32>, tensor<2x7x4xf32>) -> tensor<2x8x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x7x4xf32>) {
  // expected-error@+1 {{shapes [2, 8, 4] and [2, 7, 4] do not broadcast: 8 is not 7}}
  %y = graph.div %a, %b : (tensor<2x8x4xf32>, tensor<2x7x4xf32>) -> tensor<2x8x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x7x4xf32>) {
  // expected-error@+1 {{shapes [2, 8, 4] and [2, 7, 4] do not broadcast: 8 is not 7}}
  %y = graph.max %a, %b : (tensor<2x8x4xf32>, tensor<2x7x4xf32>) -> tensor<2x8x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x7x4xf32>) {
  // expected-error@+1 {{shapes [2, 8, 4] and [2, 7, 4] do not broadcast: 8 is not 7}}
  %y = graph.min %a, %b : (tensor<2x8x4xf32>, tensor<2x7x4xf32>) -> tensor<2x8x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x7x4xf32>) {
  // expected-error@+1 {{shapes [2, 8, 4] and [2, 7, 4] do not broadcast: 8 is not 7}}
  %y = graph.mul %a, %b : (tensor<2x8x4xf32>, tensor<2x7x4xf32>) -> tensor<2x8x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x7x4xf32>) {
  // expected-error@+1 {{shapes [2, 8, 4] and [2, 7, 4] do not broadcast: 8 is not 7}}
  %y = graph.pow %a, %b : (tensor<2x8x4xf32>, tensor<2x7x4xf32>) -> tensor<2x8x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x7x4xf32>) {
  // expected-error@+1 {{shapes [2, 8, 4] and [2, 7, 4] do not broadcast: 8 is not 7}}
  %y = graph.sub %a, %b : (tensor<2x8x4xf32>, tensor<2x7x4xf32>) -> tensor<2x8x4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>, %b: tensor<8xi32>) {
  // expected-error@+1 {{graph.add takes operands of one element type, not f32 and i32}}
  %y = graph.add %a, %b : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xi1>) {
  // expected-error@+1 {{graph.div computes on numbers, not on truth values, i1}}
  %y = graph.div %a, %a : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<8xi1>) {
  // expected-error@+1 {{graph.fmod computes on numbers, not on truth values, i1}}
  %y = graph.fmod %a, %a : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<8xi1>) {
  // expected-error@+1 {{graph.mod computes on numbers, not on truth values, i1}}
  %y = graph.mod %a, %a : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<8xi32>) {
  // expected-error@+1 {{graph.pow computes on floating-point numbers, not on i32}}
  %y = graph.pow %a, %a : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%a: tensor<8xi32>, %b: tensor<8xf32>) {
  // expected-error@+1 {{graph.integer_pow computes on integers, not on f32}}
  %y = graph.integer_pow %a, %b : (tensor<8xi32>, tensor<8xf32>) -> tensor<8xi32>
  func.return
}

// -----

func.func @f(%a: tensor<8xi32>, %b: tensor<8xi64>) {
  // expected-error@+1 {{graph.integer_pow makes tensor<8xi32>, not tensor<8xi64>}}
  %y = graph.integer_pow %a, %b : (tensor<8xi32>, tensor<8xi64>) -> tensor<8xi64>
  func.return
}

// -----

func.func @f(%a: tensor<?xf32, #graph.dims<[N]>>, %b: tensor<?xf32, #graph.dims<[M]>>) {
  // expected-error@+1 {{graph.add makes tensor<?xf32, #graph.dims<[broadcast(M, N)]>>, not tensor<?xf32, #graph.dims<[N]>>}}
  %y = graph.add %a, %b : (tensor<?xf32, #graph.dims<[N]>>, tensor<?xf32, #graph.dims<[M]>>) -> tensor<?xf32, #graph.dims<[N]>>
  func.return
}

// -----

// Sizes of which neither is ever 1, and which are never equal.

func.func @f(%a: tensor<?xf32, #graph.dims<[N + 2]>>, %b: tensor<?xf32, #graph.dims<[N + 3]>>) {
  // expected-error@+1 {{shapes [N + 2] and [N + 3] do not broadcast: N + 2 is not N + 3}}
  %y = graph.add %a, %b : (tensor<?xf32, #graph.dims<[N + 2]>>, tensor<?xf32, #graph.dims<[N + 3]>>) -> tensor<?xf32, #graph.dims<[N + 2]>>
  func.return
}

// -----

func.func @f(%a: tensor<2x8x4xf32>, %b: tensor<2x7x4xf32>) {
  // expected-error@+1 {{shapes [2, 8, 4] and [2, 7, 4] do not broadcast: 8 is not 7}}
  %y = graph.prelu %a, %b : (tensor<2x8x4xf32>, tensor<2x7x4xf32>) -> tensor<2x8x4xf32>
  func.return
}
