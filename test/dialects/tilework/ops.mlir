// RUN: opt-tool %s --verify-roundtrip | filecheck %s

// CHECK: func.func @on_a_device(%x: memref<4xf32, #tilework.device<"npu0">>)
func.func @on_a_device(%x: memref<4xf32, #tilework.device<"npu0">>) {
  func.return
}
