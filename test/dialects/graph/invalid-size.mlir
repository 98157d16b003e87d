// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%n: tensor<1xi64>) {
  // expected-error@+1 {{a size is one number, a tensor<i64>, not tensor<1xi64>}}
  %k = graph.size "K" = %n : tensor<1xi64>
  func.return
}

// -----

func.func @f(%n: tensor<i64>) {
  // expected-error@+1 {{a limit is one number}}
  %k = graph.size "K" = %n at most [3, 4] : tensor<i64>
  func.return
}

// -----

func.func @f(%n: tensor<i64>) {
  // expected-error@+1 {{the result has K elements of type i1}}
  %k = "graph.size"(%n) <{symbol = "K"}> : (tensor<i64>) -> tensor<4xi1>
  func.return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{it takes a vector of truth values, not tensor<4xf32>}}
  %p, %n = graph.positions %x : (tensor<4xf32>) -> (tensor<4xi64>, tensor<i64>)
  func.return
}

// -----

func.func @f(%x: tensor<2x2xi1>) {
  // expected-error@+1 {{it takes a vector of truth values, not tensor<2x2xi1>}}
  %p, %n = graph.positions %x : (tensor<2x2xi1>) -> (tensor<4xi64>, tensor<i64>)
  func.return
}

// -----

func.func @f(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x3x5xf32>, %t: tensor<f32>, %m: tensor<i64>) {
  // expected-error@+1 {{it takes boxes [images, boxes, 4] and scores [images, classes, boxes]}}
  %k, %n = graph.suppress %boxes, %scores, %t, %t, %m {centers = false, room = #graph.dims<[6]>} : (tensor<1x6x4xf32>, tensor<1x3x5xf32>, tensor<f32>, tensor<f32>, tensor<i64>) -> (tensor<1x3x6xi64>, tensor<1x3xi64>)
  func.return
}

// -----

func.func @f(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x3x6xf32>, %t: tensor<f64>, %m: tensor<i64>) {
  // expected-error@+1 {{boxes, scores and two limits are of type f32, and the number of boxes is an i64}}
  %k, %n = graph.suppress %boxes, %scores, %t, %t, %m {centers = false, room = #graph.dims<[6]>} : (tensor<1x6x4xf32>, tensor<1x3x6xf32>, tensor<f64>, tensor<f64>, tensor<i64>) -> (tensor<1x3x6xi64>, tensor<1x3xi64>)
  func.return
}

// -----

func.func @f(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x3x6xf32>, %t: tensor<f32>, %m: tensor<i64>) {
  // expected-error@+1 {{there is one room, not 2}}
  %k, %n = graph.suppress %boxes, %scores, %t, %t, %m {centers = false, room = #graph.dims<[6, 6]>} : (tensor<1x6x4xf32>, tensor<1x3x6xf32>, tensor<f32>, tensor<f32>, tensor<i64>) -> (tensor<1x3x6xi64>, tensor<1x3xi64>)
  func.return
}
