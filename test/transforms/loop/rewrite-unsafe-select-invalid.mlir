// RUN: opt-tool %s -p loop-rewrite-unsafe-select --split-input-file --verify-diagnostics

// The load would move behind the store.
loop.kernel @stored_between ins(%x: memref<9xf32>) outs(%y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  loop.for %i = 0 to 9 "i" {
    %c = arith.cmpi sge, %i, %one : index
    // expected-error @+1 {{%y may be read outside of it unless the condition of arith.select holds, but is stored to in between}}
    %v = loop.load %y[%i - 1] : memref<8xf32>
    %w = loop.load %x[%i] : memref<9xf32>
    // expected-note @+1 {{the store}}
    loop.store %w, %y[0] : memref<8xf32>
    %r = arith.select %c, %v, %zero : f32
    loop.store %r, %y[1] : memref<8xf32>
  }
}
