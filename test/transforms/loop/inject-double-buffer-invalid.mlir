// RUN: opt-tool %s -p loop-inject-double-buffer --split-input-file --verify-diagnostics

loop.kernel @parallel ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  loop.for %i = 0 to 8 "i" parallel {
    // expected-error@+1 {{buffer %t cannot be a double buffer: it is not right inside a serial loop; compute it at an axis that runs serially}}
    %t = memref.alloca() {loop.double_buffer} : memref<f32, "local">
    %v = loop.load %x[%i] : memref<8xf32>
    loop.store %v, %t[] : memref<f32, "local">
  }
}

// -----

loop.kernel @carried outs(%y: memref<9xf32>) {
  loop.for %i = 0 to 8 "i" {
    // expected-error@+1 {{buffer %t cannot be a double buffer: it is filled from memory that the same loop writes; compute that memory outside the loop}}
    %t = memref.alloca() {loop.double_buffer} : memref<1xf32, "local">
    loop.for %j = 0 to 1 "j" {
      %v = loop.load %y[%i] : memref<9xf32>
      loop.store %v, %t[%j] : memref<1xf32, "local">
    }
    %w = loop.load %t[0] : memref<1xf32, "local">
    loop.store %w, %y[%i + 1] : memref<9xf32>
  }
}

// -----

loop.kernel @value ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  loop.for %i = 0 to 8 "i" {
    // expected-error@+1 {{buffer %t cannot be a double buffer: it is filled from values of the same iteration; compute them outside the loop}}
    %t = memref.alloca() {loop.double_buffer} : memref<1xf32, "local">
    %v = loop.load %x[%i] : memref<8xf32>
    loop.for %j = 0 to 1 "j" {
      loop.store %v, %t[%j] : memref<1xf32, "local">
    }
    %w = loop.load %t[0] : memref<1xf32, "local">
    loop.store %w, %y[%i] : memref<8xf32>
  }
}

// -----

loop.kernel @together ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  loop.for %i = 0 to 8 "i" {
    // expected-error@+1 {{buffer %t cannot be a double buffer: it is filled together with other memory; compute the other stage elsewhere}}
    %t = memref.alloca() {loop.double_buffer} : memref<1xf32, "local">
    loop.for %j = 0 to 1 "j" {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.store %v, %t[%j] : memref<1xf32, "local">
      loop.store %v, %y[%i] : memref<8xf32>
    }
  }
}
