// RUN: opt-tool %s -p schedule-to-loop | filecheck %s
// RUN: opt-tool %s -p schedule-to-loop --check-semantics

// The state, the update and the result are one buffer: what only the scan reads of its init is stored at its beginning,
// then every step writes one row and reads the one before. What a step needs besides is scratch for one step.

// CHECK-LABEL: loop.kernel @sums ins(%x: memref<9x4xf32>) outs(%y: memref<9x4xf32>) scratch(%twice: memref<1x4xf32>)
// CHECK:         loop.for %[[FIRST:.*]] = 0 to 1 "t"
// CHECK-NEXT:      loop.for %[[COLUMN:.*]] = 0 to 4 "i"
// CHECK-NEXT:        loop.load %x[0, %[[COLUMN]]]
// CHECK-NEXT:        loop.store %{{.*}}, %y[%[[FIRST]], %[[COLUMN]]]
// CHECK:         loop.for %[[T:.*]] = 0 to 8 "t" {
// CHECK-NEXT:      loop.for %[[U:.*]] = 0 to 1 "t"
// CHECK-NEXT:        loop.for %[[I:.*]] = 0 to 4 "i"
// CHECK-NEXT:          loop.load %y[%[[U]] + %[[T]], %[[I]]]
// CHECK:               loop.store %{{.*}}, %twice[%[[U]], %[[I]]]
// CHECK:           loop.for %[[V:.*]] = 0 to 1 "t"
// CHECK-NEXT:        loop.for %[[J:.*]] = 0 to 4 "i" parallel
// CHECK-NEXT:          loop.load %twice[%[[V]], %[[J]]]
// CHECK:               loop.store %{{.*}}, %y[%[[V]] + %[[T]] + 1, %[[J]]]
te.kernel @sums(%x: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %twice = te.compute "twice" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %twice[t, i] : tensor<9x4xf32>
    %w = te.read %x[t, i] : tensor<9x4xf32>
    %a = arith.addf %v, %w : f32
    te.yield %a : f32
  }
  %y = te.scan "sums" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @sums {
  %next, %t, %i = schedule.stage "next" [t, i]
  schedule.parallel %i
}

// An axis independent of time is one of the scan's, and may run around it, in parallel: what a step needs is then kept
// for all of its points. An init that is an argument is copied.

// CHECK-LABEL: loop.kernel @batch ins(%x: memref<9x4x3xf32>, %h: memref<1x4x3xf32>) outs(%y: memref<9x4x3xf32>) scratch(%twice: memref<1x4x3xf32>)
// CHECK:         loop.for %{{.*}} = 0 to 1 "init.0"
// CHECK:             loop.load %h
// CHECK-NEXT:        loop.store %{{.*}}, %y
// CHECK:         loop.for %b = 0 to 4 "b" parallel {
// CHECK-NEXT:      loop.for %[[T:.*]] = 0 to 8 "t" {
// CHECK:             loop.load %y[%{{.*}} + %[[T]], %{{.*}} + %b, %{{.*}}] : memref<9x4x3xf32>
// CHECK:             loop.store %{{.*}}, %twice[%{{.*}}, %{{.*}} + %b, %{{.*}}] : memref<1x4x3xf32>
te.kernel @batch(%x: tensor<9x4x3xf32>, %h: tensor<1x4x3xf32>) -> tensor<9x4x3xf32> {
  %s = te.state : tensor<9x4x3xf32>
  %twice = te.compute "twice" [t: 9, b: 4, i: 3] : tensor<9x4x3xf32> {
    %v = te.read %s[t - 1, b, i] : tensor<9x4x3xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %next = te.compute "next" [t: 9, b: 4, i: 3] : tensor<9x4x3xf32> {
    %v = te.read %twice[t, b, 2 - i] : tensor<9x4x3xf32>
    %w = te.read %x[t, b, i] : tensor<9x4x3xf32>
    %a = arith.addf %v, %w : f32
    te.yield %a : f32
  }
  %y = te.scan "sums" [t: 1 to 9, b: 4] init(%h) update(%next) state(%s) : tensor<1x4x3xf32> -> tensor<9x4x3xf32>
  te.return %y : tensor<9x4x3xf32>
}
schedule.sequence @batch {
  %sums, %t, %b = schedule.stage "sums" [t, b]
  schedule.reorder %b, %t
  schedule.parallel %b
}

// A stage of the steps with a scope of its own is a buffer inside the time loop.

// CHECK-LABEL: loop.kernel @local
// CHECK-NOT:     scratch
// CHECK:         loop.for %{{.*}} = 0 to 8 "t" {
// CHECK-NEXT:      memref.alloca() : memref<1x4xf32, "local">
te.kernel @local(%h: tensor<1x4xf32>) -> tensor<9x4xf32> {
  %s = te.state : tensor<9x4xf32>
  %twice = te.compute "twice" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %twice[t, 3 - i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %y = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y : tensor<9x4xf32>
}
schedule.sequence @local {
  %twice, %t, %i = schedule.stage "twice" [t, i]
  schedule.set_scope %twice "local"
}

// Threads that run all of a scan: they stand around time, and the steps' axes are dealt out to them.

// CHECK-LABEL: loop.kernel @threads
// CHECK:         loop.for %{{.*}} = 0 to 2 "threadIdx.y" threadIdx.y {
// CHECK-NEXT:      loop.for %{{.*}} = 0 to 4 "threadIdx.x" threadIdx.x {
// CHECK-NEXT:        loop.for %{{.*}} = 0 to 1 "init.0" {
// CHECK:             loop.for %[[T:.*]] = 0 to 8 "t" {
// CHECK:               loop.for %{{.*}} = 0 to 3 "i.outer" threadIdx.y {
// CHECK-NEXT:            loop.for %{{.*}} = 0 to 2 "i.inner" threadIdx.x {
te.kernel @threads(%x: tensor<9x5xf32>, %h: tensor<1x5xf32>) -> tensor<9x5xf32> {
  %s = te.state : tensor<9x5xf32>
  %next = te.compute "next" [t: 9, i: 5] : tensor<9x5xf32> {
    %v = te.read %s[t - 1, 4 - i] : tensor<9x5xf32>
    %w = te.read %x[t, i] : tensor<9x5xf32>
    %a = arith.addf %v, %w : f32
    te.yield %a : f32
  }
  %y = te.scan "scan" [t: 1 to 9] init(%h) update(%next) state(%s) : tensor<1x5xf32> -> tensor<9x5xf32>
  te.return %y : tensor<9x5xf32>
}
schedule.sequence @threads {
  %next, %t, %i = schedule.stage "next" [t, i]
  %scan, %time = schedule.stage "scan" [t]
  schedule.env_threads %scan "threadIdx.y" 2
  schedule.env_threads %scan "threadIdx.x" 4
  %io, %ii = schedule.split %i factor 2
  schedule.bind %io "threadIdx.y"
  schedule.bind %ii "threadIdx.x"
}

// Two scans read one init: it has a buffer of its own, and both copy it.
// CHECK-LABEL: loop.kernel @shared
// CHECK-SAME:    scratch(%first: memref<1x4xf32>)
// CHECK-COUNT-2: loop.load %first
te.kernel @shared(%x: tensor<9x4xf32>) -> (tensor<9x4xf32>, tensor<9x4xf32>) {
  %first = te.compute "first" [t: 1, i: 4] : tensor<1x4xf32> {
    %v = te.read %x[0, i] : tensor<9x4xf32>
    te.yield %v : f32
  }
  %s = te.state : tensor<9x4xf32>
  %next = te.compute "next" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s[t - 1, i] : tensor<9x4xf32>
    %w = arith.addf %v, %v : f32
    te.yield %w : f32
  }
  %y = te.scan "doubled" [t: 1 to 9] init(%first) update(%next) state(%s) : tensor<1x4xf32> -> tensor<9x4xf32>
  %s2 = te.state : tensor<9x4xf32>
  %next2 = te.compute "next2" [t: 9, i: 4] : tensor<9x4xf32> {
    %v = te.read %s2[t - 1, i] : tensor<9x4xf32>
    %w = te.read %x[t, i] : tensor<9x4xf32>
    %a = arith.addf %v, %w : f32
    te.yield %a : f32
  }
  %z = te.scan "summed" [t: 1 to 9] init(%first) update(%next2) state(%s2) : tensor<1x4xf32> -> tensor<9x4xf32>
  te.return %y, %z : tensor<9x4xf32>, tensor<9x4xf32>
}
