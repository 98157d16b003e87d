// RUN: opt-tool %s --target='llvm -mcpu=haswell' -p te-to-schedule | filecheck %s
// RUN: opt-tool %s --target='llvm -mcpu=x86-64' -p te-to-schedule | filecheck %s --check-prefix=NARROW
// RUN: opt-tool %s --target='llvm -mcpu=skylake-avx512' -p te-to-schedule | filecheck %s --check-prefix=MASKS

// A reduction that is the result itself is cached in registers.

// CHECK-LABEL: schedule.sequence @row_sum
// CHECK: schedule.cache_write %sum "local" [i, k]
// CHECK: schedule.set_scope %cache "register"
// CHECK-NOT: schedule.parallel
te.kernel @row_sum(%x: tensor<7x13xf32>) -> tensor<7xf32> {
  %sum = te.compute "sum" [i: 7] reduce [k: 13] : tensor<7xf32> {
    %a = te.read %x[i, k] : tensor<7x13xf32>
    te.reduce add %a : f32
  }
  te.return %sum : tensor<7xf32>
}

// Element-wise kernels are fused into one axis; a symbolic one has masked lanes.

// CHECK-LABEL: schedule.sequence @relu
// CHECK: schedule.fuse
// CHECK: schedule.split {{.*}} factor 8 tail mask
// CHECK: schedule.vectorize
te.kernel @relu(%x: tensor<?x3x5xf32, #graph.dims<[N, 3, 5]>>) -> tensor<?x3x5xf32, #graph.dims<[N, 3, 5]>> {
  %relu = te.compute "relu" [n: N, i: 3, j: 5] : tensor<?x3x5xf32, #graph.dims<[N, 3, 5]>> {
    %a = te.read %x[n, i, j] : tensor<?x3x5xf32, #graph.dims<[N, 3, 5]>>
    %z = arith.constant 0.0 : f32
    %p = arith.maximumf %a, %z : f32
    te.yield %p : f32
  }
  te.return %relu : tensor<?x3x5xf32, #graph.dims<[N, 3, 5]>>
}

// So are the axes of an image beside which something stands for each channel; all 30 are lanes.

// CHECK-LABEL: schedule.sequence @scaled
// CHECK: %mul, %n{{[_0-9]*}}, %c{{[_0-9]*}}, [[Y:%[a-z_0-9]+]], [[X:%[a-z_0-9]+]] = schedule.stage
// CHECK-NEXT: [[F:%.*]] = schedule.fuse [[Y]], [[X]]
// CHECK-NEXT: schedule.vectorize [[F]]
te.kernel @scaled(%x: tensor<1x9x5x6xf32>, %s: tensor<9x1x1xf32>) -> tensor<1x9x5x6xf32> {
  %mul = te.compute "mul" [n: 1, c: 9, y: 5, x: 6] : tensor<1x9x5x6xf32> {
    %a = te.read %x[n, c, y, x] : tensor<1x9x5x6xf32>
    %b = te.read %s[c, 0, 0] : tensor<9x1x1xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }
  te.return %mul : tensor<1x9x5x6xf32>
}

// Rows of a part of a larger tensor stay rows: between them lie others' elements.

// CHECK-LABEL: schedule.sequence @gate
// CHECK-NOT: schedule.fuse
// CHECK: schedule.vectorize %j
te.kernel @gate(%x: tensor<1x4x8xf32>) -> tensor<1x4x8xf32> attributes {te.layouts = [strided<[96, 24, 1]>, unit]} {
  %tanh = te.compute "tanh" [n: 1, i: 4, j: 8] : tensor<1x4x8xf32> {
    %a = te.read %x[n, i, j] : tensor<1x4x8xf32>
    %t = math.tanh %a : f32
    te.yield %t : f32
  }
  te.return %tanh : tensor<1x4x8xf32>
}

// A symbolic axis that becomes lanes has a masked tail: it is split once, whatever the number of lanes.

// NARROW-LABEL: schedule.sequence @row_sums
// NARROW: schedule.split %{{.*}} factor 4 tail mask
// NARROW-NOT: schedule.split
// NARROW: schedule.vectorize
te.kernel @row_sums(%x: tensor<?x10xf32, #graph.dims<[N, 10]>>) -> tensor<?xf32, #graph.dims<[N]>> {
  %sum = te.compute "sum" [i: N] reduce [k: 10] : tensor<?xf32, #graph.dims<[N]>> {
    %e = te.read %x[i, k] : tensor<?x10xf32, #graph.dims<[N, 10]>>
    te.reduce add %e : f32
  }
  te.return %sum : tensor<?xf32, #graph.dims<[N]>>
}

// Of an image that is padded a depthwise convolution reads one channel at each of its points: that is padded there.

// CHECK-LABEL: schedule.sequence @depthwise
// CHECK:       schedule.parallel [[C:%c[_0-9]*]]
// CHECK:       [[P:%pad[_0-9]*]], {{.*}} = schedule.stage "pad"
// CHECK:       schedule.compute_at [[P]], [[C]]
te.kernel @depthwise(%x: tensor<1x64x16x20xf32>, %w: tensor<64x3xf32>) -> tensor<1x64x16x18xf32> {
  %pad = te.compute "pad" [n: 1, c: 64, y: 16, x: 22] : tensor<1x64x16x22xf32> {
    %p = te.if_then_else [x - 1 >= 0, -x + 20 >= 0] : f32 {
      %v = te.read %x[n, c, y, x - 1] : tensor<1x64x16x20xf32>
      te.yield %v : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    te.yield %p : f32
  }
  %conv = te.compute "conv" [n: 1, c: 64, y: 16, x: 18] reduce [k: 3] : tensor<1x64x16x18xf32> {
    %v = te.read %pad[n, c, y, x + k] : tensor<1x64x16x22xf32>
    %u = te.read %w[c, k] : tensor<64x3xf32>
    %p = arith.mulf %v, %u : f32
    te.reduce add %p : f32
  }
  te.return %conv : tensor<1x64x16x18xf32>
}

// Rows of a tile share what their windows read: all taps are straight-line code, which loads it once.

// CHECK-LABEL: schedule.sequence @windows
// CHECK:       schedule.cache_write %{{.*}} "local" [c, y, x, r, s]
// CHECK:       schedule.reorder [[R:%r[_0-9]*]], [[S:%s[_0-9]*]], %c
// CHECK-NEXT:  schedule.unroll [[R]]
// CHECK-NEXT:  schedule.unroll [[S]]
te.kernel @windows(%x: tensor<64x18x34xf32>, %w: tensor<64x3x3xf32>) -> tensor<64x16x32xf32> {
  %conv = te.compute "conv" [c: 64, y: 16, x: 32] reduce [r: 3, s: 3] : tensor<64x16x32xf32> {
    %v = te.read %x[c, y + r, x + s] : tensor<64x18x34xf32>
    %u = te.read %w[c, r, s] : tensor<64x3x3xf32>
    %p = arith.mulf %v, %u : f32
    te.reduce add %p : f32
  }
  te.return %conv : tensor<64x16x32xf32>
}

// Elements that are apart are put side by side where sums read them often; a stage that a sum reads once is inlined.

// CHECK-LABEL: schedule.sequence @picked
// CHECK-NOT:   schedule.compute_inline
// CHECK:       schedule.stage "picked"
// CHECK:       schedule.vectorize
// CHECK-LABEL: schedule.sequence @picked_once
// CHECK-NEXT:  schedule.stage "picked"
// CHECK-NEXT:  schedule.compute_inline %picked
te.kernel @picked(%x: tensor<64x64xf32>, %w: tensor<16x64xf32>) -> tensor<16x32xf32> {
  %picked = te.compute "picked" [c: 64, x: 32] : tensor<64x32xf32> {
    %v = te.read %x[c, 2 * x] : tensor<64x64xf32>
    te.yield %v : f32
  }
  %conv = te.compute "conv" [o: 16, x: 32] reduce [c: 64] : tensor<16x32xf32> {
    %v = te.read %picked[c, x] : tensor<64x32xf32>
    %u = te.read %w[o, c] : tensor<16x64xf32>
    %p = arith.mulf %v, %u : f32
    te.reduce add %p : f32
  }
  te.return %conv : tensor<16x32xf32>
}
te.kernel @picked_once(%x: tensor<64x64xf32>) -> tensor<32xf32> {
  %picked = te.compute "picked" [c: 64, x: 32] : tensor<64x32xf32> {
    %v = te.read %x[c, 2 * x] : tensor<64x64xf32>
    te.yield %v : f32
  }
  %sum = te.compute "sum" [x: 32] reduce [c: 64] : tensor<32xf32> {
    %v = te.read %picked[c, x] : tensor<64x32xf32>
    te.reduce add %v : f32
  }
  te.return %sum : tensor<32xf32>
}

// A sum over all channels reads all of them at each: of all of them, some rows are padded at a time, outside the loops
// over filters.

// CHECK-LABEL: schedule.sequence @all_channels
// CHECK:       schedule.parallel %[[ROWS:.*]]
// CHECK:       schedule.compute_at %cache
// CHECK:       schedule.compute_at %pad{{.*}}, %[[ROWS]]
te.kernel @all_channels(%x: tensor<1x64x16x20xf32>, %w: tensor<64x64x3xf32>) -> tensor<1x64x16x18xf32> {
  %pad = te.compute "pad" [n: 1, c: 64, y: 16, x: 22] : tensor<1x64x16x22xf32> {
    %p = te.if_then_else [x - 1 >= 0, -x + 20 >= 0] : f32 {
      %v = te.read %x[n, c, y, x - 1] : tensor<1x64x16x20xf32>
      te.yield %v : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    te.yield %p : f32
  }
  %conv = te.compute "conv" [n: 1, o: 64, y: 16, x: 18] reduce [c: 64, k: 3] : tensor<1x64x16x18xf32> {
    %v = te.read %pad[n, c, y, x + k] : tensor<1x64x16x22xf32>
    %u = te.read %w[o, c, k] : tensor<64x64x3xf32>
    %p = arith.mulf %v, %u : f32
    te.reduce add %p : f32
  }
  te.return %conv : tensor<1x64x16x18xf32>
}

// Between tensors in blocks of channels, a convolution is stored in blocks too; the place in a block fills the vector,
// and channels are summed block by block. Padding is not along that vector: it is not copied.

// CHECK-LABEL: schedule.sequence @blocks
// CHECK: [[P:%[a-z0-9_]+]], {{.*}} = schedule.stage "pad" [n, c, y, x]
// CHECK-NEXT: schedule.compute_inline [[P]]
// CHECK: [[C:%[a-z0-9_]+]], {{.*}} = schedule.cache_write %{{.*}} "global" [n, k.outer, y, x, k.inner, c, r, s]
// CHECK: schedule.stage "pack" [n, ko, y, x, ki]
// CHECK: schedule.compute_at [[C]]
// CHECK: schedule.set_scope [[C]] "register"
// CHECK: [[CO:%[a-z0-9_]+]], [[CI:%[a-z0-9_]+]] = schedule.split %c{{[_0-9]*}} factor 8
// CHECK: schedule.reorder [[CO]], %r{{[_0-9]*}}, %s{{[_0-9]*}}, [[CI]],
// CHECK: schedule.vectorize %k_inner
te.kernel @blocks(%x: tensor<1x2x28x28x8xf32>, %w: tensor<32x16x3x3xf32>) -> tensor<1x4x28x28x8xf32> {
  %unpack = te.compute "unpack" [n: 1, c: 16, y: 28, x: 28] : tensor<1x16x28x28xf32> {
    %e = te.read %x[n, c floordiv 8, y, x, c mod 8] : tensor<1x2x28x28x8xf32>
    te.yield %e : f32
  }
  %pad = te.compute "pad" [n: 1, c: 16, y: 30, x: 30] : tensor<1x16x30x30xf32> {
    %v = te.if_then_else [y - 1 >= 0, 28 - y >= 0, x - 1 >= 0, 28 - x >= 0] : f32 {
      %e = te.read %unpack[n, c, y - 1, x - 1] : tensor<1x16x28x28xf32>
      te.yield %e : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  %conv = te.compute "conv" [n: 1, k: 32, y: 28, x: 28] reduce [c: 16, r: 3, s: 3] : tensor<1x32x28x28xf32> {
    %a = te.read %pad[n, c, y + r, x + s] : tensor<1x16x30x30xf32>
    %f = te.read %w[k, c, r, s] : tensor<32x16x3x3xf32>
    %p = arith.mulf %a, %f : f32
    te.reduce add %p : f32
  }
  %pack = te.compute "pack" [n: 1, ko: 4, y: 28, x: 28, ki: 8] : tensor<1x4x28x28x8xf32> {
    %a = te.read %conv[n, 8 * ko + ki, y, x] : tensor<1x32x28x28xf32>
    te.yield %a : f32
  }
  te.return %pack : tensor<1x4x28x28x8xf32>
}

// So it is where windows move by two over an image that is not in blocks: each pixel is read for a vector of filters.

// CHECK-LABEL: schedule.sequence @colours
// CHECK: [[P:%[a-z0-9_]+]], {{.*}} = schedule.stage "pad" [n, c, y, x]
// CHECK-NEXT: schedule.compute_inline [[P]]
// CHECK: schedule.vectorize %k_inner
te.kernel @colours(%x: tensor<1x3x28x28xf32>, %w: tensor<4x3x3x3x8xf32>) -> tensor<1x4x14x14x8xf32> {
  %unpack = te.compute "unpack" [k: 32, c: 3, r: 3, s: 3] : tensor<32x3x3x3xf32> {
    %e = te.read %w[k floordiv 8, c, r, s, k mod 8] : tensor<4x3x3x3x8xf32>
    te.yield %e : f32
  }
  %pad = te.compute "pad" [n: 1, c: 3, y: 30, x: 30] : tensor<1x3x30x30xf32> {
    %v = te.if_then_else [y - 1 >= 0, 28 - y >= 0, x - 1 >= 0, 28 - x >= 0] : f32 {
      %e = te.read %x[n, c, y - 1, x - 1] : tensor<1x3x28x28xf32>
      te.yield %e : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  %conv = te.compute "conv" [n: 1, k: 32, y: 14, x: 14] reduce [c: 3, r: 3, s: 3] : tensor<1x32x14x14xf32> {
    %a = te.read %pad[n, c, 2 * y + r, 2 * x + s] : tensor<1x3x30x30xf32>
    %f = te.read %unpack[k, c, r, s] : tensor<32x3x3x3xf32>
    %p = arith.mulf %a, %f : f32
    te.reduce add %p : f32
  }
  %pack = te.compute "pack" [n: 1, ko: 4, y: 14, x: 14, ki: 8] : tensor<1x4x14x14x8xf32> {
    %a = te.read %conv[n, 8 * ko + ki, y, x] : tensor<1x32x14x14xf32>
    te.yield %a : f32
  }
  te.return %pack : tensor<1x4x14x14x8xf32>
}

// Where lanes lie along such rows, even and odd elements of the padded rows lie apart: each tap reads neighbours.

// CHECK-LABEL: schedule.sequence @phases
// CHECK: [[P:%[a-z0-9_]+]], {{.*}} = schedule.stage "pad" [n, c, y, x]
// CHECK-NEXT: schedule.split %{{.*}} factor 2
// CHECK: schedule.cache_write [[P]] "global" [n, c, y, x.inner, x.outer]
// CHECK: schedule.stage "conv" [n, k, y, x, r, s]
te.kernel @phases(%x: tensor<1x16x28x28xf32>, %w: tensor<16x3x3xf32>) -> tensor<1x16x14x14xf32> {
  %pad = te.compute "pad" [n: 1, c: 16, y: 30, x: 30] : tensor<1x16x30x30xf32> {
    %v = te.if_then_else [y - 1 >= 0, 28 - y >= 0, x - 1 >= 0, 28 - x >= 0] : f32 {
      %e = te.read %x[n, c, y - 1, x - 1] : tensor<1x16x28x28xf32>
      te.yield %e : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  %conv = te.compute "conv" [n: 1, k: 16, y: 14, x: 14] reduce [r: 3, s: 3] : tensor<1x16x14x14xf32> {
    %a = te.read %pad[n, k, 2 * y + r, 2 * x + s] : tensor<1x16x30x30xf32>
    %f = te.read %w[k, r, s] : tensor<16x3x3xf32>
    %p = arith.mulf %a, %f : f32
    te.reduce add %p : f32
  }
  te.return %conv : tensor<1x16x14x14xf32>
}

// A loop with a rest around the tile is the only one that threads can share.

// CHECK-LABEL: schedule.sequence @rest
// CHECK: [[O:%[a-z0-9_]+]], {{.*}} = schedule.split %{{.*}} factor {{[0-9]+}} tail partition
// CHECK: schedule.parallel [[O]]
te.kernel @rest(%x: tensor<1021x64xf32>, %w: tensor<64x8xf32>) -> tensor<1021x8xf32> {
  %y = te.compute "y" [i: 1021, j: 8] reduce [k: 64] : tensor<1021x8xf32> {
    %a = te.read %x[i, k] : tensor<1021x64xf32>
    %b = te.read %w[k, j] : tensor<64x8xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<1021x8xf32>
}

// Padding along the outermost axis alone is asked for where it is read: few iterations meet it, in code of their own.
// CHECK-LABEL: schedule.sequence @channels
// CHECK-NEXT:  [[PAD:%pad[_0-9]*]], {{.*}} = schedule.stage "pad"
// CHECK-NEXT:  schedule.compute_inline [[PAD]]
te.kernel @channels(%x: tensor<1x96x20x20xf32>) -> tensor<1x96x20x20xf32> {
  %pad = te.compute "pad" [n: 1, c: 100, y: 20, x: 20] : tensor<1x100x20x20xf32> {
    %p = te.if_then_else [c - 2 >= 0, -c + 97 >= 0] : f32 {
      %v = te.read %x[n, c - 2, y, x] : tensor<1x96x20x20xf32>
      te.yield %v : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    te.yield %p : f32
  }
  %sum = te.compute "sum" [n: 1, c: 96, y: 20, x: 20] reduce [r: 5] : tensor<1x96x20x20xf32> {
    %v = te.read %pad[n, c + r, y, x] : tensor<1x100x20x20xf32>
    te.reduce add %v : f32
  }
  te.return %sum : tensor<1x96x20x20xf32>
}

// Padding along the rows is left out of the sums, however little it is: their loops are cut.
// CHECK-LABEL: schedule.sequence @rows
// CHECK:       [[PAD:%pad[_0-9]*]], {{.*}} = schedule.stage "pad"
// CHECK-NEXT:  schedule.compute_inline [[PAD]]
te.kernel @rows(%x: tensor<1x96x82x20xf32>) -> tensor<1x96x20x20xf32> {
  %pad = te.compute "pad" [n: 1, c: 96, y: 84, x: 20] : tensor<1x96x84x20xf32> {
    %p = te.if_then_else [y - 1 >= 0, -y + 82 >= 0] : f32 {
      %v = te.read %x[n, c, y - 1, x] : tensor<1x96x82x20xf32>
      te.yield %v : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    te.yield %p : f32
  }
  %sum = te.compute "sum" [n: 1, c: 96, y: 20, x: 20] reduce [r: 65] : tensor<1x96x20x20xf32> {
    %v = te.read %pad[n, c, y + r, x] : tensor<1x96x84x20xf32>
    te.reduce add %v : f32
  }
  te.return %sum : tensor<1x96x20x20xf32>
}

// Where they are straight-line code, that knows which of its rows are padding.
// CHECK-LABEL: schedule.sequence @straight
// CHECK-NEXT:  [[PAD:%pad[_0-9]*]], {{.*}} = schedule.stage "pad"
// CHECK-NEXT:  schedule.compute_inline [[PAD]]
// CHECK:       schedule.set_scope %{{.*}} "register"
// CHECK-NOT:   masked
te.kernel @straight(%x: tensor<1x96x20x20xf32>) -> tensor<1x96x20x20xf32> {
  %pad = te.compute "pad" [n: 1, c: 96, y: 24, x: 20] : tensor<1x96x24x20xf32> {
    %p = te.if_then_else [y - 2 >= 0, -y + 21 >= 0] : f32 {
      %v = te.read %x[n, c, y - 2, x] : tensor<1x96x20x20xf32>
      te.yield %v : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    te.yield %p : f32
  }
  %sum = te.compute "sum" [n: 1, c: 96, y: 20, x: 20] reduce [r: 5] : tensor<1x96x20x20xf32> {
    %v = te.read %pad[n, c, y + r, x] : tensor<1x96x24x20xf32>
    te.reduce add %v : f32
  }
  te.return %sum : tensor<1x96x20x20xf32>
}

// Where much is padding, loops are cut.
// CHECK-LABEL: schedule.sequence @cut
// CHECK-NEXT:  [[PAD:%pad[_0-9]*]], {{.*}} = schedule.stage "pad"
// CHECK-NEXT:  schedule.compute_inline [[PAD]]
te.kernel @cut(%x: tensor<1x96x20x20xf32>) -> tensor<1x96x20x20xf32> {
  %pad = te.compute "pad" [n: 1, c: 96, y: 84, x: 20] : tensor<1x96x84x20xf32> {
    %p = te.if_then_else [y - 32 >= 0, -y + 51 >= 0] : f32 {
      %v = te.read %x[n, c, y - 32, x] : tensor<1x96x20x20xf32>
      te.yield %v : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    te.yield %p : f32
  }
  %sum = te.compute "sum" [n: 1, c: 96, y: 20, x: 20] reduce [r: 65] : tensor<1x96x20x20xf32> {
    %v = te.read %pad[n, c, y + r, x] : tensor<1x96x84x20xf32>
    te.reduce add %v : f32
  }
  te.return %sum : tensor<1x96x20x20xf32>
}

// What two sums read is padded once.
// CHECK-LABEL: schedule.sequence @two_readers
// CHECK:       [[PAD:%pad[_0-9]*]], {{.*}} = schedule.stage "pad"
// CHECK-NEXT:  schedule.vectorize
te.kernel @two_readers(%x: tensor<1x96x20x20xf32>) -> (tensor<1x96x20x20xf32>, tensor<1x96x19x20xf32>) {
  %pad = te.compute "pad" [n: 1, c: 96, y: 84, x: 20] : tensor<1x96x84x20xf32> {
    %p = te.if_then_else [y - 32 >= 0, -y + 51 >= 0] : f32 {
      %v = te.read %x[n, c, y - 32, x] : tensor<1x96x20x20xf32>
      te.yield %v : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    te.yield %p : f32
  }
  %sum = te.compute "sum" [n: 1, c: 96, y: 20, x: 20] reduce [r: 65] : tensor<1x96x20x20xf32> {
    %v = te.read %pad[n, c, y + r, x] : tensor<1x96x84x20xf32>
    te.reduce add %v : f32
  }
  %other = te.compute "other" [m: 1, d: 96, i: 19, j: 20] reduce [s: 66] : tensor<1x96x19x20xf32> {
    %v = te.read %pad[m, d, i + s, j] : tensor<1x96x84x20xf32>
    te.reduce add %v : f32
  }
  te.return %sum, %other : tensor<1x96x20x20xf32>, tensor<1x96x19x20xf32>
}

// A single axis becomes lanes, which should not meet the padding one by one: they are loaded under masks, or before.
// CHECK-LABEL: schedule.sequence @single_axis
// CHECK:       schedule.vectorize %{{.*}} masked
// NARROW-LABEL: schedule.sequence @single_axis
// NARROW:       [[PAD:%pad[_0-9]*]], {{.*}} = schedule.stage "pad"
// NARROW-NEXT:  schedule.vectorize
// MASKS-LABEL: schedule.sequence @single_axis
// MASKS-NEXT:  [[PAD:%pad[_0-9]*]], {{.*}} = schedule.stage "pad"
// MASKS-NEXT:  schedule.compute_inline [[PAD]]
// MASKS:       schedule.set_scope [[SUM:%.*]] "register"
// MASKS:       schedule.vectorize %{{.*}} masked
te.kernel @single_axis(%x: tensor<1x4096xf32>) -> tensor<1x4096xf32> {
  %pad = te.compute "pad" [c: 1, x: 4100] : tensor<1x4100xf32> {
    %p = te.if_then_else [x - 2 >= 0, -x + 4097 >= 0] : f32 {
      %v = te.read %x[c, x - 2] : tensor<1x4096xf32>
      te.yield %v : f32
    } else {
      %zero = arith.constant 0.0 : f32
      te.yield %zero : f32
    }
    te.yield %p : f32
  }
  %sum = te.compute "sum" [c: 1, x: 4096] reduce [r: 5] : tensor<1x4096xf32> {
    %v = te.read %pad[c, x + r] : tensor<1x4100xf32>
    te.reduce add %v : f32
  }
  te.return %sum : tensor<1x4096xf32>
}

// Filters fill the vectors where rows of an image do not; their results are transposed, to be stored in rows: the
// points of a row follow each other right outside the lanes.

// CHECK-LABEL: schedule.sequence @points
// CHECK:       [[O:%o[_0-9]*]], [[X:%x[_0-9]*]], %{{[_a-z0-9]+}} = schedule.stage "points" [o, x, c]
// CHECK:       [[Oo:%o[_a-z0-9]*]], [[Oi:%o[_a-z0-9]*]] = schedule.split [[O]] factor 16
// CHECK:       [[V:%o[_a-z0-9]*]], [[L:%o[_a-z0-9]*]] = schedule.split [[Oi]] factor 8
// CHECK:       [[Xo:%x[_a-z0-9]*]], [[Xi:%x[_a-z0-9]*]] = schedule.split [[X]] factor 5
// CHECK:       schedule.reorder {{.*}}, [[V]], [[Xi]], [[L]]
// CHECK:       schedule.vectorize [[L]]
te.kernel @points(%x: tensor<64x5xf32>, %w: tensor<64x64xf32>) -> tensor<64x5xf32> {
  %y = te.compute "points" [o: 64, x: 5] reduce [c: 64] : tensor<64x5xf32> {
    %a = te.read %x[c, x] : tensor<64x5xf32>
    %b = te.read %w[c, o] : tensor<64x64xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<64x5xf32>
}

// Columns that become rows: a line of them at a time, in the innermost loop along what is side by side in memory, so that
// `loop-transpose` finds both.

// CHECK-LABEL: schedule.sequence @columns
// CHECK: %[[OUTER:.*]], %[[LANE:.*]] = schedule.split %j{{.*}} factor 16 tail partition
// CHECK: schedule.reorder %{{.*}}, %[[OUTER]], %i{{.*}}, %[[LANE]]
// CHECK: schedule.vectorize %[[LANE]]
te.kernel @columns(%x: tensor<5x61x48xf32>) -> tensor<5x48x61xf32> {
  %y = te.compute "y" [n: 5, i: 48, j: 61] : tensor<5x48x61xf32> {
    %a = te.read %x[n, j, i] : tensor<5x61x48xf32>
    te.yield %a : f32
  }
  te.return %y : tensor<5x48x61xf32>
}

// Not columns that fill no line.

// CHECK-LABEL: schedule.sequence @few_columns
// CHECK-NOT: schedule.split
// CHECK: schedule.vectorize %j
te.kernel @few_columns(%x: tensor<5x12x48xf32>) -> tensor<5x48x12xf32> {
  %y = te.compute "y" [n: 5, i: 48, j: 12] : tensor<5x48x12xf32> {
    %a = te.read %x[n, j, i] : tensor<5x12x48xf32>
    te.yield %a : f32
  }
  te.return %y : tensor<5x48x12xf32>
}

// Every second pixel is copied, since sums read it often. Where channels are summed while filters are the lanes, the copy
// is stored in lines of channels; one whose channels are its last axis is in lines already.

// CHECK-LABEL: schedule.sequence @lines
// CHECK: schedule.cache_write %pixels "global" [n, c.outer, y, x, c.inner]
// CHECK-LABEL: schedule.sequence @last
// CHECK-NOT: c.inner
te.kernel @lines(%x: tensor<1x32x14x14xf32>, %w: tensor<32x64xf32>) -> tensor<1x64x7x7xf32> {
  %pixels = te.compute "pixels" [n: 1, c: 32, y: 7, x: 7] : tensor<1x32x7x7xf32> {
    %v = te.read %x[n, c, 2 * y, 2 * x] : tensor<1x32x14x14xf32>
    te.yield %v : f32
  }
  %y = te.compute "conv" [n: 1, o: 64, y: 7, x: 7] reduce [c: 32] : tensor<1x64x7x7xf32> {
    %a = te.read %pixels[n, c, y, x] : tensor<1x32x7x7xf32>
    %f = te.read %w[c, o] : tensor<32x64xf32>
    %p = arith.mulf %a, %f : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<1x64x7x7xf32>
}
te.kernel @last(%x: tensor<1x14x14x64xf32>, %w: tensor<32x64xf32>) -> tensor<1x64x7x7xf32> {
  %pixels = te.compute "pixels" [n: 1, y: 7, x: 7, c: 32] : tensor<1x7x7x32xf32> {
    %v = te.read %x[n, 2 * y, 2 * x, 2 * c] : tensor<1x14x14x64xf32>
    te.yield %v : f32
  }
  %y = te.compute "conv" [n: 1, o: 64, y: 7, x: 7] reduce [c: 32] : tensor<1x64x7x7xf32> {
    %a = te.read %pixels[n, y, x, c] : tensor<1x7x7x32xf32>
    %f = te.read %w[c, o] : tensor<32x64xf32>
    %p = arith.mulf %a, %f : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<1x64x7x7xf32>
}

// Of the last tile's last vector, lanes without a result are computed from zeros, where loads have masks.
// CHECK-LABEL: schedule.sequence @lanes_left
// CHECK: %cache{{.*}}, %{{.*}}, [[J:%[a-z0-9_]+]], %{{.*}} = schedule.cache_write
// CHECK: schedule.pad_to_multiple [[J]] factor 8
// CHECK: schedule.vectorize %{{.*}} masked
// MASKS-LABEL: schedule.sequence @lanes_left
// MASKS: schedule.pad_to_multiple %{{.*}} factor 16
// NARROW-LABEL: schedule.sequence @lanes_left
// NARROW-NOT: pad_to_multiple
te.kernel @lanes_left(%x: tensor<24x64xf32>, %w: tensor<4x64x16xf32>) -> tensor<24x60xf32> {
  %y = te.compute "y" [i: 24, j: 60] reduce [k: 64] : tensor<24x60xf32> {
    %a = te.read %x[i, k] : tensor<24x64xf32>
    %b = te.read %w[j floordiv 16, k, j mod 16] : tensor<4x64x16xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<24x60xf32>
}

// Tiles begin where blocks of the weights do, even if others leave no rest.
// CHECK-LABEL: schedule.sequence @where_blocks_begin
// CHECK: schedule.split %{{.*}} factor 48 tail partition
te.kernel @where_blocks_begin(%x: tensor<1x1024xf32>, %w: tensor<21x1024x48xf32>) -> tensor<1x1000xf32> {
  %y = te.compute "y" [i: 1, j: 1000] reduce [k: 1024] : tensor<1x1000xf32> {
    %a = te.read %x[i, k] : tensor<1x1024xf32>
    %b = te.read %w[j floordiv 48, k, j mod 48] : tensor<21x1024x48xf32>
    %p = arith.mulf %a, %b : f32
    te.reduce add %p : f32
  }
  te.return %y : tensor<1x1000xf32>
}
