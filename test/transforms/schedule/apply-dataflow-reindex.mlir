// RUN: opt-tool %s -p schedule-apply-dataflow --check-semantics | filecheck %s

// reindex: a convolution reads a copy of its image that has a dimension for each position and each tap. The stage that
// pads is inlined into the copy: what multiplies asks nothing.

// CHECK-LABEL: te.kernel @conv
// CHECK-NEXT: te.compute "pad.shared" [ry: 3, y: 7] : tensor<3x7xf32>
// CHECK-NEXT:   te.if_then_else [2 * y + ry - 1 >= 0, -2 * y - ry + 13 >= 0] : f32 {
// CHECK-NEXT:     te.read %x{{.*}}[2 * y + ry - 1] : tensor<13xf32>
// CHECK:      te.compute "conv" [o: 5, y: 7] reduce [ry: 3]
// CHECK-NEXT:   te.read %pad_shared{{.*}}[ry, y] : tensor<3x7xf32>
// CHECK-NEXT:   te.read %w{{.*}}[o, ry]
// CHECK-LABEL: schedule.sequence @conv
// CHECK:      %[[COPY:.*]], %{{.*}}, %[[Y:.*]] = schedule.stage "pad.shared" [ry, y]
// CHECK-NEXT: schedule.set_scope %[[COPY]] "shared"
// CHECK:      schedule.split %[[Y]] factor 4
te.kernel @conv(%x: tensor<13xf32>, %w: tensor<5x3xf32>) -> tensor<5x7xf32> {
  %pad = te.compute "pad" [y: 15] : tensor<15xf32> {
    %v = te.if_then_else [y - 1 >= 0, 13 - y >= 0] : f32 {
      %e = te.read %x[y - 1] : tensor<13xf32>
      te.yield %e : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %v : f32
  }
  %conv = te.compute "conv" [o: 5, y: 7] reduce [ry: 3] : tensor<5x7xf32> {
    %a = te.read %pad[2 * y + ry] : tensor<15xf32>
    %f = te.read %w[o, ry] : tensor<5x3xf32>
    %p = arith.mulf %a, %f : f32
    te.reduce add %p : f32
  }
  te.return %conv : tensor<5x7xf32>
}
schedule.sequence @conv {
  %conv, %o, %y, %ry = schedule.stage "conv" [o, y, ry]
  %pad, %p = schedule.stage "pad" [y]
  %copy, %cr, %cy = schedule.reindex %pad "shared" reader(%conv) [ry, y]
  schedule.compute_inline %pad
  %cyo, %cyi = schedule.split %cy factor 4
}

// An element that is read twice is copied once; one that no axis decides has a copy without dimensions. Axes of the copy
// that were fused become a layout as those of any stage.

// CHECK-LABEL: te.kernel @square
// CHECK-NEXT: te.compute "x.local.shared" [k.i: 12]
// CHECK-NEXT:   te.read %x{{.*}}[k.i mod 3, k.i floordiv 3]
// CHECK:      te.compute "c.local" []
// CHECK-NEXT:   te.read %c{{.*}}[1]
// CHECK:      te.compute "y" [i: 3] reduce [k: 4]
// CHECK-NEXT:   te.read %x_local_shared{{.*}}[3 * k + i] : tensor<12xf32>
// CHECK-NEXT:   te.read %x_local_shared{{.*}}[3 * k + i] : tensor<12xf32>
// CHECK-NEXT:   te.read %c_local{{.*}}[] : tensor<f32>
te.kernel @square(%x: tensor<3x4xf32>, %c: tensor<2xf32>) -> tensor<3xf32> {
  %y = te.compute "y" [i: 3] reduce [k: 4] : tensor<3xf32> {
    %a = te.read %x[i, k] : tensor<3x4xf32>
    %b = te.read %x[i, k] : tensor<3x4xf32>
    %f = te.read %c[1] : tensor<2xf32>
    %p = arith.mulf %a, %b : f32
    %q = arith.mulf %p, %f : f32
    te.reduce add %q : f32
  }
  te.return %y : tensor<3xf32>
}
schedule.sequence @square {
  %y, %i, %k = schedule.stage "y" [i, k]
  %x = schedule.argument 0
  %copy, %ck, %ci = schedule.reindex %x "local" reader(%y) [k, i]
  %f = schedule.fuse %ck, %ci
  %cache, %cf = schedule.cache_write %copy "shared" [k.i]
  schedule.compute_inline %copy
  %c = schedule.argument 1
  %d = schedule.reindex %c "local" reader(%y) []
}

// Extents of 0 and 1 are dimensions like others.

// CHECK-LABEL: te.kernel @none
// CHECK-NEXT: te.compute "x.local" [k: 0, i: 1] : tensor<0x1xf32>
te.kernel @none(%x: tensor<1x0xf32>) -> tensor<1xf32> {
  %y = te.compute "y" [i: 1] reduce [k: 0] : tensor<1xf32> {
    %a = te.read %x[i, k] : tensor<1x0xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<1xf32>
}
schedule.sequence @none {
  %y, %i, %k = schedule.stage "y" [i, k]
  %x = schedule.argument 0
  %copy, %ck, %ci = schedule.reindex %x "local" reader(%y) [k, i]
}
