// RUN: opt-tool %s -p canonicalize | filecheck %s

// The order before is i_o, i_i, j, then i_o, j, i_i: the last reorder changes nothing, nor does that of one axis.
// CHECK-LABEL: schedule.sequence @order
// CHECK-NEXT:    %a, %i, %j, %k = schedule.stage "a" [i, j, k]
// CHECK-NEXT:    %i_o, %i_i = schedule.split %i factor 4
// CHECK-NEXT:    schedule.reorder %j, %i_i
// CHECK-NEXT:    %f = schedule.fuse %j, %i_i
// CHECK-NEXT:    schedule.reorder %k, %i_o
// CHECK-NEXT:    schedule.vectorize %f
// CHECK-NEXT:  }
schedule.sequence @order {
  %a, %i, %j, %k = schedule.stage "a" [i, j, k]
  %i_o, %i_i = schedule.split %i factor 4
  schedule.reorder %i_o, %i_i, %j
  schedule.reorder %j, %i_i
  schedule.reorder %i_o, %j, %i_i
  %f = schedule.fuse %j, %i_i
  schedule.reorder %f
  schedule.reorder %k, %i_o
  schedule.reorder %k, %f, %i_o
  schedule.vectorize %f
}

// The pattern alone, at one place, and where it refuses.
// RUN: opt-tool %s --apply-pattern canonicalize.idle-reorder@19 | filecheck %s --check-prefix=ALONE
// ALONE:      schedule.fuse
// ALONE-NEXT: schedule.reorder %k, %i_o
// RUN: not opt-tool %s --apply-pattern canonicalize.idle-reorder@20 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: canonicalize.idle-reorder does not match at line 20
