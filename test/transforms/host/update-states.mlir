// RUN: opt-tool %s -p host-update-states --split-input-file | filecheck %s
// RUN: opt-tool %s --apply-pattern host-update-states.update-in-place --split-input-file | filecheck %s

// The kernel reads every element before it writes it: it may write over the state.
// CHECK-LABEL: func.func @over(
// CHECK-NEXT:    loop.for %i = 0 to 5 "step" {
// CHECK-NEXT:      loop.call @cell ins(%state, %x) outs(%state)
// CHECK-NEXT:    }
loop.kernel @cell ins(%a: memref<8xf32>, %b: memref<8xf32>) outs(%c: memref<8xf32>) in_place [0 -> 0]
func.func @over(%x: memref<8xf32>, %state: memref<8xf32>) {
  loop.for %i = 0 to 5 "step" {
    %next = memref.alloc() : memref<8xf32>
    loop.call @cell ins(%state, %x) outs(%next) : memref<8xf32>, memref<8xf32>, memref<8xf32>
    "memref.copy"(%next, %state) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  func.return
}

// -----

// What reads the next state behind the call reads it where it lies; in a loop whose end data decide, too.
// CHECK-LABEL: func.func @read_behind(
// CHECK:         scf.while
// CHECK:         do {
// CHECK-NEXT:      loop.call @exp ins(%state) outs(%state)
// CHECK-NEXT:      loop.call @exp ins(%state) outs(%y)
// CHECK-NEXT:      scf.yield
loop.kernel @exp ins(%a: memref<8xf32>) outs(%b: memref<8xf32>) in_place [0 -> 0]
func.func @read_behind(%c: memref<i1>, %state: memref<8xf32>, %y: memref<8xf32>) {
  scf.while () : () -> () {
    %0 = memref.load %c[] : memref<i1>
    scf.condition(%0)
  } do {
    %next = memref.alloc() : memref<8xf32>
    loop.call @exp ins(%state) outs(%next) : memref<8xf32>, memref<8xf32>
    loop.call @exp ins(%next) outs(%y) : memref<8xf32>, memref<8xf32>
    "memref.copy"(%next, %state) : (memref<8xf32>, memref<8xf32>) -> ()
    scf.yield
  }
  func.return
}

// -----

// A kernel that does not read the state may write over it.
// CHECK-LABEL: func.func @anew(
// CHECK-NEXT:    loop.for
// CHECK-NEXT:      loop.call @fill ins(%x) outs(%state)
// CHECK-NEXT:    }
loop.kernel @fill ins(%a: memref<8xf32>) outs(%b: memref<8xf32>)
func.func @anew(%x: memref<8xf32>, %state: memref<8xf32>) {
  loop.for %i = 0 to 5 "step" {
    %next = memref.alloc() : memref<8xf32>
    loop.call @fill ins(%x) outs(%next) : memref<8xf32>, memref<8xf32>
    "memref.copy"(%next, %state) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  func.return
}

// -----

// A kernel that may read an element when it is written, or an old state that is read behind the call, or through a view:
// the copy stays.
// CHECK-LABEL: func.func @kept(
// CHECK-NEXT:    loop.for
// CHECK-NEXT:      %next = memref.alloc()
// CHECK-NEXT:      loop.call @reverse ins(%state) outs(%next)
// CHECK-NEXT:      "memref.copy"(%next, %state)
// CHECK:         loop.for
// CHECK-NEXT:      %then = memref.alloc()
// CHECK-NEXT:      loop.call @exp ins(%state) outs(%then)
// CHECK-NEXT:      loop.call @exp ins(%state) outs(%y)
// CHECK-NEXT:      "memref.copy"(%then, %state)
// CHECK:         loop.for
// CHECK:           %last = memref.alloc()
// CHECK-NEXT:      loop.call @exp ins(%view) outs(%last)
// CHECK-NEXT:      "memref.copy"(%last, %state)
loop.kernel @reverse ins(%a: memref<8xf32>) outs(%b: memref<8xf32>)
loop.kernel @exp ins(%a: memref<8xf32>) outs(%b: memref<8xf32>) in_place [0 -> 0]
func.func @kept(%state: memref<8xf32>, %y: memref<8xf32>) {
  loop.for %i = 0 to 5 "step" {
    %next = memref.alloc() : memref<8xf32>
    loop.call @reverse ins(%state) outs(%next) : memref<8xf32>, memref<8xf32>
    "memref.copy"(%next, %state) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  loop.for %j = 0 to 5 "step" {
    %then = memref.alloc() : memref<8xf32>
    loop.call @exp ins(%state) outs(%then) : memref<8xf32>, memref<8xf32>
    loop.call @exp ins(%state) outs(%y) : memref<8xf32>, memref<8xf32>
    "memref.copy"(%then, %state) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  loop.for %k = 0 to 5 "step" {
    %view = memref.reinterpret_cast %state to offset: [0], sizes: [8], strides: [1] : memref<8xf32> to memref<8xf32>
    %last = memref.alloc() : memref<8xf32>
    loop.call @exp ins(%view) outs(%last) : memref<8xf32>, memref<8xf32>
    "memref.copy"(%last, %state) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  func.return
}

// -----

// States that change places: the old one is needed when the other has been written.
// CHECK-LABEL: func.func @places(
// CHECK:           loop.call @exp ins(%b) outs(%next)
// CHECK-NEXT:      "memref.copy"(%a, %b)
// CHECK-NEXT:      "memref.copy"(%next, %a)
loop.kernel @exp ins(%a: memref<8xf32>) outs(%b: memref<8xf32>) in_place [0 -> 0]
func.func @places(%a: memref<8xf32>, %b: memref<8xf32>) {
  loop.for %i = 0 to 5 "step" {
    %next = memref.alloc() : memref<8xf32>
    loop.call @exp ins(%b) outs(%next) : memref<8xf32>, memref<8xf32>
    "memref.copy"(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
    "memref.copy"(%next, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  }
  func.return
}
