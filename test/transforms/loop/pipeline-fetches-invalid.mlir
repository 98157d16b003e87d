// RUN: opt-tool %s -p loop-pipeline-fetches --split-input-file --verify-diagnostics

loop.kernel @twice ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  loop.for %t = 0 to 4 "t" threadIdx.x {
    // expected-error@+1 {{buffer %s cannot be a double buffer: it is filled in several places; let one statement fill it}}
    %s = memref.alloca() {loop.double_buffer} : memref<8xf32, "shared">
    loop.for %k = 0 to 2 "k" {
      %v = loop.load %x[4 * %k + %t] : memref<8xf32>
      loop.store %v, %s[%t] : memref<8xf32, "shared">
      loop.store %v, %s[%t + 4] : memref<8xf32, "shared">
      %w = loop.load %s[%t] : memref<8xf32, "shared">
      loop.store %w, %y[4 * %k + %t] : memref<8xf32>
    }
  }
}

// -----

loop.kernel @outside ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
  loop.for %t = 0 to 8 "t" threadIdx.x {
    // expected-error@+1 {{buffer %s cannot be a double buffer: it is not filled and used in one serial loop; compute it at an axis that runs serially}}
    %s = memref.alloca() {loop.double_buffer} : memref<8xf32, "shared">
    %v = loop.load %x[%t] : memref<8xf32>
    loop.store %v, %s[%t] : memref<8xf32, "shared">
    %w = loop.load %s[%t] : memref<8xf32, "shared">
    loop.store %w, %y[%t] : memref<8xf32>
  }
}

// -----

loop.kernel @sums ins(%x: memref<8x3xf32>) outs(%y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %t = 0 to 4 "t" threadIdx.x {
    // expected-error@+1 {{buffer %s cannot be a double buffer: it is read by what fills it; let one statement fill it and another one use it}}
    %s = memref.alloca() {loop.double_buffer} : memref<4xf32, "shared">
    loop.for %k = 0 to 2 "k" {
      loop.for %j = 0 to 3 "j" {
        %v = loop.load %x[4 * %k + %t, %j] : memref<8x3xf32>
        %u = loop.load %s[%t] : memref<4xf32, "shared">
        %a = arith.addf %u, %v : f32
        loop.store %a, %s[%t] : memref<4xf32, "shared">
      }
      %w = loop.load %s[%t] : memref<4xf32, "shared">
      loop.store %w, %y[4 * %k + %t] : memref<8xf32>
    }
  }
}

// -----

loop.kernel @together ins(%x: memref<8xf32>) outs(%y: memref<8xf32>, %z: memref<8xf32>) {
  loop.for %t = 0 to 4 "t" threadIdx.x {
    // expected-error@+1 {{buffer %s cannot be a double buffer: it is filled together with other memory; compute the other stage elsewhere}}
    %s = memref.alloca() {loop.double_buffer} : memref<4xf32, "shared">
    loop.for %k = 0 to 2 "k" {
      loop.for %j = 0 to 1 "j" {
        %v = loop.load %x[4 * %k + %t] : memref<8xf32>
        loop.store %v, %z[4 * %k + %t] : memref<8xf32>
        loop.store %v, %s[%t] : memref<4xf32, "shared">
      }
      %w = loop.load %s[%t] : memref<4xf32, "shared">
      loop.store %w, %y[4 * %k + %t] : memref<8xf32>
    }
  }
}

// -----

loop.kernel @written outs(%y: memref<8xf32>) {
  loop.for %t = 0 to 4 "t" threadIdx.x {
    // expected-error@+1 {{buffer %s cannot be a double buffer: it is filled from memory that the same loop writes; compute that memory outside the loop}}
    %s = memref.alloca() {loop.double_buffer} : memref<4xf32, "shared">
    loop.for %k = 0 to 2 "k" {
      %v = loop.load %y[%t] : memref<8xf32>
      loop.store %v, %s[%t] : memref<4xf32, "shared">
      %w = loop.load %s[%t] : memref<4xf32, "shared">
      loop.store %w, %y[4 * %k + %t] : memref<8xf32>
    }
  }
}

// -----

loop.kernel @open ins(%x: memref<?xf32> [N]) outs(%y: memref<8xf32>) symbols(%N) {
  loop.for %t = 0 to 4 "t" threadIdx.x {
    // expected-error@+1 {{buffer %s cannot be a double buffer: it is filled by a loop of which it is not known how often it runs; split it by a factor}}
    %s = memref.alloca() {loop.double_buffer} : memref<4xf32, "shared">
    loop.for %k = 0 to 2 "k" {
      loop.for %j = 0 to %N "j" {
        %v = loop.load %x[%j] : memref<?xf32>
        loop.store %v, %s[%t] : memref<4xf32, "shared">
      }
      %w = loop.load %s[%t] : memref<4xf32, "shared">
      loop.store %w, %y[4 * %k + %t] : memref<8xf32>
    }
  }
}
