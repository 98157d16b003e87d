// RUN: opt-tool %s -p loop-emulate-narrow-types --split-input-file --verify-diagnostics

// Rows of an odd number of elements begin inside of bytes.
loop.kernel @rows ins(%x: memref<9xi4>) outs(%y: memref<9xi4>) {
  loop.for %i = 0 to 3 "i" parallel {
    loop.for %j = 0 to 3 "j" {
      %v = loop.load %x[3 * %i + %j] : memref<9xi4>
      // expected-error@+1 {{two iterations of the parallel loop 'i' may write 4-bit integers of one byte of %y: let each iteration write an even number of neighbours, or leave the loop serial}}
      loop.store %v, %y[3 * %i + %j] : memref<9xi4>
    }
  }
}

// -----

// An even number of them from an odd one on, too.
loop.kernel @odd_start ins(%x: memref<9xi4>) outs(%y: memref<9xui4>) {
  loop.for %i = 0 to 4 "i" parallel {
    %v = loop.load %x[2 * %i] : memref<9xi4>, vector<2xi4>
    // expected-error@+1 {{two iterations of the parallel loop 'i' may write}}
    loop.store %v, %y[2 * %i + 1] : memref<9xui4>, vector<2xi4>
  }
}

// -----

// Two stores, of which each alone would own its bytes.
loop.kernel @two_stores ins(%x: memref<16xi4>) outs(%y: memref<16xi4>) {
  loop.for %i = 0 to 4 "i" parallel {
    %v = loop.load %x[%i] : memref<16xi4>
    // expected-error@+1 {{two iterations of the parallel loop 'i' may write}}
    loop.store %v, %y[2 * %i + 1] : memref<16xi4>
    loop.store %v, %y[2 * %i + 2] : memref<16xi4>
  }
}

// -----

// Which element it is only the data tell.
loop.kernel @scattered ins(%x: memref<8xi4>, %at: memref<8xi64>) outs(%y: memref<8xi4>) {
  loop.for %i = 0 to 8 "i" parallel {
    %v = loop.load %x[%i] : memref<8xi4>
    %n = loop.load %at[%i] : memref<8xi64>
    %j = arith.index_cast %n : i64 to index
    // expected-error@+1 {{two iterations of the parallel loop 'i' may write}}
    loop.store %v, %y[%j] : memref<8xi4>
  }
}

// -----

// Every iteration writes the same element.
loop.kernel @same ins(%x: memref<8xi4>) outs(%y: memref<8xi4>) {
  loop.for %i = 0 to 8 "i" parallel {
    %v = loop.load %x[%i] : memref<8xi4>
    // expected-error@+1 {{two iterations of the parallel loop 'i' may write}}
    loop.store %v, %y[0] : memref<8xi4>
  }
}

// -----

loop.kernel @threads ins(%x: memref<8xi4>) outs(%y: memref<8xi4>) {
  loop.for %i = 0 to 8 "i" threadIdx.x {
    %v = loop.load %x[%i] : memref<8xi4>
    // expected-error@+1 {{4-bit integers of %y are stored by the threads of loop 'i', which may write halves of one byte: store 8-bit integers, or bind no threads}}
    loop.store %v, %y[%i] : memref<8xi4>
  }
}
