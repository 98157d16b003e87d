// RUN: opt-tool %s -p host-insert-waits | filecheck %s

loop.kernel @k ins(%x: memref<4xf32>) outs(%y: memref<4xf32>)

// What one kernel of a device makes is read by the next without the host; it waits where it reads.
// CHECK-LABEL: func.func @read
// CHECK:         loop.call @k
// CHECK-NEXT:    loop.call @k
// CHECK-NEXT:    loop.wait "npu0"
// CHECK-NEXT:    "memref.copy"(%b, %y)
// CHECK-NEXT:    func.return
func.func @read(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32, #tilework.device<"npu0">>
  %b = memref.alloc() : memref<4xf32, #tilework.device<"npu0">>
  "memref.copy"(%x, %a) : (memref<4xf32>, memref<4xf32, #tilework.device<"npu0">>) -> ()
  loop.call @k ins(%a) outs(%b) : memref<4xf32, #tilework.device<"npu0">>, memref<4xf32, #tilework.device<"npu0">>
  loop.call @k ins(%b) outs(%a) : memref<4xf32, #tilework.device<"npu0">>, memref<4xf32, #tilework.device<"npu0">>
  "memref.copy"(%b, %y) : (memref<4xf32, #tilework.device<"npu0">>, memref<4xf32>) -> ()
  func.return
}

// A device that is busy when the function returns still uses memory of the caller's.
// CHECK-LABEL: func.func @unread
// CHECK:         loop.call @k ins(%a) outs(%b)
// CHECK-NEXT:    loop.call @k ins(%x) outs(%y)
// CHECK-NEXT:    loop.wait "npu0"
// CHECK-NEXT:    func.return
func.func @unread(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32, #tilework.device<"npu0">>
  %b = memref.alloc() : memref<4xf32, #tilework.device<"npu0">>
  loop.call @k ins(%a) outs(%b) : memref<4xf32, #tilework.device<"npu0">>, memref<4xf32, #tilework.device<"npu0">>
  loop.call @k ins(%x) outs(%y) : memref<4xf32>, memref<4xf32>
  func.return
}

// In a loop the device is busy from the second iteration on.
// CHECK-LABEL: func.func @in_a_loop
// CHECK:         loop.for
// CHECK-NEXT:      loop.wait "npu0"
// CHECK-NEXT:      "memref.copy"(%b, %y)
// CHECK-NEXT:      loop.call @k
// CHECK:         loop.wait "npu0"
// CHECK-NEXT:    func.return
func.func @in_a_loop(%x: memref<4xf32>, %y: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32, #tilework.device<"npu0">>
  %b = memref.alloc() : memref<4xf32, #tilework.device<"npu0">>
  loop.for %i = 0 to 3 "step" {
    "memref.copy"(%b, %y) : (memref<4xf32, #tilework.device<"npu0">>, memref<4xf32>) -> ()
    loop.call @k ins(%a) outs(%b) : memref<4xf32, #tilework.device<"npu0">>, memref<4xf32, #tilework.device<"npu0">>
  }
  func.return
}

// A program of the host alone waits for nothing.
// CHECK-LABEL: func.func @host
// CHECK-NOT:     loop.wait
func.func @host(%x: memref<4xf32>, %y: memref<4xf32>) {
  loop.call @k ins(%x) outs(%y) : memref<4xf32>, memref<4xf32>
  func.return
}

// The pattern alone; a function that nothing has to be waited for in stays as it is.
// RUN: opt-tool %s --apply-pattern host-insert-waits.wait-first | filecheck %s --check-prefix=ALONE
// ALONE-LABEL: func.func @read
// ALONE:         loop.wait "npu0"
// ALONE-NEXT:    "memref.copy"(%b, %y)
// ALONE-LABEL: func.func @host
// ALONE-NOT:     loop.wait
