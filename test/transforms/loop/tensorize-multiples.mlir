// RUN: opt-tool %s -p loop-tensorize --split-input-file --verify-diagnostics

// An intrinsic may say of what number the element is a multiple at which a part begins.
te.intrinsic @copy4(%a: tensor<4xf32>) -> tensor<4xf32> attributes {multiples = array<i64: 4, 1>} {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %a[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

loop.kernel @aligned ins(%x: memref<16xf32>) outs(%y: memref<17xf32>) {
  loop.for %i = 0 to 4 "i" {
    loop.for %j = 0 to 4 "j" attributes {loop.tensorize = @copy4} {
      %v = loop.load %x[4 * %i + %j] : memref<16xf32>
      loop.store %v, %y[4 * %i + %j + 1] : memref<17xf32>
    }
  }
}

// -----

te.intrinsic @copy4(%a: tensor<4xf32>) -> tensor<4xf32> attributes {multiples = array<i64: 4, 1>} {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %a[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

loop.kernel @between ins(%x: memref<16xf32>) outs(%y: memref<12xf32>) {
  loop.for %i = 0 to 3 "i" {
    // expected-error@+1 {{loop 'j' cannot be tensorized as @copy4: it takes parts of a that begin at a multiple of 4 elements, and this one begins at 4 * i + 2 of %x; split by a multiple of 4}}
    loop.for %j = 0 to 4 "j" attributes {loop.tensorize = @copy4} {
      %v = loop.load %x[4 * %i + %j + 2] : memref<16xf32>
      loop.store %v, %y[4 * %i + %j] : memref<12xf32>
    }
  }
}
