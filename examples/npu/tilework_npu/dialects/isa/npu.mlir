// The two instructions of the toy: sums are set to zero, and products of bytes are added to them.
te.intrinsic @npu.zero() -> tensor<8xi32> {
  %y = te.compute "zero" [n: 8] : tensor<8xi32> {
    %zero = arith.constant 0 : i32
    te.yield %zero : i32
  }
  te.return %y : tensor<8xi32>
}

te.intrinsic @npu.dot(%x: tensor<8xi8>, %w: tensor<8x8xi8>) -> tensor<8xi32> attributes {accumulates, reset = @npu.zero} {
  %y = te.compute "sum" [n: 8] reduce [k: 8] : tensor<8xi32> {
    %0 = te.read %x[k] : tensor<8xi8>
    %1 = te.read %w[n, k] : tensor<8x8xi8>
    %2 = arith.extsi %0 : i8 to i32
    %3 = arith.extsi %1 : i8 to i32
    %4 = arith.muli %2, %3 : i32
    te.reduce add %4 : i32
  }
  te.return %y : tensor<8xi32>
}
