// RUN: opt-tool %s -p compile-kernel --target='llvm -mcpu=haswell' | filecheck %s
// RUN: opt-tool %s -p compile-kernel --target='llvm -mcpu=haswell' --check-semantics -o /dev/null

te.intrinsic @my.add4(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {snippets = {llvm = "; add4"}} {
  %y = te.compute "y" [k: 4] : tensor<4xf32> {
    %x = te.read %a[k] : tensor<4xf32>
    %w = te.read %b[k] : tensor<4xf32>
    %p = arith.addf %x, %w : f32
    te.yield %p : f32
  }
  te.return %y : tensor<4xf32>
}

// Where the remainder has code of its own, it is loops.
// CHECK-LABEL: loop.kernel @partition
// CHECK-NEXT:    loop.for %i_outer = 0 to 3 "i.outer" partition {
// CHECK-NEXT:      loop.intrinsic @my.add4 writes %y[4 * %i_outer] of [4] strides [1]
// CHECK-NEXT:    }
// CHECK-NEXT:    loop.for %i_inner = 0 to 2 "i.inner" {
// CHECK-NEXT:      loop.load %x[%i_inner + 12]
te.kernel @partition(%x: tensor<14xf32>, %w: tensor<14xf32>) -> tensor<14xf32> {
  %y = te.compute "y" [i: 14] : tensor<14xf32> {
    %a = te.read %x[i] : tensor<14xf32>
    %b = te.read %w[i] : tensor<14xf32>
    %p = arith.addf %a, %b : f32
    te.yield %p : f32
  }
  te.return %y : tensor<14xf32>
}
schedule.sequence @partition {
  %y, %i = schedule.stage "y" [i]
  %io, %ii = schedule.split %i factor 4 tail partition
  schedule.tensorize %ii @my.add4
}

// The last tile may move inwards.
// CHECK-LABEL: loop.kernel @shift
// CHECK-NEXT:    loop.for %i_outer = 0 to 4 "i.outer" {
// CHECK-NEXT:      loop.intrinsic @my.add4 writes %y[min(10, 4 * %i_outer)] of [4] strides [1]
te.kernel @shift(%x: tensor<14xf32>, %w: tensor<14xf32>) -> tensor<14xf32> {
  %y = te.compute "y" [i: 14] : tensor<14xf32> {
    %a = te.read %x[i] : tensor<14xf32>
    %b = te.read %w[i] : tensor<14xf32>
    %p = arith.addf %a, %b : f32
    te.yield %p : f32
  }
  te.return %y : tensor<14xf32>
}
schedule.sequence @shift {
  %y, %i = schedule.stage "y" [i]
  %io, %ii = schedule.split %i factor 4 tail shift
  schedule.tensorize %ii @my.add4
}

// All of a reduction is inside: the intrinsic begins with the identity by itself.
te.intrinsic @my.dots(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> tensor<2xf32> attributes {
  update = @my.more, reset = @my.clear, snippets = {llvm = "; dots"}
} {
  %y = te.compute "y" [i: 2] reduce [k: 4] : tensor<2xf32> {
    %x = te.read %a[i, k] : tensor<2x4xf32>
    %w = te.read %b[k] : tensor<4xf32>
    %p = arith.mulf %x, %w : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<2xf32>
}
te.intrinsic @my.more(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> tensor<2xf32> attributes {
  accumulates, snippets = {llvm = "; more"}
} {
  %y = te.compute "y" [i: 2] reduce [k: 4] : tensor<2xf32> {
    %x = te.read %a[i, k] : tensor<2x4xf32>
    %w = te.read %b[k] : tensor<4xf32>
    %p = arith.mulf %x, %w : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<2xf32>
}
te.intrinsic @my.clear() -> tensor<2xf32> attributes {snippets = {llvm = "; clear"}} {
  %y = te.compute "y" [i: 2] : tensor<2xf32> {
    %zero = arith.constant 0.0 : f32
    te.yield %zero : f32
  }
  te.return %y : tensor<2xf32>
}

// CHECK-LABEL: loop.kernel @whole
// CHECK:         loop.for %i_outer = 0 to 3 "i.outer" {
// CHECK-NEXT:      loop.intrinsic @my.dots writes %y[2 * %i_outer] of [2] strides [1] from %x_1[8 * %i_outer] of [2, 4] strides [4, 1], %w[0] of [4] strides [1]
te.kernel @whole(%x: tensor<6x4xf32>, %w: tensor<4xf32>) -> tensor<6xf32> {
  %y = te.compute "y" [i: 6] reduce [k: 4] : tensor<6xf32> {
    %a = te.read %x[i, k] : tensor<6x4xf32>
    %b = te.read %w[k] : tensor<4xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<6xf32>
}
schedule.sequence @whole {
  %y, %i, %k = schedule.stage "y" [i, k]
  %io, %ii = schedule.split %i factor 2
  schedule.tensorize %ii @my.dots
}

// A part of it is: the declaration names what resets the result, and what joins a part.
// CHECK-LABEL: loop.kernel @parts
// CHECK:         loop.for %i_outer = 0 to 3 "i.outer" {
// CHECK-NEXT:      loop.intrinsic @my.clear writes %y[2 * %i_outer] of [2] strides [1]
// CHECK-NEXT:      loop.for %k_outer = 0 to 2 "k.outer" {
// CHECK-NEXT:        loop.intrinsic @my.more updates %y[2 * %i_outer] of [2] strides [1] from %x_1[16 * %i_outer + 4 * %k_outer] of [2, 4] strides [8, 1], %w[4 * %k_outer] of [4] strides [1]
te.kernel @parts(%x: tensor<6x8xf32>, %w: tensor<8xf32>) -> tensor<6xf32> {
  %y = te.compute "y" [i: 6] reduce [k: 8] : tensor<6xf32> {
    %a = te.read %x[i, k] : tensor<6x8xf32>
    %b = te.read %w[k] : tensor<8xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<6xf32>
}
schedule.sequence @parts {
  %y, %i, %k = schedule.stage "y" [i, k]
  %io, %ii = schedule.split %i factor 2
  %ko, %ki = schedule.split %k factor 4
  schedule.reorder %io, %ko, %ii, %ki
  schedule.tensorize %ii @my.dots
}

// What accumulates is preceded by what resets the result, where all of the reduction is inside.
te.intrinsic @my.sums(%a: tensor<2x4xf32>) -> tensor<2xf32> attributes {
  accumulates, reset = @my.clear, snippets = {llvm = "; sums"}
} {
  %y = te.compute "y" [i: 2] reduce [k: 4] : tensor<2xf32> {
    %x = te.read %a[i, k] : tensor<2x4xf32>
    te.reduce add %x : f32
  }
  te.return %y : tensor<2xf32>
}
// CHECK-LABEL: loop.kernel @sums
// CHECK:         loop.for %i_outer = 0 to 3 "i.outer" {
// CHECK-NEXT:      loop.intrinsic @my.clear writes %y[2 * %i_outer] of [2] strides [1]
// CHECK-NEXT:      loop.intrinsic @my.sums updates %y[2 * %i_outer] of [2] strides [1]
te.kernel @sums(%x: tensor<6x4xf32>) -> tensor<6xf32> {
  %y = te.compute "y" [i: 6] reduce [k: 4] : tensor<6xf32> {
    %a = te.read %x[i, k] : tensor<6x4xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<6xf32>
}
schedule.sequence @sums {
  %y, %i, %k = schedule.stage "y" [i, k]
  %io, %ii = schedule.split %i factor 2
  schedule.tensorize %ii @my.sums
}

// A remainder of one row has a loop fewer, and is loops as well.
// CHECK-LABEL: loop.kernel @one_row
// CHECK:         loop.for %i_outer = 0 to 3 "i.outer" partition {
// CHECK:           loop.intrinsic @my.sums updates %y[2 * %i_outer] of [2] strides [1]
// CHECK:         loop.for %k = 0 to 4 "k" {
// CHECK-NEXT:      loop.load %y[6]
te.kernel @one_row(%x: tensor<7x4xf32>) -> tensor<7xf32> {
  %y = te.compute "y" [i: 7] reduce [k: 4] : tensor<7xf32> {
    %a = te.read %x[i, k] : tensor<7x4xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<7xf32>
}
schedule.sequence @one_row {
  %y, %i, %k = schedule.stage "y" [i, k]
  %io, %ii = schedule.split %i factor 2 tail partition
  schedule.reorder %io, %k, %ii
  schedule.tensorize %k @my.sums
}
