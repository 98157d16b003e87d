// RUN: opt-tool %s --split-input-file -p graph-store-narrow-types --verify-diagnostics

func.func @computes(%x: tensor<4xui8>) -> tensor<4xui8> {
  %0 = graph.bitcast %x {to = f8E4M3FN} : (tensor<4xui8>) -> tensor<4xf8E4M3FN>
  // expected-error@+1 {{graph.add computes with f8E4M3FN, which is only moved and converted: cast it before}}
  %1 = graph.add %0, %0 : (tensor<4xf8E4M3FN>, tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  %2 = graph.bitcast %1 {to = ui8} : (tensor<4xf8E4M3FN>) -> tensor<4xui8>
  func.return %2 : tensor<4xui8>
}
