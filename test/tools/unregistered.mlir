// RUN: opt-tool %s --allow-unregistered-dialect --pass-pipeline='builtin.module(my.region(cse))' | filecheck %s

// A nested pipeline runs on operations of that name directly inside, unregistered ones too.
// CHECK:      "my.region"() ({
// CHECK-NEXT:   %[[A:.*]] = arith.constant 1 : i32
// CHECK-NEXT:   "my.use"(%[[A]], %[[A]])
// CHECK:      "my.other"() ({
// CHECK-NEXT:   arith.constant
// CHECK-NEXT:   arith.constant
%outside = arith.constant 2 : i32
"my.region"() ({
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  "my.use"(%a, %b) : (i32, i32) -> ()
  "my.use"(%outside, %b) : (i32, i32) -> ()
}) : () -> ()
"my.other"() ({
  %a = arith.constant 1 : i32
  %b = arith.constant 1 : i32
  "my.use"(%a, %b) : (i32, i32) -> ()
}) : () -> ()
