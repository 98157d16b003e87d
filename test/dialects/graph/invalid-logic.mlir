// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What comparisons, logic and choices refuse.

func.func @f(%a: tensor<8xf32>, %b: tensor<8xi32>) {
  // expected-error@+1 {{graph.equal takes operands of one element type, not f32 and i32}}
  %y = graph.equal %a, %b : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>, %b: tensor<7xf32>) {
  // expected-error@+1 {{shapes [8] and [7] do not broadcast: 8 is not 7}}
  %y = graph.less %a, %b : (tensor<8xf32>, tensor<7xf32>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{graph.less_equal makes tensor<8xi1>, not tensor<8xf32>}}
  %y = graph.less_equal %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{graph.and computes on truth values and integers, not on f32}}
  %y = graph.and %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xi1>, %b: tensor<8xf32>) {
  // expected-error@+1 {{graph.or takes operands of one element type, not i1 and f32}}
  %y = graph.or %a, %b : (tensor<8xi1>, tensor<8xf32>) -> tensor<8xi1>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{graph.xor computes on truth values and integers, not on f32}}
  %y = graph.xor %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{graph.not computes on truth values and integers, not on f32}}
  %y = graph.not %a : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{operand 0 of graph.where is of truth values, i1, not of f32}}
  %y = graph.where %a, %a, %a : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%c: tensor<8xi1>, %a: tensor<8xf32>, %b: tensor<8xf64>) {
  // expected-error@+1 {{graph.where chooses between f32 and f64, two types}}
  %y = graph.where %c, %a, %b : (tensor<8xi1>, tensor<8xf32>, tensor<8xf64>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{graph.shift_left moves the bits of integers, not of f32}}
  %y = graph.shift_left %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xi1>) {
  // expected-error@+1 {{graph.shift_right moves the bits of integers, not of i1}}
  %y = graph.shift_right %a, %a : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  func.return
}
