// RUN: opt-tool %s | opt-tool - | filecheck %s

// Hexadecimal elements of floating-point constants are bits, as MLIR prints infinities and NaN.
// CHECK-LABEL: func.func @bits
// CHECK:         dense<0xff800000> : tensor<1xf32>
// CHECK:         dense<[0x7ff0000000000000, 1.000000e+00]> : tensor<2xf64>
// CHECK:         dense<0x7c00> : tensor<2xf16>
// CHECK:         dense<0x7f80> : tensor<2xbf16>
// CHECK:         dense<15> : tensor<2xi32>
func.func @bits() {
  %a = arith.constant dense<0xff800000> : tensor<1xf32>
  %b = arith.constant dense<[0x7ff0000000000000, 1.0]> : tensor<2xf64>
  %c = arith.constant dense<0x7C00> : tensor<2xf16>
  %d = arith.constant dense<0x7F80> : tensor<2xbf16>
  %e = arith.constant dense<0x0f> : tensor<2xi32>
  func.return
}
