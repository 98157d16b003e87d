// RUN: opt-tool %s --matrix-push-products --check-semantics | filecheck %s
// RUN: opt-tool %s --apply-pattern matrix-push-products.scale-weights | filecheck %s --check-prefix=SCALE
// RUN: opt-tool %s --apply-pattern matrix-push-products.multiply-parts | filecheck %s --check-prefix=PARTS
// RUN: opt-tool %s --apply-pattern matrix-push-products.look-up-products | filecheck %s --check-prefix=PRODUCTS
// RUN: opt-tool %s --apply-pattern matrix-push-products.look-up-weights | filecheck %s --check-prefix=WEIGHTS

// The codes of a dictionary stand for rows of its weights; the mean and the scale of the other columns are in theirs.
// CHECK-LABEL: func.func @scores
// PARTS-LABEL: func.func @scores
// PARTS-COUNT-2: matrix.matmul
// PARTS:         matrix.add
// CHECK:         [[WA:%[0-9]+]] = graph.slice %w {axes = array<i64: 0>, starts = array<i64: 0>, stops = array<i64: 2>
// CHECK:         graph.mul {{.*}}, [[WA]] : (tensor<2x1xf64>, tensor<2x1xf64>)
// CHECK:         matrix.matmul %x, {{.*}} {origin = "score"}
// CHECK:         graph.slice %w {axes = array<i64: 0>, starts = array<i64: 2>, stops = array<i64: 5>
// CHECK:         bag.lookup %t, {{.*}} {column = "town"} : {{.*}}tensor<4x1xf64>
// CHECK:         matrix.add
// CHECK-NEXT:    matrix.to_tensor
// SCALE-LABEL: func.func @scores
// SCALE:         matrix.concat
func.func @scores(%t: !bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>]>, %mean: tensor<2xf64>, %scale: tensor<2xf64>, %w: tensor<5x1xf64>) -> tensor<?x1xf64, #graph.dims<[N, 1]>> {
  %x = bag.to_matrix %t {columns = ["age", "pay"]} : (!bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>]>) -> !matrix.matrix<N x 2 x f64, [age, pay]>
  %y = matrix.map %x (%mean, %scale) : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2xf64>, tensor<2xf64>) -> !matrix.matrix<N x 2 x f64, [age, pay]> {
  ^bb0(%v: f64, %m: f64, %s: f64):
    %c = arith.subf %v, %m : f64
    %r = arith.mulf %c, %s : f64
    matrix.yield %r : f64
  }
  %h = bag.one_hot %t {column = "town", dtype = f64} : (!bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>]>) -> !matrix.matrix<N x 3 x f64, [town * 3]>
  %z = matrix.concat %y, %h : (!matrix.matrix<N x 2 x f64, [age, pay]>, !matrix.matrix<N x 3 x f64, [town * 3]>) -> !matrix.matrix<N x 5 x f64, [age, pay, town * 3]>
  %p = matrix.matmul %z, %w {origin = "score"} : (!matrix.matrix<N x 5 x f64, [age, pay, town * 3]>, tensor<5x1xf64>) -> !matrix.matrix<N x 1 x f64, [score]>
  %o = matrix.to_tensor %p : (!matrix.matrix<N x 1 x f64, [score]>) -> tensor<?x1xf64, #graph.dims<[N, 1]>>
  func.return %o : tensor<?x1xf64, #graph.dims<[N, 1]>>
}

// A table of what codes stand for is multiplied itself.
// CHECK-LABEL: func.func @twice
// PRODUCTS-LABEL: func.func @twice
// PRODUCTS:      [[T:%[0-9]+]] = graph.matmul %table, %w
// PRODUCTS-NEXT: bag.lookup %t, [[T]]
// CHECK:         [[T:%[0-9]+]] = graph.matmul %table, %w : (tensor<4x2xf64>, tensor<2x3xf64>) -> tensor<4x3xf64>
// CHECK-NEXT:    bag.lookup %t, [[T]] {column = "town"}
func.func @twice(%t: !bag.bag<N x [town: !bag.dict<3>]>, %table: tensor<4x2xf64>, %w: tensor<2x3xf64>) -> tensor<?x3xf64, #graph.dims<[N, 3]>> {
  %x = bag.lookup %t, %table {column = "town"} : (!bag.bag<N x [town: !bag.dict<3>]>, tensor<4x2xf64>) -> !matrix.matrix<N x 2 x f64, [town * 2]>
  %p = matrix.matmul %x, %w {origin = "p"} : (!matrix.matrix<N x 2 x f64, [town * 2]>, tensor<2x3xf64>) -> !matrix.matrix<N x 3 x f64, [p * 3]>
  %o = matrix.to_tensor %p : (!matrix.matrix<N x 3 x f64, [p * 3]>) -> tensor<?x3xf64, #graph.dims<[N, 3]>>
  func.return %o : tensor<?x3xf64, #graph.dims<[N, 3]>>
}

// What is filled in where a number is missing is not in the weights, nor is what is not affine.
// CHECK-LABEL: func.func @kept
// CHECK:         [[F:%[0-9]+]] = matrix.map %x (%fill)
// CHECK:         [[S:%[0-9]+]] = matrix.map [[F]]
// CHECK:         matrix.matmul [[S]], %w
func.func @kept(%x: !matrix.matrix<N x 2 x f64, [age, pay]>, %fill: tensor<2xf64>, %w: tensor<2x1xf64>) -> tensor<?x1xf64, #graph.dims<[N, 1]>> {
  %0 = matrix.map %x (%fill) : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2xf64>) -> !matrix.matrix<N x 2 x f64, [age, pay]> {
  ^bb0(%v: f64, %m: f64):
    %c = arith.cmpf une, %v, %v : f64
    %r = arith.select %c, %m, %v : f64
    matrix.yield %r : f64
  }
  %1 = matrix.map %0 : (!matrix.matrix<N x 2 x f64, [age, pay]>) -> !matrix.matrix<N x 2 x f64, [age, pay]> {
  ^bb1(%v: f64):
    %r = arith.mulf %v, %v : f64
    matrix.yield %r : f64
  }
  %p = matrix.matmul %1, %w {origin = "p"} : (!matrix.matrix<N x 2 x f64, [age, pay]>, tensor<2x1xf64>) -> !matrix.matrix<N x 1 x f64, [p]>
  %o = matrix.to_tensor %p : (!matrix.matrix<N x 1 x f64, [p]>) -> tensor<?x1xf64, #graph.dims<[N, 1]>>
  func.return %o : tensor<?x1xf64, #graph.dims<[N, 1]>>
}

// A product with a column of codes looks weights up, and zeros for a value that is not known.
// WEIGHTS-LABEL: func.func @codes
// WEIGHTS-NOT:   matrix.matmul
// WEIGHTS:       bag.lookup %t, {{.*}} : {{.*}}tensor<4x2xf64>
func.func @codes(%t: !bag.bag<N x [town: !bag.dict<3>]>, %w: tensor<3x2xf64>) -> tensor<?x2xf64, #graph.dims<[N, 2]>> {
  %x = bag.one_hot %t {column = "town", dtype = f64} : (!bag.bag<N x [town: !bag.dict<3>]>) -> !matrix.matrix<N x 3 x f64, [town * 3]>
  %p = matrix.matmul %x, %w {origin = "p"} : (!matrix.matrix<N x 3 x f64, [town * 3]>, tensor<3x2xf64>) -> !matrix.matrix<N x 2 x f64, [p * 2]>
  %o = matrix.to_tensor %p : (!matrix.matrix<N x 2 x f64, [p * 2]>) -> tensor<?x2xf64, #graph.dims<[N, 2]>>
  func.return %o : tensor<?x2xf64, #graph.dims<[N, 2]>>
}
