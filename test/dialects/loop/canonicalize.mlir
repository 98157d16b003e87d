// RUN: opt-tool %s -p canonicalize | filecheck %s
// RUN: opt-tool %s -p canonicalize --check-semantics

// CHECK-LABEL: loop.kernel @control
// CHECK-NEXT:    %one = arith.constant 1.0
// CHECK-NEXT:    %two = arith.constant 2.0
// CHECK-NEXT:    loop.store %one, %y[0]
// CHECK-NEXT:    loop.store %two, %y[1]
// CHECK-NEXT:    loop.for %i = 2 to 8 "i" {
// CHECK-NEXT:      loop.if [%i - 4 >= 0] {
// CHECK-NEXT:        loop.store %one, %y[%i]
// CHECK-NEXT:      } else {
// CHECK-NEXT:        loop.store %two, %y[%i]
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:  }
loop.kernel @control outs(%y: memref<8xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  loop.for %n = 3 to 3 "n" {
    loop.store %two, %y[%n] : memref<8xf32>
  }
  loop.if [0 == 0] {
    loop.store %one, %y[0] : memref<8xf32>
  }
  loop.if [-1 >= 0] {
    loop.store %one, %y[1] : memref<8xf32>
  }
  %v = loop.if [3 >= 0, 1 == 0] -> f32 {
    loop.yield %one : f32
  } else {
    loop.yield %two : f32
  }
  loop.store %v, %y[1] : memref<8xf32>
  loop.for %i = 2 to 8 "i" {
    loop.if [%i - 4 >= 0, 7 >= 0] {
      loop.store %one, %y[%i] : memref<8xf32>
    } else {
      loop.store %two, %y[%i] : memref<8xf32>
    }
  }
}

// CHECK-LABEL: func.func @apply
// CHECK-NEXT:    [[C:%[a-z0-9]+]] = arith.constant 12 : index
// CHECK-NEXT:    [[E:%[a-z0-9]+]] = loop.apply 2 * %n
// CHECK-NEXT:    func.return %n, [[C]], [[E]]
func.func @apply(%n: index) -> (index, index, index) {
  %0 = loop.apply %n
  %1 = loop.apply 12
  %2 = loop.apply 2 * %n
  func.return %0, %1, %2 : index, index, index
}

// Each pattern alone.
// RUN: opt-tool %s --apply-pattern canonicalize.empty-range | filecheck %s --check-prefix=RANGE
// RANGE-LABEL: loop.kernel @control
// RANGE-NOT:     loop.for %n
// RANGE:         loop.if [0 == 0] {
// RANGE:         loop.for %i = 2 to 8 "i" {
// RUN: opt-tool %s --apply-pattern canonicalize.constant-condition | filecheck %s --check-prefix=CONDITION
// CONDITION-LABEL: loop.kernel @control
// CONDITION:         loop.for %n = 3 to 3 "n" {
// CONDITION:         loop.store %one, %y[0]
// CONDITION-NEXT:    loop.store %two, %y[1]
// CONDITION:         loop.if [%i - 4 >= 0] {
// RUN: opt-tool %s --apply-pattern canonicalize.trivial-apply | filecheck %s --check-prefix=APPLY
// APPLY-LABEL: func.func @apply
// APPLY-NEXT:    [[C:%[a-z0-9]+]] = arith.constant 12 : index
// APPLY-NEXT:    [[E:%[a-z0-9]+]] = loop.apply 2 * %n
// APPLY-NEXT:    func.return %n, [[C]], [[E]]
