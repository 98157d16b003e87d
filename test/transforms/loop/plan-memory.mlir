// RUN: opt-tool %s -p loop-plan-memory --split-input-file | filecheck %s

// Five exponentials in a row and an addition, whose kernels say nothing of in-place: two temporaries alternate.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[ARENA:[a-z]+]]: memref<?xi8> {tilework.arena}) attributes {tilework.arena_bytes = #graph.dims<[128]>} {
// CHECK-NEXT:    %[[O:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %[[A:.*]] = memref.view %[[ARENA]]{{.}}%[[O]]{{.*}} : memref<?xi8> to memref<10xf32>
// CHECK-NEXT:    %[[P:.*]] = arith.constant 64 : index
// CHECK-NEXT:    %[[B:.*]] = memref.view %[[ARENA]]{{.}}%[[P]]{{.*}} : memref<?xi8> to memref<10xf32>
// CHECK-NEXT:    arith.constant 0
// CHECK:         arith.constant 64
// CHECK:         arith.constant 0
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.dealloc
loop.kernel @exp ins(%a: memref<10xf32>) outs(%b: memref<10xf32>)
loop.kernel @add ins(%a: memref<10xf32>, %b: memref<1xf32>) outs(%c: memref<10xf32>)
func.func @chain(%x: memref<10xf32>, %bias: memref<1xf32>, %y: memref<10xf32>) {
  %a = memref.alloc() : memref<10xf32>
  %b = memref.alloc() : memref<10xf32>
  %c = memref.alloc() : memref<10xf32>
  %d = memref.alloc() : memref<10xf32>
  %e = memref.alloc() : memref<10xf32>
  loop.call @exp ins(%x) outs(%a) : memref<10xf32>, memref<10xf32>
  loop.call @exp ins(%a) outs(%b) : memref<10xf32>, memref<10xf32>
  loop.call @exp ins(%b) outs(%c) : memref<10xf32>, memref<10xf32>
  loop.call @exp ins(%c) outs(%d) : memref<10xf32>, memref<10xf32>
  loop.call @exp ins(%d) outs(%e) : memref<10xf32>, memref<10xf32>
  loop.call @add ins(%e, %bias) outs(%y) : memref<10xf32>, memref<1xf32>, memref<10xf32>
  memref.dealloc %a : memref<10xf32>
  func.return
}

// -----

// The same chain with kernels that can be seen to work in place: one temporary. The arguments are never overwritten.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[64]>
// CHECK-NOT:     arith.constant 64
loop.kernel @exp ins(%x: memref<10xf32>) outs(%y: memref<10xf32>) {
  loop.for %i = 0 to 10 "i" {
    %v = loop.load %x[%i] : memref<10xf32>
    %w = math.exp %v : f32
    loop.store %w, %y[%i] : memref<10xf32>
  }
}
func.func @in_place(%x: memref<10xf32>, %y: memref<10xf32>) {
  %a = memref.alloc() : memref<10xf32>
  %b = memref.alloc() : memref<10xf32>
  %c = memref.alloc() : memref<10xf32>
  loop.call @exp ins(%x) outs(%a) : memref<10xf32>, memref<10xf32>
  loop.call @exp ins(%a) outs(%b) : memref<10xf32>, memref<10xf32>
  loop.call @exp ins(%b) outs(%c) : memref<10xf32>, memref<10xf32>
  loop.call @exp ins(%c) outs(%y) : memref<10xf32>, memref<10xf32>
  func.return
}

// -----

// Not in place: %a is used again (by @two, and there as an input that its output may not overwrite).
// CHECK-LABEL: func.func @used_again(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[192]>
loop.kernel @one ins(%a: memref<10xf32>) outs(%b: memref<10xf32>) in_place [0 -> 0]
loop.kernel @two ins(%a: memref<10xf32>, %b: memref<10xf32>) outs(%c: memref<10xf32>) in_place [0 -> 0]
func.func @used_again(%x: memref<10xf32>, %y: memref<10xf32>) {
  %a = memref.alloc() : memref<10xf32>
  %b = memref.alloc() : memref<10xf32>
  %c = memref.alloc() : memref<10xf32>
  loop.call @one ins(%x) outs(%a) : memref<10xf32>, memref<10xf32>
  loop.call @one ins(%a) outs(%b) : memref<10xf32>, memref<10xf32>
  loop.call @two ins(%a, %a) outs(%c) : memref<10xf32>, memref<10xf32>, memref<10xf32>
  loop.call @two ins(%b, %c) outs(%y) : memref<10xf32>, memref<10xf32>, memref<10xf32>
  func.return
}

// -----

// Views keep their buffer alive: both halves of %cat are written early and read late.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[128]>
// CHECK:         %[[CAT:.*]] = memref.view
// CHECK:         memref.subview %[[CAT]]
loop.kernel @half outs(%b: memref<8xf32, strided<[1]>>)
loop.kernel @all ins(%a: memref<16xf32>) outs(%b: memref<16xf32>)
func.func @views(%y: memref<16xf32>) {
  %cat = memref.alloc() : memref<16xf32>
  %low = memref.subview %cat[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %high = memref.subview %cat[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  %t = memref.alloc() : memref<16xf32>
  loop.call @half outs(%low) : memref<8xf32, strided<[1]>>
  loop.call @half outs(%high) : memref<8xf32, strided<[1], offset: 8>>
  loop.call @all ins(%cat) outs(%t) : memref<16xf32>, memref<16xf32>
  loop.call @all ins(%t) outs(%y) : memref<16xf32>, memref<16xf32>
  func.return
}

// -----

// Scratch is lent for the call, symbolic sizes give expressions. %t outlives the first call, its scratch does not.
// CHECK-LABEL: func.func @symbolic(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[384 * N]>
// CHECK:         %[[N:.*]] = memref.dim
// CHECK:         %[[T:.*]] = memref.view {{.*}}%[[N]]{{.}} : memref<?xi8> to memref<?x64xf32>
// CHECK:         %[[O:.*]] = loop.apply 256 * %[[N]]
// CHECK-NEXT:    %[[S:.*]] = memref.view %{{.*}}%[[O]]{{..}}%[[N]]{{.}} : memref<?xi8> to memref<?x32xf32>
// CHECK-NEXT:    loop.call @scratchy ins(%{{.*}}) outs(%[[T]]) scratch(%[[S]]) symbols(%{{.*}})
loop.kernel @scratchy ins(%a: memref<?x64xf32> [N, 64]) outs(%b: memref<?x64xf32> [N, 64]) scratch(%s: memref<?x32xf32> [N, 32]) symbols(%N)
func.func @symbolic(%x: memref<?x64xf32> {tilework.dims = #graph.dims<[N, 64]>}, %y: memref<?x64xf32> {tilework.dims = #graph.dims<[N, 64]>}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?x64xf32>
  %t = memref.alloc(%n) : memref<?x64xf32>
  loop.call @scratchy ins(%x) outs(%t) symbols(%n) : memref<?x64xf32>, memref<?x64xf32>
  loop.call @scratchy ins(%t) outs(%y) symbols(%n) : memref<?x64xf32>, memref<?x64xf32>
  func.return
}

// -----

// No temporaries, empty ones, and prime sizes that are rounded up; no kernel at all is a host function too.
// CHECK-LABEL: func.func @edges(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[64 * (N floordiv 16) + 64]>
// CHECK-LABEL: func.func @none(
// CHECK-SAME:    %{{.*}}: memref<?xi8> {tilework.arena}) attributes {tilework.arena_bytes = #graph.dims<[0]>} {
loop.kernel @fill outs(%b: memref<?xf32> [N]) symbols(%N)
loop.kernel @nothing outs(%b: memref<0xf32>)
func.func @edges(%x: memref<?xf32> {tilework.dims = #graph.dims<[N]>}) {
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %m = loop.apply %n + 1
  %e = memref.alloc() : memref<0xf32>
  loop.call @nothing outs(%e) : memref<0xf32>
  %t = memref.alloc(%m) : memref<?xf32>
  loop.call @fill outs(%t) symbols(%m) : memref<?xf32>
  loop.call @fill outs(%t) symbols(%m) : memref<?xf32>
  func.return
}
func.func @none(%x: memref<4xf32>) {
  func.return
}
func.func private @declared(memref<4xf32>)

// Every memory has an arena of its own, and what kernels of a device borrow is in its memory.
// CHECK-LABEL: func.func @devices(
// CHECK-SAME:    %arena: memref<?xi8> {tilework.arena}, %arena_1: memref<?xi8, #tilework.device<"npu0">> {tilework.arena}
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[64, 192]>
// CHECK:         %a = memref.view %arena[
// CHECK:         %d = memref.view %arena_1[
// CHECK:         memref.view %arena_1[
// CHECK:         loop.call @lent ins(%d) outs(%e) scratch(%{{.*}}) : memref<16xf32, #tilework.device<"npu0">>
loop.kernel @lent ins(%x: memref<16xf32>) outs(%y: memref<16xf32>) scratch(%s: memref<16xf32>)
func.func @devices(%x: memref<16xf32>, %y: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  "memref.copy"(%x, %a) : (memref<16xf32>, memref<16xf32>) -> ()
  %d = memref.alloc() : memref<16xf32, #tilework.device<"npu0">>
  "memref.copy"(%a, %d) : (memref<16xf32>, memref<16xf32, #tilework.device<"npu0">>) -> ()
  %e = memref.alloc() : memref<16xf32, #tilework.device<"npu0">>
  loop.call @lent ins(%d) outs(%e) : memref<16xf32, #tilework.device<"npu0">>, memref<16xf32, #tilework.device<"npu0">>
  "memref.copy"(%e, %y) : (memref<16xf32, #tilework.device<"npu0">>, memref<16xf32>) -> ()
  func.return
}

// -----

// Sides of a choice are not run together: what they allocate shares memory.
// CHECK-LABEL: func.func @sides(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[64]>
// CHECK:         scf.if
// CHECK-NEXT:      %[[O:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %a = memref.view %{{.*}}%[[O]]
// CHECK:         } else {
// CHECK-NEXT:      %[[P:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %b = memref.view %{{.*}}%[[P]]
loop.kernel @exp ins(%a: memref<10xf32>) outs(%b: memref<10xf32>)
func.func @sides(%c: memref<i1>, %x: memref<10xf32>, %y: memref<10xf32>) {
  %0 = memref.load %c[] : memref<i1>
  scf.if %0 {
    %a = memref.alloc() : memref<10xf32>
    loop.call @exp ins(%x) outs(%a) : memref<10xf32>, memref<10xf32>
    loop.call @exp ins(%a) outs(%y) : memref<10xf32>, memref<10xf32>
  } else {
    %b = memref.alloc() : memref<10xf32>
    loop.call @exp ins(%x) outs(%b) : memref<10xf32>, memref<10xf32>
    loop.call @exp ins(%b) outs(%y) : memref<10xf32>, memref<10xf32>
  }
  func.return
}

// -----

// There is room for as much as a symbol is at most; without a limit, the allocation stays.
// CHECK-LABEL: func.func @named(
// CHECK-SAME:    tilework.arena_bytes = #graph.dims<[64 * ((N + 15) floordiv 16)]>
// CHECK:         %K = loop.symbol "K" = %{{.*}} at most [N]
// CHECK:         %t = memref.view %{{.*}}[%K] : memref<?xi8> to memref<?xf32>
// CHECK:         %L = loop.symbol "L"
// CHECK-NEXT:    %u = memref.alloc(%L) {tilework.at_run_time} : memref<?xf32>
loop.kernel @exp ins(%a: memref<?xf32> [M]) outs(%b: memref<?xf32> [M]) symbols(%M)
func.func @named(%n: memref<i64>, %x: memref<?xf32> {tilework.dims = #graph.dims<[N]>}) {
  %0 = memref.load %n[] : memref<i64>
  %1 = arith.index_cast %0 : i64 to index
  %K = loop.symbol "K" = %1 at most [N]
  %t = memref.alloc(%K) : memref<?xf32>
  loop.call @exp ins(%t) outs(%t) symbols(%K) : memref<?xf32>, memref<?xf32>
  %L = loop.symbol "L" = %1
  %u = memref.alloc(%L) : memref<?xf32>
  loop.call @exp ins(%u) outs(%u) symbols(%L) : memref<?xf32>, memref<?xf32>
  func.return
}
