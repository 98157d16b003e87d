// RUN: opt-tool %s --split-input-file --verify-diagnostics

// What reading, encoding and decoding bits refuse.

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{graph.bitcast takes and makes elements of as many bytes, but f32 is 4 bytes, i64 is 8}}
  %y = graph.bitcast %a {to = i64} : (tensor<8xf32>) -> tensor<8xi64>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{graph.decode takes ui8 for a narrow type, not f32 for f8E4M3FN}}
  %y = graph.decode %a {element = f8E4M3FN} : (tensor<8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{graph.encode takes f32 or i32 for i4, not f32}}
  %y = graph.encode %a {element = i4} : (tensor<8xf32>) -> tensor<8xui8>
  func.return
}

// -----

func.func @f(%a: tensor<8xf32>) {
  // expected-error@+1 {{graph.cast saturates and rounds towards narrow types alone, not f16}}
  %y = graph.cast %a {to = f16, saturate} : (tensor<8xf32>) -> tensor<8xf16>
  func.return
}
