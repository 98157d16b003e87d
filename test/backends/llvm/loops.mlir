// RUN: opt-tool %s --target='llvm -mcpu=haswell' -t llvmir | filecheck %s

// A loop of known extent tests at its end; unrolling is left to LLVM.
// CHECK-LABEL: define void @serial(ptr noalias %x, ptr noalias %y, i32 %num_threads) nounwind {
// CHECK:         br label %i.body
// CHECK-NEXT:  i.body:
// CHECK-NEXT:    %i = phi i64 [ 0, %entry ], [ %i.next, %j.end ]
// CHECK:         %j = phi i64 [ 0, %i.body ], [ %j.next, %j.body ]
// CHECK:         %j.next = add nsw i64 %j, 1
// CHECK-NEXT:    %[[AGAIN:.*]] = icmp slt i64 %j.next, 4
// CHECK-NEXT:    br i1 %[[AGAIN]], label %j.body, label %j.end, !llvm.loop ![[LOOP:[0-9]+]]
// CHECK:         br i1 %{{.*}}, label %i.body, label %i.end
// CHECK-NEXT:  i.end:
// CHECK-NEXT:    ret void
loop.kernel @serial ins(%x: memref<64xf32>) outs(%y: memref<32xf32>) {
  loop.for %i = 0 to 8 "i" {
    loop.for %j = 0 to 4 "j" unrolled {
      %v = loop.load %x[4 * %i + %j] : memref<64xf32>
      loop.store %v, %y[4 * %i + %j] : memref<32xf32>
    }
  }
}

// A loop that may not run at all is guarded; one that runs once is no loop; one that never runs is nothing.
// CHECK-LABEL: define void @extents(ptr noalias %y, i64 %N, i32 %num_threads)
// CHECK:         %[[RUNS:.*]] = icmp slt i64 0, %N
// CHECK-NEXT:    br i1 %[[RUNS]], label %i.body, label %i.end
// CHECK-NOT:     phi i64 [ 3
// CHECK:         store float 0x3FF0000000000000, ptr %{{.*}}, align 4
// CHECK-NOT:     store
// CHECK:         ret void
loop.kernel @extents outs(%y: memref<?xf32> [N]) symbols(%N) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to %N "i" {
    loop.for %j = %i + 3 to %i + 4 "j" {
      loop.store %one, %y[%j - 3] : memref<?xf32>
    }
    loop.for %k = 5 to 5 "k" {
      loop.store %one, %y[%k] : memref<?xf32>
    }
  }
}

// A condition that yields becomes a phi; the conjunction is one i1.
// CHECK-LABEL: define void @condition
// CHECK:         %[[LOW:.*]] = icmp sge i64 %i, 1
// CHECK-NEXT:    %[[NEGATED:.*]] = mul nsw i64 %i, -1
// CHECK-NEXT:    %[[HIGH:.*]] = icmp sge i64 %[[NEGATED]], -8
// CHECK-NEXT:    %[[BOTH:.*]] = and i1 %[[LOW]], %[[HIGH]]
// CHECK-NEXT:    br i1 %[[BOTH]], label %then, label %else
// CHECK:       then:
// CHECK:         %v = load float
// CHECK:       else:
// CHECK:       end:
// CHECK-NEXT:    %padded = phi float [ %v, %then ], [ 0x0000000000000000, %else ]
loop.kernel @condition ins(%x: memref<8xf32>) outs(%y: memref<10xf32>) {
  %zero = arith.constant 0.0 : f32
  loop.for %i = 0 to 10 "i" {
    %padded = loop.if [%i - 1 >= 0, 8 - %i >= 0] -> f32 {
      %v = loop.load %x[%i - 1] : memref<8xf32>
      loop.yield %v : f32
    } else {
      loop.yield %zero : f32
    }
    loop.store %padded, %y[%i] : memref<10xf32>
  }
}

// The outermost parallel loop becomes a function of its range and of what it captures; the one inside is serial.
// CHECK-LABEL: define internal void @parallel.par.0(ptr noalias %x, ptr noalias %y, i64 %lower, i64 %upper)
// CHECK-SAME:    noinline
// CHECK:         %[[SOME:.*]] = icmp slt i64 %lower, %upper
// CHECK-NEXT:    br i1 %[[SOME]], label %i.body, label %i.end
// CHECK:         %i = phi i64 [ %lower, %entry ], [ %i.next, %j.end ]
// CHECK:         %j = phi i64 [ 0, %i.body ], [ %j.next, %j.body ]
// CHECK-LABEL: define internal void @parallel.par.0.piece(ptr %context, i64 %lower, i64 %upper)
// CHECK:         %[[X:.*]] = load ptr, ptr
// CHECK:         %[[Y:.*]] = load ptr, ptr
// CHECK:         call void @parallel.par.0(ptr %[[X]], ptr %[[Y]], i64 %lower, i64 %upper)
// CHECK-LABEL: define void @parallel(ptr noalias %x, ptr noalias %y, i32 %num_threads)
// CHECK:         %[[THREADS:.*]] = call i32 @llvm.smin.i32(i32 %num_threads, i32 6)
// CHECK-NEXT:    %[[ALONE:.*]] = icmp slt i32 %[[THREADS]], 2
// CHECK-NEXT:    br i1 %[[ALONE]], label %i.alone, label %i.several
// CHECK:       i.alone:
// CHECK-NEXT:    call void @parallel.par.0(ptr %x, ptr %y, i64 0, i64 6)
// CHECK:       i.several:
// CHECK:         call void @tilework_parallel(ptr @parallel.par.0.piece, ptr %context, i64 0, i64 6,
// CHECK-SAME:      i32 %[[THREADS]], i32 8)
loop.kernel @parallel ins(%x: memref<25xf32>) outs(%y: memref<24xf32>) {
  loop.for %i = 0 to 6 "i" parallel {
    loop.for %j = 0 to 4 "j" parallel {
      %v = loop.load %x[4 * %i + %j] : memref<25xf32>
      loop.store %v, %y[4 * %i + %j] : memref<24xf32>
    }
  }
}

// A parallel loop of one iteration leaves its threads to the loop inside.
// CHECK-LABEL: define internal void @batch_of_one.par.0(
// CHECK:         %c = phi
// CHECK-LABEL: define void @batch_of_one(
// CHECK-NOT:     %n =
loop.kernel @batch_of_one outs(%y: memref<4xf32>) {
  %one = arith.constant 1.0 : f32
  loop.for %n = 0 to 1 "n" parallel {
    loop.for %c = 0 to 4 "c" parallel {
      loop.store %one, %y[4 * %n + %c] : memref<4xf32>
    }
  }
}

// Of a descending loop each thread runs the last of its iterations first, and its share is one piece.
// CHECK-LABEL: define internal void @descending.par.0(
// CHECK:         %[[LAST:.*]] = sub nsw i64 %upper, 1
// CHECK:         %i = phi i64 [ %[[LAST]], %entry ], [ %i.next, %i.body ]
// CHECK:         %i.next = add nsw i64 %i, -1
// CHECK-NEXT:    %[[AGAIN:.*]] = icmp sge i64 %i.next, %lower
// CHECK-NEXT:    br i1 %[[AGAIN]], label %i.body, label %i.end
// CHECK-LABEL: define void @descending(
// CHECK:         call void @tilework_parallel({{.*}}, i32 1)
loop.kernel @descending outs(%y: memref<64xf32>) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 64 "i" parallel attributes {loop.descending} {
    loop.store %one, %y[%i] : memref<64xf32>
  }
}

// Of an alternating one every second time: a counter says so, and the body's index is turned around.
// CHECK-LABEL: @alternating.par.0.runs = internal global i32 0
// CHECK:       define internal void @alternating.par.0(i1 %back, ptr noalias %y, i64 %lower, i64 %upper)
// CHECK:         %[[SUM:.*]] = add nsw i64 %lower, %upper
// CHECK-NEXT:    %[[LAST:.*]] = sub nsw i64 %[[SUM]], 1
// CHECK-NEXT:    %[[TURNED:.*]] = sub nsw i64 %[[LAST]], %i
// CHECK-NEXT:    %[[INDEX:.*]] = select i1 %back, i64 %[[TURNED]], i64 %i
// CHECK-NEXT:    getelementptr inbounds float, ptr %y, i64 %[[INDEX]]
// CHECK-LABEL: define void @alternating(
// CHECK:         %[[RUNS:.*]] = atomicrmw add ptr @alternating.par.0.runs, i32 1 monotonic
// CHECK-NEXT:    %back = trunc i32 %[[RUNS]] to i1
loop.kernel @alternating outs(%y: memref<64xf32>) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 0 to 64 "i" parallel attributes {loop.alternating} {
    loop.store %one, %y[%i] : memref<64xf32>
  }
}

// Declarations of what is used; one node for unrolling, and one for each loop that is unrolled.
// CHECK:       declare void @tilework_parallel(ptr, ptr, i64, i64, i32, i32)
// CHECK:       ![[FULL:[0-9]+]] = !{!"llvm.loop.unroll.full"}
// CHECK:       ![[LOOP]] = distinct !{![[LOOP]], ![[FULL]]}
