// RUN: opt-tool %s -p graph-fuse-operators,lower-to-te --check-semantics | filecheck %s

// Where two sizes turn out to be equal, a kernel runs in which they are one symbol. Another reads element 0 where an
// operand has but one.
// CHECK-LABEL: te.kernel @add(
// CHECK-SAME:    %left: tensor<?x4xf32, #graph.dims<[M, 4]>>, %right: tensor<?x4xf32, #graph.dims<[M, 4]>>)
// CHECK:         te.read %left[i0, i1]
// CHECK-NEXT:    te.read %right[i0, i1]
// CHECK-LABEL: te.kernel @add_1(
// CHECK-SAME:    %left: tensor<?x4xf32, #graph.dims<[N, 4]>>, %right: tensor<?x4xf32, #graph.dims<[M, 4]>>)
// CHECK:         te.read %left[min(N - 1, i0), i1]
// CHECK-NEXT:    te.read %right[min(M - 1, i0), i1]

// CHECK:       func.func @two(
// CHECK:         loop.if [%N - %M == 0] {
// CHECK-NEXT:      loop.call @add ins(%input0, %input1) outs(%output0) symbols(%M)
// CHECK-NEXT:    } else {
// CHECK-NEXT:      loop.call @add_1 ins(%input0, %input1) outs(%output0) symbols(%N, %M)
func.func @two(%a: tensor<?x4xf32, #graph.dims<[N, 4]>>, %b: tensor<?x4xf32, #graph.dims<[M, 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>> {
  %y = graph.add %a, %b : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?x4xf32, #graph.dims<[M, 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
  func.return %y : tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
}

// What works on the joined size only takes it as a symbol of its own: one kernel.
// CHECK:       func.func @behind(
// CHECK:         loop.if
// CHECK:         loop.call @softmax ins({{.*}}) outs(%output0) symbols({{%[a-z0-9]+}}) : memref<?x4xf32>, memref<?x4xf32>
// CHECK-NEXT:    func.return
func.func @behind(%a: tensor<?x4xf32, #graph.dims<[N, 4]>>, %b: tensor<?x4xf32, #graph.dims<[M, 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>> {
  %s = graph.add %a, %b : (tensor<?x4xf32, #graph.dims<[N, 4]>>, tensor<?x4xf32, #graph.dims<[M, 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
  %y = graph.softmax %s {axis = 1 : i64} : (tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>) -> tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
  func.return %y : tensor<?x4xf32, #graph.dims<[broadcast(M, N), 4]>>
}

// Three sizes are one in the plain kernel; a known one is told to it as a number.
// CHECK:       func.func @three(
// CHECK:         loop.if [%M - 7 == 0, %N - 7 == 0] {
// CHECK-NEXT:      loop.call @where ins(%input0, %input1, %input2) outs(%output0) : memref<?xi1>, memref<?xf32>, memref<7xf32>, memref<7xf32>
func.func @three(%c: tensor<?xi1, #graph.dims<[N]>>, %a: tensor<?xf32, #graph.dims<[M]>>, %b: tensor<7xf32>) -> tensor<7xf32> {
  %y = graph.where %c, %a, %b : (tensor<?xi1, #graph.dims<[N]>>, tensor<?xf32, #graph.dims<[M]>>, tensor<7xf32>) -> tensor<7xf32>
  func.return %y : tensor<7xf32>
}
