// RUN: opt-tool %s --split-input-file --verify-diagnostics

// A program that is read is refused where a load or store is certainly out of bounds: whichever end it is,

loop.kernel @load ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) {
  loop.for %i = 0 to 4 "i" {
    // expected-error@+1 {{@load, in i: load from %x[%i + 1] out of bounds: dimension 0 has 4 elements, the subscript %i + 1 runs from 1 to 4, and is 4 at %i = 3}}
    %v = loop.load %x[%i + 1] : memref<4xf32>
    loop.store %v, %y[%i] : memref<4xf32>
  }
}

// -----

loop.kernel @store outs(%y: memref<4x4xf32>) {
  %z = arith.constant 0.0 : f32
  loop.for %i = 0 to 4 "i" {
    loop.for %j = 0 to %i "j" {
      // expected-error@+1 {{@store, in i > j: store to %y[%i, %i - %j - 2] out of bounds: dimension 1 has 4 elements, the subscript %i - %j - 2 runs from -1 to 1, and is -1 at %i = 1, %j = 0}}
      loop.store %z, %y[%i, %i - %j - 2] : memref<4x4xf32>
    }
  }
}

// -----

// in a lane of a vector,

loop.kernel @lanes ins(%x: memref<30xf32>) outs(%y: memref<8xf32>) {
  // expected-error@+1 {{load from %x[2] out of bounds: dimension 0 has 30 elements, the subscript 4 * lane + 2 runs from 2 to 30, and is 30 at lane = 7}}
  %v = loop.load %x[2] stride 4 : memref<30xf32>, vector<8xf32>
  loop.store %v, %y[0] : memref<8xf32>, vector<8xf32>
}

// -----

loop.kernel @touched ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{the subscript lane - 2 runs from -1 to 4, and is -1 at lane = 1}}
  %v = loop.load %x[-2] from 1 count 7 else %z : memref<8xf32>, vector<8xf32>
  loop.store %v, %y[0] : memref<8xf32>, vector<8xf32>
}

// -----

// under conditions on indices, and where these do not hold,

loop.kernel @conditions ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  loop.for %i = 0 to 8 "i" {
    loop.if [%i - 3 >= 0, 6 - %i >= 0] {
      %v = loop.load %x[%i - 3] : memref<8xf32>
      loop.store %v, %y[%i] : memref<8xf32>
    } else {
      // expected-error@+1 {{the subscript %i - 3 runs from -3 to 4, and is -3 at %i = 0}}
      %v = loop.load %x[%i - 3] : memref<8xf32>
      loop.store %v, %y[%i] : memref<8xf32>
    }
  }
}

// -----

// and for every size.

loop.kernel @sizes ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %i = 0 to %N "i" {
    %n = loop.apply %i + 1
    // expected-error@+1 {{dimension 0 has %N elements, the subscript %i + 1 is %N at %i = %N - 1}}
    %v = loop.load %x[%n] : memref<?xf32>
    loop.store %v, %y[%i] : memref<?xf32>
  }
}

// -----

// The statements of an extern are looked at as well.

te.kernel @extern(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.extern "copy" ins(%a = %x : tensor<8xf32>) outs(%b : tensor<8xf32>) {
    loop.for %i = 0 to 8 "i" {
      // expected-error@+1 {{extern "copy", in i: load from %a[%i + 1] out of bounds: dimension 0 has 8 elements}}
      %v = loop.load %a[%i + 1] : memref<8xf32>
      loop.store %v, %b[%i] : memref<8xf32>
    }
  }
  te.return %y : tensor<8xf32>
}
