// RUN: opt-tool %s --graph-inline-calls --split-input-file | filecheck %s
// RUN: opt-tool %s --apply-pattern graph-inline-calls.inline-call --split-input-file | filecheck %s --check-prefix=ALONE

!row = tensor<4xf32>

// A small function is put where it is called, as often as it is; nobody calls it then.
// CHECK-LABEL: builtin.module
// CHECK-NOT:     @twice
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    %[[A:.*]] = graph.add %x, %x
// CHECK-NEXT:    %[[B:.*]] = graph.add %[[A]], %[[A]]
// CHECK-NEXT:    func.return %[[B]]
// ALONE-LABEL: func.func @main(
// ALONE-NEXT:    %[[C:.*]] = graph.add %x, %x
// ALONE-NEXT:    graph.add %[[C]], %[[C]]
func.func private @twice(%x: !row) -> !row {
  %y = graph.add %x, %x : (!row, !row) -> !row
  func.return %y : !row
}
func.func @main(%x: !row) -> !row {
  %0 = func.call @twice(%x) : (!row) -> !row
  %1 = func.call @twice(%0) : (!row) -> !row
  func.return %1 : !row
}

// -----

// What calls a function that is put there is put where it is called itself; inside of control flow, too.
!row = tensor<4xf32>
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    graph.if %c with (%x)
// CHECK:           graph.relu
// CHECK:           graph.yield
// CHECK-NOT:     func.call
func.func private @inner(%x: !row) -> !row {
  %y = graph.relu %x : (!row) -> !row
  func.return %y : !row
}
func.func private @outer(%x: !row) -> !row {
  %y = func.call @inner(%x) : (!row) -> !row
  func.return %y : !row
}
func.func @main(%c: tensor<i1>, %x: !row) -> !row {
  %y = graph.if %c with (%x) : with (!row) -> (!row) {
  ^bb0(%a: !row):
    %r = func.call @outer(%a) : (!row) -> !row
    graph.yield %r : !row
  } else {
  ^bb0(%a: !row):
    graph.yield %a : !row
  }
  func.return %y : !row
}

// -----

// Functions that call each other stay; a public one that nobody calls stays too.
!row = tensor<4xf32>
// CHECK-LABEL: func.func private @even(
// CHECK:         func.call @odd
// CHECK-LABEL: func.func private @odd(
// CHECK:         func.call @even
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    func.call @even
// CHECK-LABEL: func.func @other(
func.func private @even(%x: !row) -> !row {
  %y = func.call @odd(%x) : (!row) -> !row
  func.return %y : !row
}
func.func private @odd(%x: !row) -> !row {
  %y = func.call @even(%x) : (!row) -> !row
  func.return %y : !row
}
func.func @main(%x: !row) -> !row {
  %y = func.call @even(%x) : (!row) -> !row
  func.return %y : !row
}
func.func @other(%x: !row) -> !row {
  func.return %x : !row
}

// -----

// A function that binds a symbol stays: two copies would bind it twice.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT:    func.call @counts
// CHECK-NEXT:    func.call @counts
func.func private @counts(%n: tensor<i64>) -> tensor<i64> {
  %k = graph.size "K" = %n at most [8] : tensor<i64>
  func.return %n : tensor<i64>
}
func.func @main(%n: tensor<i64>) -> tensor<i64> {
  %0 = func.call @counts(%n) : (tensor<i64>) -> tensor<i64>
  %1 = func.call @counts(%0) : (tensor<i64>) -> tensor<i64>
  func.return %1 : tensor<i64>
}
