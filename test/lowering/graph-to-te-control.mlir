// RUN: opt-tool %s --split-input-file --graph-fuse-operators --graph-to-te | filecheck %s

// Each side writes the result where it lies: a kernel does so itself, what is there already is copied.
// CHECK-LABEL: func.func @either(
// CHECK-NEXT:    [[C:%.*]] = memref.load %c[] : memref<i1>
// CHECK-NEXT:    scf.if [[C]] {
// CHECK-NEXT:      loop.call @relu ins(%x) outs(%output0)
// CHECK-NEXT:    } else {
// CHECK-NEXT:      "memref.copy"(%x, %output0)
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @either(%c: tensor<i1> {tilework.name = "c"}, %x: tensor<4xf32> {tilework.name = "x"}) -> tensor<4xf32> {
  %y = graph.if %c with (%x) : with (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %r = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// What is not read is not made: the side that would make it is empty.
// CHECK-LABEL: func.func @half(
// CHECK:         scf.if %{{.*}} {
// CHECK-NEXT:      loop.call @relu ins(%x) outs(%output0)
// CHECK-NEXT:    } else {
// CHECK-NEXT:      "memref.copy"(%x, %output0)
// CHECK-NEXT:    }
func.func @half(%c: tensor<i1> {tilework.name = "c"}, %x: tensor<4xf32> {tilework.name = "x"}) -> tensor<4xf32> {
  %y, %z = graph.if %c with (%x) : with (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    %r = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %r, %a : tensor<4xf32>, tensor<4xf32>
  } else {
  ^bb0(%a: tensor<4xf32>):
    graph.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  }
  func.return %y : tensor<4xf32>
}

// -----

// The state's buffer is that of the result, whether the loop goes on has one of its own, and runs are counted. The
// sequence has room for the limit; when the loop has ended, the symbol is bound, and the sequence begins there.
// CHECK-LABEL: func.func @again(
// CHECK:         %N = memref.dim %x
// CHECK-NEXT:    "memref.copy"(%x, %output0)
// CHECK-NEXT:    %again = memref.alloc() : memref<i1>
// CHECK-NEXT:    "memref.copy"(%c, %again)
// CHECK-NEXT:    [[ROOM:%.*]] = memref.alloc(%N) : memref<9x?xf32>
// CHECK-NEXT:    [[RUNS:%.*]] = scf.while ([[I:%.*]] = %c0) : (index) -> index {
// CHECK-NEXT:      [[MORE:%.*]] = memref.load %again[]
// CHECK:           [[BELOW:%.*]] = arith.cmpi slt, [[I]], %c9
// CHECK-NEXT:      [[GO:%.*]] = arith.andi [[MORE]], [[BELOW]] : i1
// CHECK-NEXT:      scf.condition([[GO]]) [[I]] : index
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0([[J:%.*]]: index):
// CHECK-NEXT:      [[AT:%.*]] = loop.apply [[J]] * %N
// CHECK-NEXT:      %y = memref.reinterpret_cast [[ROOM]] to offset: {{.}}[[AT]]]
// CHECK:           loop.call @less ins(%m) outs(%again)
// CHECK-NEXT:      loop.call @relu ins(%n) outs(%y)
// CHECK-NEXT:      "memref.copy"(%n, %output0)
// CHECK:         %K = loop.symbol "K" = [[RUNS]] at most [9]
// CHECK-NEXT:    %all = memref.reinterpret_cast [[ROOM]] to offset: [0], sizes: [%K, %N]
// CHECK-NEXT:    "memref.copy"(%all, %output1)
func.func @again(%c: tensor<i1> {tilework.name = "c"}, %x: tensor<?xf32, #graph.dims<[N]>> {tilework.name = "x"}) -> (tensor<?xf32, #graph.dims<[N]>>, tensor<?x?xf32, #graph.dims<[K, N]>>) {
  %end, %all = graph.while %c at most [9] counting "K" from (%x) : from (tensor<?xf32, #graph.dims<[N]>>) -> (tensor<?xf32, #graph.dims<[N]>>, tensor<?x?xf32, #graph.dims<[K, N]>>) {
  ^bb0(%s: tensor<?xf32, #graph.dims<[N]>>):
    %n = graph.add %s, %s : (tensor<?xf32, #graph.dims<[N]>>, tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>>
    %m = graph.reduce_max %n {axes = array<i64: 0>, keep_dims = false} : (tensor<?xf32, #graph.dims<[N]>>) -> tensor<f32>
    %t = arith.constant dense<10.0> : tensor<f32>
    %again = graph.less %m, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %y = graph.relu %n : (tensor<?xf32, #graph.dims<[N]>>) -> tensor<?xf32, #graph.dims<[N]>>
    graph.yield %again, %n, %y : tensor<i1>, tensor<?xf32, #graph.dims<[N]>>, tensor<?xf32, #graph.dims<[N]>>
  }
  func.return %end, %all : tensor<?xf32, #graph.dims<[N]>>, tensor<?x?xf32, #graph.dims<[K, N]>>
}

// -----

// A number is checked where it becomes a size.
// CHECK-LABEL: func.func @size(
// CHECK:         [[N:%.*]] = memref.load %n[] : memref<i64>
// CHECK-NEXT:    [[I:%.*]] = arith.index_cast [[N]] : i64 to index
// CHECK:         cf.assert %{{.*}}, "graph.size: the size K, which data tell, is not from 0 to N"
// CHECK-NEXT:    %K = loop.symbol "K" = [[I]] at most [N]
// CHECK:         loop.call @section ins(%x, %k) outs(%output0) symbols(%N, %K)
func.func @size(%n: tensor<i64> {tilework.name = "n"}, %x: tensor<?xf32, #graph.dims<[N]>> {tilework.name = "x"}) -> tensor<?xf32, #graph.dims<[K]>> {
  %k = graph.size "K" = %n at most [N] : tensor<i64>
  %s = graph.section %x, %k {axis = 0 : i64, start = #graph.dims<[0]>, size = #graph.dims<[K]>} : (tensor<?xf32, #graph.dims<[N]>>, tensor<?xi1, #graph.dims<[K]>>) -> tensor<?xf32, #graph.dims<[K]>>
  func.return %s : tensor<?xf32, #graph.dims<[K]>>
}

// -----

// An output of which nothing says how large it is at most is copied to when it is there.
// CHECK-LABEL: func.func @open_size(
// CHECK:         cf.assert %{{.*}}, "graph.size: the size K, which data tell, is less than 0"
// CHECK-NEXT:    %K = loop.symbol "K" = %{{[0-9]+}}{{$}}
// CHECK:         %s = memref.alloc(%K) : memref<?xi64>
// CHECK-NEXT:    loop.call @range ins(%k) outs(%s)
// CHECK-NEXT:    "memref.copy"(%s, %output0)
func.func @open_size(%n: tensor<i64> {tilework.name = "n"}) -> tensor<?xi64, #graph.dims<[K]>> {
  %k = graph.size "K" = %n : tensor<i64>
  %s = graph.range %k {first = #graph.dims<[0]>, count = #graph.dims<[K]>, step = 1 : i64} : (tensor<?xi1, #graph.dims<[K]>>) -> tensor<?xi64, #graph.dims<[K]>>
  func.return %s : tensor<?xi64, #graph.dims<[K]>>
}

// -----

// A call hands over buffers, those of results too, and the symbols that they tell.
// CHECK-LABEL: func.func @callee(
// CHECK:         %N = memref.dim %input0
// CHECK-NEXT:    loop.invoke @callee ins(%input0) outs(%output0) symbols(%N) : (memref<?x2xf32>) -> (memref<?x2xf32>)
// CHECK-NEXT:    func.return
func.func private @callee(%x: tensor<?x2xf32, #graph.dims<[N, 2]>>) -> tensor<?x2xf32, #graph.dims<[N, 2]>> {
  %y = func.call @callee(%x) : (tensor<?x2xf32, #graph.dims<[N, 2]>>) -> tensor<?x2xf32, #graph.dims<[N, 2]>>
  func.return %y : tensor<?x2xf32, #graph.dims<[N, 2]>>
}

// -----

// A result that is an element of a sequence is copied there, as functions are given buffers without gaps.
// CHECK-LABEL: func.func @main(
// CHECK:         loop.for %step
// CHECK:           %y = memref.reinterpret_cast %output0
// CHECK:           loop.invoke @same ins(%{{.*}}) outs([[T:%.*]]) :
// CHECK-NEXT:      "memref.copy"([[T]], %y)
func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @same(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @main(%xs: tensor<5x4xf32> {tilework.name = "xs"}) -> tensor<5x4xf32> {
  %ys = graph.scan over (%xs) : over (tensor<5x4xf32>) -> (tensor<5x4xf32>) {
  ^bb0(%x: tensor<4xf32>):
    %y = func.call @same(%x) : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %y : tensor<4xf32>
  }
  func.return %ys : tensor<5x4xf32>
}
