// RUN: opt-tool %s --target='llvm -mcpu=haswell' -t llvmir | filecheck %s

// No division may stop the program: a divisor of 0 or -1 is 1 for the processor, and the quotient is chosen behind it.
// CHECK-LABEL: define void @divide_by_data
// CHECK:         %[[B:.*]] = freeze i32 %b
// CHECK-NEXT:    %[[ZERO:.*]] = icmp eq i32 %[[B]], 0
// CHECK-NEXT:    %[[MINUS:.*]] = icmp eq i32 %[[B]], -1
// CHECK-NEXT:    %[[ANY:.*]] = or i1 %[[ZERO]], %[[MINUS]]
// CHECK-NEXT:    %[[SAFE:.*]] = select i1 %[[ANY]], i32 1, i32 %[[B]]
// CHECK-NEXT:    %[[OPPOSITE:.*]] = sub i32 0, %a
// CHECK-NEXT:    %[[Q:.*]] = sdiv i32 %a, %[[SAFE]]
// CHECK-NEXT:    %[[WRAPPED:.*]] = select i1 %[[MINUS]], i32 %[[OPPOSITE]], i32 %[[Q]]
// CHECK-NEXT:    %q = select i1 %[[ZERO]], i32 0, i32 %[[WRAPPED]]
// CHECK:         %r = urem i32 %a, %{{.*}}
loop.kernel @divide_by_data ins(%x: memref<2xi32>) outs(%y: memref<2xi32>) {
  %a = loop.load %x[0] : memref<2xi32>
  %b = loop.load %x[1] : memref<2xi32>
  %q = arith.divsi %a, %b : i32
  %r = arith.remui %a, %b : i32
  loop.store %q, %y[0] : memref<2xi32>
  loop.store %r, %y[1] : memref<2xi32>
}

// What is known to be neither is divided by as it is: a number, also in all lanes, and an index that is neither.
// CHECK-LABEL: define void @divide_by_what_is_known
// CHECK-NOT:     select
// CHECK:         sdiv i32 %a, 3
// CHECK-NOT:     select
// CHECK:         udiv <4 x i32> %v, splat (i32 5)
// CHECK-NOT:     select
// CHECK:         srem i32 %a, %{{.*}}
// CHECK-NOT:     select
// CHECK:         ret void
loop.kernel @divide_by_what_is_known ins(%x: memref<4xi32>) outs(%y: memref<4xi32>) {
  %a = loop.load %x[0] : memref<4xi32>
  %v = loop.load %x[0] : memref<4xi32>, vector<4xi32>
  %three = arith.constant 3 : i32
  %five = arith.constant 5 : i32
  %fives = vector.broadcast %five : i32 to vector<4xi32>
  loop.for %i = 0 to 4 "i" {
    %q = arith.divsi %a, %three : i32
    %p = arith.divui %v, %fives : vector<4xi32>
    %n = loop.apply %i + 1
    %c = arith.index_cast %n : index to i32
    %r = arith.remsi %a, %c : i32
    loop.store %q, %y[%i] : memref<4xi32>
    loop.store %r, %y[%i] : memref<4xi32>
    loop.store %p, %y[0] : memref<4xi32>, vector<4xi32>
  }
}

// A shift may be too far as well, one by a number not.
// CHECK-LABEL: define void @shift
// CHECK:         %[[FITS:.*]] = icmp ult i16 %{{.*}}, 16
// CHECK-NEXT:    %[[BY:.*]] = select i1 %[[FITS]], i16 %{{.*}}, i16 15
// CHECK-NEXT:    %[[SHIFTED:.*]] = shl i16 %a, %[[BY]]
// CHECK-NEXT:    select i1 %[[FITS]], i16 %[[SHIFTED]], i16 0
// CHECK:         lshr i16 %a, 3
loop.kernel @shift ins(%x: memref<2xi16>) outs(%y: memref<2xi16>) {
  %a = loop.load %x[0] : memref<2xi16>
  %b = loop.load %x[1] : memref<2xi16>
  %three = arith.constant 3 : i16
  %l = arith.shli %a, %b : i16
  %r = arith.shrui %a, %three : i16
  loop.store %l, %y[0] : memref<2xi16>
  loop.store %r, %y[1] : memref<2xi16>
}
