// RUN: opt-tool %s -p loop-unroll | filecheck %s
// RUN: opt-tool %s -p 'loop-unroll{auto-max-step=16}' | filecheck %s --check-prefix=SIXTEEN
// RUN: opt-tool %s -p 'loop-unroll{auto-max-step=15}' | filecheck %s --check-prefix=FIFTEEN

// The loops that subscript the registers are unrolled: j through the bounds of k too. The reduction stays rolled.
// CHECK-LABEL: loop.kernel @accumulate
// CHECK:         loop.for %{{.*}} = 0 to 7 "r" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "i" unrolled {
// CHECK:         loop.for %[[J:.*]] = 0 to 3 "j" unrolled {
// CHECK-NEXT:      loop.for %{{.*}} = %[[J]] to %[[J]] + 2 "k" unrolled {
// CHECK:         loop.for %{{.*}} = 0 to 4 "l" {
loop.kernel @accumulate ins(%x: memref<7xf32>) outs(%y: memref<4xf32>) {
  %acc = memref.alloca() : memref<4xf32, "register">
  %buf = memref.alloca() : memref<4xf32, "local">
  loop.for %r = 0 to 7 "r" {
    loop.for %i = 0 to 4 "i" {
      %v = loop.load %x[%r] : memref<7xf32>
      loop.store %v, %acc[%i] : memref<4xf32, "register">
    }
  }
  loop.for %j = 0 to 3 "j" {
    loop.for %k = %j to %j + 2 "k" {
      %v = loop.load %acc[%k] : memref<4xf32, "register">
      loop.store %v, %y[%j] : memref<4xf32>
    }
  }
  loop.for %l = 0 to 4 "l" {
    %v = loop.load %x[%l] : memref<7xf32>
    loop.store %v, %buf[%l] : memref<4xf32, "local">
  }
}

// Constants need nothing, loops that never run or run once are expanded as well.
// CHECK-LABEL: loop.kernel @edges
// CHECK:         loop.for %{{.*}} = 0 to %{{.*}} "n" {
// CHECK-NEXT:      loop.store %{{.*}}, %{{.*}}[0]
// CHECK:         loop.for %{{.*}} = 3 to 4 "i" unrolled
// CHECK:         loop.for %{{.*}} = 3 to 2 "j" unrolled
loop.kernel @edges outs(%y: memref<?xf32> [N]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  %acc = memref.alloca() : memref<4xf32, "register">
  loop.for %n = 0 to %N "n" {
    loop.store %v, %acc[0] : memref<4xf32, "register">
  }
  loop.for %i = 3 to 4 "i" {
    loop.store %v, %acc[%i] : memref<4xf32, "register">
  }
  loop.for %j = 3 to 2 "j" {
    loop.store %v, %acc[%j] : memref<4xf32, "register">
  }
}

// Registers that cannot be unrolled for are left to loop-verify-registers: too many iterations, or other kinds.
// CHECK-LABEL: loop.kernel @left
// CHECK:         loop.for %{{.*}} = 0 to 65 "i" {
// CHECK:         loop.for %{{.*}} = 0 to 4 "j" parallel {
loop.kernel @left outs(%y: memref<4xf32>) {
  %v = arith.constant 1.0 : f32
  %acc = memref.alloca() : memref<65xf32, "register">
  loop.for %i = 0 to 65 "i" {
    loop.store %v, %acc[%i] : memref<65xf32, "register">
  }
  loop.for %j = 0 to 4 "j" parallel {
    loop.store %v, %acc[%j] : memref<65xf32, "register">
  }
}

// Two times eight stores are sixteen. A loop that the user unrolled is unrolled whatever the limit.
// tvm: test_pass_unroll/unroll_loop
// CHECK-LABEL: loop.kernel @sixteen
// CHECK:         loop.for %{{.*}} = %{{.*}} to %{{.*}} + 2 "i" {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 8 "j" unrolled {
// SIXTEEN-LABEL: loop.kernel @sixteen
// SIXTEEN:         loop.for %{{.*}} = %{{.*}} to %{{.*}} + 2 "i" unrolled {
// SIXTEEN-NEXT:      loop.for %{{.*}} = 0 to 8 "j" unrolled {
// FIFTEEN-LABEL: loop.kernel @sixteen
// FIFTEEN:         loop.for %{{.*}} = %{{.*}} to %{{.*}} + 2 "i" {
loop.kernel @sixteen outs(%y: memref<?xf32> [N + 2]) symbols(%N) {
  loop.for %i = %N to %N + 2 "i" {
    loop.for %j = 0 to 8 "j" unrolled {
      %v = loop.load %y[%i] : memref<?xf32>
      loop.store %v, %y[%i] : memref<?xf32>
    }
  }
}

// The limit of a loop's own holds for it and for those inside it, and for no other; a loop around one that stays, stays.
// tvm: test_pass_unroll/unroll_loop
// CHECK-LABEL: loop.kernel @pragma
// CHECK:         loop.for %{{.*}} = 0 to 2 "i" unrolled attributes {loop.auto_unroll_max_step = 8 : i64} {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "j" unrolled {
// CHECK:         loop.for %{{.*}} = 0 to 2 "k" {
// CHECK:         loop.for %{{.*}} = 0 to 2 "l" attributes {loop.auto_unroll_max_step = 16 : i64} {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "m" unrolled {
// CHECK:           loop.for %{{.*}} = 0 to %{{.*}} "n" {
loop.kernel @pragma outs(%y: memref<?xf32> [N + 8]) symbols(%N) {
  %v = arith.constant 1.0 : f32
  loop.for %i = 0 to 2 "i" attributes {loop.auto_unroll_max_step = 8 : i64} {
    loop.for %j = 0 to 4 "j" {
      loop.store %v, %y[4 * %i + %j] : memref<?xf32>
    }
  }
  loop.for %k = 0 to 2 "k" {
    loop.store %v, %y[%k] : memref<?xf32>
  }
  loop.for %l = 0 to 2 "l" attributes {loop.auto_unroll_max_step = 16 : i64} {
    loop.for %m = 0 to 4 "m" {
      loop.store %v, %y[4 * %l + %m] : memref<?xf32>
    }
    loop.for %n = 0 to %N "n" {
      loop.store %v, %y[%n] : memref<?xf32>
    }
  }
}

// A loop whose length is known at run time only is never small.
// tvm: test_pass_unroll/unroll_single_count_loops
// SIXTEEN-LABEL: loop.kernel @symbolic
// SIXTEEN:         loop.for %{{.*}} = 0 to %{{.*}} "i" {
// SIXTEEN-NEXT:      loop.load
loop.kernel @symbolic ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %i = 0 to %N "i" {
    %v = loop.load %x[%i] : memref<?xf32>
    loop.store %v, %y[%i] : memref<?xf32>
  }
}

// CHECK-LABEL: loop.kernel @declared
loop.kernel @declared ins(%arg0: memref<4xf32>) outs(%arg1: memref<4xf32>)

// Of a loop whose end is known at run time only, but not to be far, each iteration asks whether it runs. One that may
// have any number of iterations stays.

// CHECK-LABEL: loop.kernel @rest
// CHECK:         loop.for %o = %N floordiv 4 to (%N + 3) floordiv 4 "o" {
// CHECK:           loop.for %i = 0 to 3 "i" unrolled {
// CHECK-NEXT:        loop.if [%N - 4 * %o - %i - 1 >= 0] {
// CHECK-NEXT:          loop.load %acc[%i]
// CHECK:         loop.for %j = 0 to %N "j" {
loop.kernel @rest ins() outs(%y: memref<?xf32> [N]) symbols(%N) {
  %acc = memref.alloca() : memref<1000xf32, "register">
  loop.for %o = %N floordiv 4 to (%N + 3) floordiv 4 "o" {
    loop.for %i = 0 to %N - 4 * %o "i" {
      %v = loop.load %acc[%i] : memref<1000xf32, "register">
      loop.store %v, %y[4 * %o + %i] : memref<?xf32>
    }
  }
  loop.for %j = 0 to %N "j" {
    %v = loop.load %acc[%j] : memref<1000xf32, "register">
    loop.store %v, %y[%j] : memref<?xf32>
  }
}

// Each pattern alone.
// RUN: opt-tool %s --apply-pattern loop-unroll.ask-whether-it-runs | filecheck %s --check-prefix=ASK
// ASK-LABEL: loop.kernel @accumulate
// ASK-NOT:     loop.if
// ASK-LABEL: loop.kernel @rest
// ASK:         loop.for %i = 0 to 3 "i" {
// ASK-NEXT:      loop.if [%N - 4 * %o - %i - 1 >= 0] {
// RUN: opt-tool %s --apply-pattern loop-unroll.unroll-registers | filecheck %s --check-prefix=REGISTERS
// REGISTERS-LABEL: loop.kernel @accumulate
// REGISTERS:         loop.for %r = 0 to 7 "r" {
// REGISTERS-NEXT:      loop.for %i = 0 to 4 "i" unrolled {
// REGISTERS-LABEL: loop.kernel @rest
// REGISTERS-NOT:     unrolled
// RUN: opt-tool %s --apply-pattern loop-unroll.unroll-small-loop | filecheck %s --check-prefix=PRAGMA
// PRAGMA-LABEL: loop.kernel @accumulate
// PRAGMA:         loop.for %i = 0 to 4 "i" {
// PRAGMA-LABEL: loop.kernel @pragma
// PRAGMA:         loop.for %i = 0 to 2 "i" unrolled
// PRAGMA-NEXT:      loop.for %j = 0 to 4 "j" unrolled
