// RUN: opt-tool %s -p loop-inject-double-buffer --check-semantics | filecheck %s

// Half of the buffer is filled for the next iteration while the other half is used; nothing is filled after the last.

// CHECK-LABEL: loop.kernel @double
// CHECK-NEXT:    %t = memref.alloca() : memref<2x4xf32, "local">
// CHECK-NEXT:    loop.for %i = 0 to 1 "i.first" {
// CHECK-NEXT:      loop.for %j = 0 to 4 "j" {
// CHECK-NEXT:        %v = loop.load %x[%i, %j] : memref<8x4xf32>
// CHECK-NEXT:        loop.store %v, %t[%i mod 2, %j] : memref<2x4xf32, "local">
// CHECK:         loop.for %i_1 = 0 to 8 "i" {
// CHECK-NEXT:      loop.for %i_2 = %i_1 + 1 to min(8, %i_1 + 2) "i.next" {
// CHECK:             loop.store %{{.*}}, %t[%i_2 mod 2, %{{.*}}] : memref<2x4xf32, "local">
// CHECK:           loop.for %k = 0 to 4 "k" {
// CHECK-NEXT:        loop.load %t[%i_1 mod 2, %k] : memref<2x4xf32, "local">
loop.kernel @double ins(%x: memref<8x4xf32>) outs(%y: memref<8x4xf32>) {
  loop.for %i = 0 to 8 "i" {
    %t = memref.alloca() {loop.double_buffer} : memref<4xf32, "local">
    loop.for %j = 0 to 4 "j" {
      %v = loop.load %x[%i, %j] : memref<8x4xf32>
      loop.store %v, %t[%j] : memref<4xf32, "local">
    }
    loop.for %k = 0 to 4 "k" {
      %v = loop.load %t[%k] : memref<4xf32, "local">
      loop.store %v, %y[%i, %k] : memref<8x4xf32>
    }
  }
}

// A loop that starts elsewhere, and may be empty; an identity that is set first belongs to what fills.

// CHECK-LABEL: loop.kernel @from
// CHECK:         loop.for %i_1 = 2 to min(3, %N) "i.first" {
// CHECK-NEXT:      loop.store %zero, %t[%i_1 mod 2] : memref<2xf32, "local">
// CHECK:         loop.for %i_2 = 2 to %N "i" {
// CHECK-NEXT:      loop.for %i_3 = %i_2 + 1 to min(%i_2 + 2, %N) "i.next" {
loop.kernel @from ins(%x: memref<?x4xf32> [N, 4]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to %N "clear" {
    loop.store %zero, %y[%i] : memref<?xf32>
  }
  loop.for %i = 2 to %N "i" {
    %t = memref.alloca() {loop.double_buffer} : memref<f32, "local">
    loop.store %zero, %t[] : memref<f32, "local">
    loop.for %j = 0 to 4 "j" {
      %v = loop.load %x[%i, %j] : memref<?x4xf32>
      %s = loop.load %t[] : memref<f32, "local">
      %w = arith.addf %s, %v : f32
      loop.store %w, %t[] : memref<f32, "local">
    }
    %r = loop.load %t[] : memref<f32, "local">
    loop.store %r, %y[%i] : memref<?xf32>
  }
}

// Rows that are further apart stay so.

// CHECK-LABEL: loop.kernel @strided
// CHECK-NEXT:    %t = memref.alloca() : memref<2x2x4xf32, strided<[10, 5, 1]>, "local">
loop.kernel @strided ins(%x: memref<8x2x4xf32>) outs(%y: memref<8xf32>) {
  loop.for %i = 0 to 8 "i" {
    %t = memref.alloca() {loop.double_buffer} : memref<2x4xf32, strided<[5, 1]>, "local">
    loop.for %j = 0 to 2 "j" {
      loop.for %k = 0 to 4 "k" {
        %v = loop.load %x[%i, %j, %k] : memref<8x2x4xf32>
        loop.store %v, %t[%j, %k] : memref<2x4xf32, strided<[5, 1]>, "local">
      }
    }
    %w = loop.load %t[1, 2] : memref<2x4xf32, strided<[5, 1]>, "local">
    loop.store %w, %y[%i] : memref<8xf32>
  }
}

// The pattern alone, at one buffer; another operation in its place is none.
// RUN: opt-tool %s --apply-pattern loop-inject-double-buffer.fill-early@18 | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: loop.kernel @double
// ALONE-NEXT:    memref.alloca() : memref<2x4xf32, "local">
// ALONE-LABEL: loop.kernel @from
// ALONE:         loop.double_buffer
// RUN: not opt-tool %s --apply-pattern loop-inject-double-buffer.fill-early@17 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: loop-inject-double-buffer.fill-early does not match at line 17
