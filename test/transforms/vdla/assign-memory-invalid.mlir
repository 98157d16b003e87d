// RUN: opt-tool %s -p vdla-assign-memory --target='vdla -inp-kib=1' --split-input-file --verify-diagnostics

func.func @too_large(%x: memref<16x1x16xi8>) {
  // expected-error@+1 {{the buffers in "vdla.inp" take 70 tiles, and it has 64: %a 40, %b 30; make the tiles of the schedule smaller}}
  %a = memref.alloca() : memref<40x1x16xi8, "vdla.inp">
  %b = memref.alloca() : memref<30x1x16xi8, "vdla.inp">
  func.return
}

// -----

func.func @open(%n: index) {
  // expected-error@+1 {{%a has an unknown size: its place cannot be fixed}}
  %a = memref.alloca(%n) : memref<?x1x16xi8, "vdla.inp">
  func.return
}
