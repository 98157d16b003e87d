// RUN: opt-tool %s --tables-to-graph --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern tables-to-graph.multiply-tensors | filecheck %s --check-prefix=MULTIPLY
// RUN: opt-tool %s --apply-pattern tables-to-graph.concat-columns | filecheck %s --check-prefix=CONCAT
// RUN: opt-tool %s --apply-pattern tables-to-graph.add-tensors | filecheck %s --check-prefix=ADD
// RUN: opt-tool %s --apply-pattern tables-to-graph.multiply-transposed | filecheck %s --check-prefix=GRAM
// RUN: opt-tool %s --apply-pattern tables-to-graph.map-elements | filecheck %s --check-prefix=MAP
// RUN: opt-tool %s --apply-pattern tables-to-graph.take-columns | filecheck %s --check-prefix=TAKE

// A table is a tensor of its numbers and one of its codes; all columns of numbers in order are that tensor itself.
// CHECK-LABEL: func.func @whole(%t: tensor<?x2xf64, #graph.dims<[N, 2]>>, %t_1: tensor<?x1xi32, #graph.dims<[N, 1]>>, %w: tensor<2x1xf64>)
// CHECK-NEXT:    [[P:%[0-9]+]] = graph.matmul %t, %w
// CHECK-NEXT:    [[H:%[0-9]+]] = graph.kernel (%t_1)
// CHECK:           arith.cmpi eq
// CHECK:         graph.concat [[P]], [[H]] {axis = 1 : i64}
// Each pattern alone turns its own operation into one of tensors.
// MULTIPLY:      graph.matmul
// MULTIPLY:      matrix.concat
// CONCAT:        matrix.matmul
// CONCAT:        graph.concat
func.func @whole(%t: !bag.bag<N x [age: f64, town: !bag.dict<3>, pay: f64]>, %w: tensor<2x1xf64>) -> tensor<?x4xf64, #graph.dims<[N, 4]>> {
  %x = bag.to_matrix %t {columns = ["age", "pay"]} : (!bag.bag<N x [age: f64, town: !bag.dict<3>, pay: f64]>) -> !matrix.matrix<N x 2 x f64, [age, pay]>
  %p = matrix.matmul %x, %w {origin = "p"} : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2x1xf64>) -> !matrix.matrix<N x 1 x f64, [p]>
  %h = bag.one_hot %t {column = "town", dtype = f64} : (!bag.bag<N x [age: f64, town: !bag.dict<3>, pay: f64]>) -> !matrix.matrix<N x 3 x f64, [town * 3]>
  %c = matrix.concat %p, %h : (!matrix.matrix<N x 1 x f64, [p]>, !matrix.matrix<N x 3 x f64, [town * 3]>) -> !matrix.matrix<N x 4 x f64, [p, town * 3]>
  %o = matrix.to_tensor %c : (!matrix.matrix<N x 4 x f64, [p, town * 3]>) -> tensor<?x4xf64, #graph.dims<[N, 4]>>
  func.return %o : tensor<?x4xf64, #graph.dims<[N, 4]>>
}

// Columns that do not follow each other are read each for itself; a code reads a row of a table.
// CHECK-LABEL: func.func @parts
// CHECK-COUNT-2: graph.kernel (%t)
// CHECK:         graph.concat
// CHECK:         graph.kernel (%t_1, %table)
// CHECK:         graph.add
// ADD:           graph.add
// ADD:           matrix.gram
// GRAM:          matrix.add
// GRAM:          graph.transpose
// GRAM:          graph.matmul
// CHECK:         graph.transpose
// CHECK-NEXT:    graph.matmul
func.func @parts(%t: !bag.bag<N x [a: f64, b: f64, c: f64, d: !bag.dict<5>]>, %table: tensor<6x2xf64>) -> tensor<2x2xf64> {
  %x = bag.to_matrix %t {columns = ["c", "a"]} : (!bag.bag<N x [a: f64, b: f64, c: f64, d: !bag.dict<5>]>) -> !matrix.matrix<N x 2 x f64, [c, a]>
  %l = bag.lookup %t, %table {column = "d"} : (!bag.bag<N x [a: f64, b: f64, c: f64, d: !bag.dict<5>]>, tensor<6x2xf64>) -> !matrix.matrix<N x 2 x f64, [d * 2]>
  %s = matrix.add %x, %l : (!matrix.matrix<N x 2 x f64, [c, a]>, !matrix.matrix<N x 2 x f64, [d * 2]>) -> !matrix.matrix<N x 2 x f64, [c, a]>
  %g = matrix.gram %s : (!matrix.matrix<N x 2 x f64, [c, a]>) -> tensor<2x2xf64>
  func.return %g : tensor<2x2xf64>
}

// The function of an element is the body of a kernel, whose columns may be chosen from a matrix.
// CHECK-LABEL: func.func @mapped(%x: tensor<7x3xf32>, %m: tensor<2xf32>)
// CHECK:         graph.kernel
// CHECK:           arith.subf
// MAP:           matrix.columns
// MAP:           graph.kernel
// MAP-NOT:       matrix.map
// TAKE:          graph.kernel
// TAKE:          matrix.map
func.func @mapped(%x: !matrix.matrix<7 x 3 x f32, [a * 3]>, %m: tensor<2xf32>) -> tensor<7x2xf32> {
  %c = matrix.columns %x {which = array<i64: 1, 2>} : (!matrix.matrix<7 x 3 x f32, [a * 3]>) -> !matrix.matrix<7 x 2 x f32, [a * 2]>
  %y = matrix.map %c (%m) : (!matrix.matrix<7 x 2 x f32, [a * 2]>, tensor<2xf32>) -> !matrix.matrix<7 x 2 x f32, [a * 2]> {
  ^bb0(%v: f32, %k: f32):
    %r = arith.subf %v, %k : f32
    matrix.yield %r : f32
  }
  %o = matrix.to_tensor %y : (!matrix.matrix<7 x 2 x f32, [a * 2]>) -> tensor<7x2xf32>
  func.return %o : tensor<7x2xf32>
}

// A fold is a kernel with a reduction for each of its results; by groups, one that goes through the rows once.
// CHECK-LABEL: func.func @folds(%t: tensor<?x1xf64, #graph.dims<[N, 1]>>, %t_1: tensor<?x1xi32, #graph.dims<[N, 1]>>, %m: tensor<f64>)
// CHECK:         graph.kernel (%t, %m)
// CHECK:         te.compute "add" [] reduce [n: N]
// CHECK:         te.compute "max" [] reduce [n: N]
// CHECK:         te.extern "groups"
func.func @folds(%t: !bag.bag<N x [a: f64, g: !bag.dict<2>]>, %m: tensor<f64>) -> (tensor<f64>, tensor<f64>, tensor<2xf64>) {
  %s, %h = bag.fold %t (%m) {reads = ["a"], kinds = ["add", "max"]} : (!bag.bag<N x [a: f64, g: !bag.dict<2>]>, tensor<f64>) -> (tensor<f64>, tensor<f64>) {
  ^bb0(%a: f64, %c: f64):
    %r = arith.subf %a, %c : f64
    bag.yield %r, %a : f64, f64
  }
  %k = bag.fold %t {reads = ["a"], kinds = ["add"], by = "g"} : (!bag.bag<N x [a: f64, g: !bag.dict<2>]>) -> tensor<2xf64> {
  ^bb1(%a: f64):
    bag.yield %a : f64
  }
  func.return %s, %h, %k : tensor<f64>, tensor<f64>, tensor<2xf64>
}
