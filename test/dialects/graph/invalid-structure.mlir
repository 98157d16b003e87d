// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What the operations that hold a graph together refuse.

func.func @f() {
  // expected-error@+1 {{graph.parameter}}
  %w = "graph.parameter"() <{sym_name = @w}> : () -> f32
  func.return
}

// -----

func.func @f(%x: f32) {
  // expected-error@+1 {{graph.define_parameter}}
  "graph.define_parameter"(%x) <{sym_name = "w"}> : (f32) -> ()
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{the region's arguments differ from the operands}}
  %y = graph.fused "g" (%x) : (tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<9xf32>):
    graph.yield %a : tensor<9xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{the region ends in graph.yield of the results}}
  %y = graph.fused "g" (%x) : (tensor<8xf32>) -> (tensor<9xf32>) {
  ^bb0(%a: tensor<8xf32>):
    graph.yield %a : tensor<8xf32>
  }
  func.return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{graph.yield}}
  graph.yield %x : tensor<8xf32>
}

// -----

// A fused group sees its operands only.
func.func @f(%x: tensor<8xf32>) {
  %y = graph.fused "g" () : () -> (tensor<8xf32>) {
    // expected-error@+1 {{'graph.relu' op operand #0 is defined outside 'graph.fused'}}
    %r = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
    graph.yield %r : tensor<8xf32>
  }
  func.return
}

// -----

func.func @copy(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error@+1 {{graph.copy}}
  %d = "graph.copy"(%x) <{device = "npu0"}> : (tensor<4xf32>) -> tensor<4xf64>
  func.return %d : tensor<4xf64>
}
