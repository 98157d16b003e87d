// RUN: opt-tool %s -p loop-plan-memory --split-input-file | filecheck %s

// Three temporaries of an iteration, one after the other: two places are enough.
// CHECK-LABEL: func.func @inside(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[128]>
// CHECK:         loop.for
// CHECK-NEXT:      %[[O:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %a = memref.view %{{.*}}%[[O]]{{.*}} : memref<?xi8> to memref<10xf32>
// CHECK-NEXT:      %[[P:.*]] = arith.constant 64 : index
// CHECK-NEXT:      %b = memref.view %{{.*}}%[[P]]
// CHECK-NEXT:      %[[Q:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %c = memref.view %{{.*}}%[[Q]]
loop.kernel @exp ins(%a: memref<10xf32>) outs(%b: memref<10xf32>)
func.func @inside(%x: memref<10xf32>, %y: memref<10xf32>) {
  loop.for %i = 0 to 5 "step" {
    %a = memref.alloc() : memref<10xf32>
    %b = memref.alloc() : memref<10xf32>
    %c = memref.alloc() : memref<10xf32>
    loop.call @exp ins(%x) outs(%a) : memref<10xf32>, memref<10xf32>
    loop.call @exp ins(%a) outs(%b) : memref<10xf32>, memref<10xf32>
    loop.call @exp ins(%b) outs(%c) : memref<10xf32>, memref<10xf32>
    loop.call @exp ins(%c) outs(%y) : memref<10xf32>, memref<10xf32>
  }
  func.return
}

// -----

// What is made before a loop and read in it is read again in the next iteration: it lies apart from all in the loop,
// and no call writes over it. Behind the loop its place is free, and those inside it work in place.
// CHECK-LABEL: func.func @outside(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[128]>
// CHECK:         %[[O:.*]] = arith.constant [[KEPT:0|64]] : index
// CHECK-NEXT:    %kept = memref.view %{{.*}}%[[O]]
// CHECK:         loop.for
// CHECK-NOT:       arith.constant [[KEPT]] : index
// CHECK:           %a = memref.view
// CHECK-NOT:       arith.constant [[KEPT]] : index
// CHECK:           %b = memref.view
// CHECK:         }
loop.kernel @exp ins(%a: memref<10xf32>) outs(%b: memref<10xf32>) in_place [0 -> 0]
func.func @outside(%x: memref<10xf32>, %y: memref<10xf32>) {
  %kept = memref.alloc() : memref<10xf32>
  loop.call @exp ins(%x) outs(%kept) : memref<10xf32>, memref<10xf32>
  loop.for %i = 0 to 5 "step" {
    %a = memref.alloc() : memref<10xf32>
    %b = memref.alloc() : memref<10xf32>
    loop.call @exp ins(%kept) outs(%a) : memref<10xf32>, memref<10xf32>
    loop.call @exp ins(%a) outs(%b) : memref<10xf32>, memref<10xf32>
    loop.call @exp ins(%b) outs(%y) : memref<10xf32>, memref<10xf32>
  }
  func.return
}

// -----

// A state is written at the end of an iteration and read at the beginning of the next: it lies apart from what lives in
// between, though no access to it follows in the text.
// CHECK-LABEL: func.func @state(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[128]>
// CHECK:         loop.for
// CHECK:           %n = memref.view
// CHECK:           "memref.copy"(%n, %state)
loop.kernel @exp ins(%a: memref<10xf32>) outs(%b: memref<10xf32>) in_place [0 -> 0]
func.func @state(%x: memref<10xf32>) {
  %state = memref.alloc() : memref<10xf32>
  "memref.copy"(%x, %state) : (memref<10xf32>, memref<10xf32>) -> ()
  loop.for %i = 0 to 5 "step" {
    %n = memref.alloc() : memref<10xf32>
    loop.call @exp ins(%state) outs(%n) : memref<10xf32>, memref<10xf32>
    "memref.copy"(%n, %state) : (memref<10xf32>, memref<10xf32>) -> ()
  }
  func.return
}

// -----

// A loop in a loop: what an iteration of the outer one makes and the inner one reads lives through the inner one.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[128]>
// CHECK:         loop.for
// CHECK:           %[[O:.*]] = arith.constant [[KEPT:0|64]] : index
// CHECK-NEXT:      %kept = memref.view %{{.*}}%[[O]]
// CHECK:           loop.for
// CHECK-NOT:         arith.constant [[KEPT]] : index
// CHECK:             %a = memref.view
loop.kernel @exp ins(%a: memref<10xf32>) outs(%b: memref<10xf32>) in_place [0 -> 0]
func.func @nested(%x: memref<10xf32>, %y: memref<10xf32>) {
  loop.for %i = 0 to 5 "step" {
    %kept = memref.alloc() : memref<10xf32>
    loop.call @exp ins(%x) outs(%kept) : memref<10xf32>, memref<10xf32>
    loop.for %j = 0 to 3 "step" {
      %a = memref.alloc() : memref<10xf32>
      loop.call @exp ins(%kept) outs(%a) : memref<10xf32>, memref<10xf32>
      loop.call @exp ins(%a) outs(%y) : memref<10xf32>, memref<10xf32>
    }
  }
  func.return
}

// -----

// Views of a temporary made inside of a loop keep it alive through the whole of it.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[128]>
// CHECK:         %[[O:.*]] = arith.constant [[KEPT:0|64]] : index
// CHECK-NEXT:    %all = memref.view %{{.*}}%[[O]]
// CHECK:         loop.for
// CHECK-NOT:       arith.constant [[KEPT]] : index
// CHECK:           %t = memref.view
loop.kernel @fill outs(%b: memref<16xf32>)
loop.kernel @one ins(%a: memref<8xf32, strided<[1], offset: ?>>) outs(%b: memref<8xf32>)
loop.kernel @two ins(%a: memref<8xf32>) outs(%b: memref<8xf32>)
func.func @views(%y: memref<8xf32>) {
  %all = memref.alloc() : memref<16xf32>
  loop.call @fill outs(%all) : memref<16xf32>
  loop.for %i = 0 to 2 "step" {
    %at = loop.apply 8 * %i
    %part = memref.reinterpret_cast %all to offset: [%at], sizes: [8], strides: [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: ?>>
    %t = memref.alloc() : memref<8xf32>
    loop.call @one ins(%part) outs(%t) : memref<8xf32, strided<[1], offset: ?>>, memref<8xf32>
    loop.call @two ins(%t) outs(%y) : memref<8xf32>, memref<8xf32>
  }
  func.return
}
