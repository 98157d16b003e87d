// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What graph.if refuses.

func.func @f(%c: tensor<1xi1>) {
  // expected-error@+1 {{the condition is one truth value, a tensor<i1>, not tensor<1xi1>}}
  "graph.if"(%c) ({
    graph.yield
  }, {
    graph.yield
  }) : (tensor<1xi1>) -> ()
  func.return
}

// -----

func.func @f(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{both regions take what stands behind 'with'}}
  graph.if %c with (%x) : with (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    graph.yield
  } else {
    graph.yield
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{both regions yield the results}}
  %y = graph.if %c with (%x) : with (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    graph.yield
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  // expected-error@+1 {{the region ends in graph.yield}}
  graph.if %c : -> () {
    graph.yield
  } else {
  ^bb0:
    "cf.br"() [^bb0] : () -> ()
  }
  func.return
}

// -----

// What graph.while refuses.

func.func @f(%c: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error@+1 {{the condition is one truth value, a tensor<i1>, not tensor<i32>}}
  %y = "graph.while"(%c, %x) <{operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%s: tensor<4xf32>):
    graph.yield %s : tensor<4xf32>
  }) : (tensor<i32>, tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{the region takes the states, and what is constant}}
  %y = graph.while %c from (%x) with (%x) : from (tensor<4xf32>) with (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%s: tensor<4xf32>):
    graph.yield %s : tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  // expected-error@+1 {{the region yields first whether it is run again}}
  graph.while %c : -> () {
    graph.yield
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{what the region yields first is one truth value, a tensor<i1>, not tensor<4xf32>}}
  %y = graph.while %c from (%x) : from (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%s: tensor<4xf32>):
    graph.yield %s : tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{behind that the region yields the next states, of the same types}}
  %y = graph.while %c from (%c, %x) : from (tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%t: tensor<i1>, %s: tensor<4xf32>):
    graph.yield %t, %s : tensor<i1>, tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error@+1 {{the first results are the states}}
  %y = graph.while %c from (%x) with (%c) : from (tensor<4xf32>) with (tensor<i1>) -> (tensor<i1>) {
  ^bb0(%s: tensor<4xf32>, %t: tensor<i1>):
    graph.yield %t, %s : tensor<i1>, tensor<4xf32>
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  // expected-error@+1 {{a limit is one number}}
  graph.while %c at most [3, 4] : -> () {
    %no = arith.constant dense<false> : tensor<i1>
    graph.yield %no : tensor<i1>
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  // expected-error@+1 {{new sequences need 'at most', a limit, and 'counting', a symbol}}
  %y = graph.while %c counting "K" : -> (tensor<?xi1, #graph.dims<[K]>>) {
    %no = arith.constant dense<false> : tensor<i1>
    graph.yield %no, %no : tensor<i1>, tensor<i1>
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>) {
  // expected-error@+1 {{the results behind the states are sequences of K elements}}
  %y = graph.while %c at most [3] counting "K" : -> (tensor<3xi1>) {
    %no = arith.constant dense<false> : tensor<i1>
    graph.yield %no, %no : tensor<i1>, tensor<i1>
  }
  func.return
}

// -----

func.func @f(%c: tensor<i1>, %n: tensor<i64>) {
  // expected-error@+1 {{a result has the size K, which data tell inside of the region}}
  %m, %all = graph.while %c at most [9] counting "N" from (%n) : from (tensor<i64>) -> (tensor<i64>, tensor<?x?xi1, #graph.dims<[N, K]>>) {
  ^bb0(%s: tensor<i64>):
    %again = arith.constant dense<true> : tensor<i1>
    %k = graph.size "K" = %s : tensor<i64>
    graph.yield %again, %s, %k : tensor<i1>, tensor<i64>, tensor<?xi1, #graph.dims<[K]>>
  }
  func.return
}

// -----

func.func @f(%x: tensor<9xi64>) {
  // expected-error@+1 {{a result has the size K, which data tell inside of the region}}
  %all = graph.scan over (%x) : over (tensor<9xi64>) -> (tensor<9x?xi1, #graph.dims<[9, K]>>) {
  ^bb0(%s: tensor<i64>):
    %k = graph.size "K" = %s : tensor<i64>
    graph.yield %k : tensor<?xi1, #graph.dims<[K]>>
  }
  func.return
}
