// RUN: opt-tool %s | filecheck %s

// What may be in bounds is accepted, and what is out of bounds where nothing is read.

// CHECK-LABEL: te.kernel @guarded
te.kernel @guarded(%x: tensor<8xf32>, %n: tensor<8xi64>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: 3] : tensor<8xf32> {
    %v = te.if_then_else [i + k - 1 >= 0, 8 - i - k >= 0] : f32 {
      %a = te.read %x[i + k - 1] : tensor<8xf32>
      te.yield %a : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.reduce add %v : f32
  }
  te.return %y : tensor<8xf32>
}

// Data say where, or whether.
// CHECK-LABEL: te.kernel @data
te.kernel @data(%x: tensor<8xf32>, %n: tensor<8xi64>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %d = te.read %n[i] : tensor<8xi64>
    %j = arith.index_cast %d : i64 to index
    %v = te.read %x[%j] : tensor<8xf32>
    %w = te.if_then_else [%j >= 0] : f32 {
      %a = te.read %x[i + 1] : tensor<8xf32>
      te.yield %a : f32
    } else {
      te.yield %v : f32
    }
    te.yield %w : f32
  }
  te.return %y : tensor<8xf32>
}

// What a select may throw away is read where it is chosen.
// CHECK-LABEL: te.kernel @chosen
te.kernel @chosen(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %n = te.index i
    %one = arith.constant 1 : index
    %c = arith.cmpi sge, %n, %one : index
    %a = te.read %x[i - 1] : tensor<8xf32>
    %b = math.exp %a : f32
    %z = arith.constant 0.0 : f32
    %v = arith.select %c, %b, %z : f32
    te.yield %v : f32
  }
  te.return %y : tensor<8xf32>
}

// Nothing is read of nothing, and sizes may be such that a read is in bounds.
// CHECK-LABEL: te.kernel @sizes
te.kernel @sizes(%x: tensor<0xf32>, %z: tensor<?xf32, #graph.dims<[N]>>) -> (tensor<0xf32>, tensor<?xf32, #graph.dims<[N]>>) {
  %y = te.compute "y" [i: 0] : tensor<0xf32> {
    %v = te.read %x[i + 1] : tensor<0xf32>
    te.yield %v : f32
  }
  %w = te.compute "w" [i: N] : tensor<?xf32, #graph.dims<[N]>> {
    %v = te.read %z[2 * i] : tensor<?xf32, #graph.dims<[N]>>
    te.yield %v : f32
  }
  te.return %y, %w : tensor<0xf32>, tensor<?xf32, #graph.dims<[N]>>
}

// Of a triangle, the rows that are there.
// CHECK-LABEL: te.kernel @triangle
te.kernel @triangle(%x: tensor<4x3xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] reduce [k: i] : tensor<4xf32> {
    %v = te.read %x[i, i - k - 1] : tensor<4x3xf32>
    %w = te.read %x[i - 1, (i + k) mod i] : tensor<4x3xf32>
    %s = arith.addf %v, %w : f32
    te.reduce add %s : f32
  }
  te.return %y : tensor<4xf32>
}
