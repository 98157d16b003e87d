// RUN: opt-tool %s --split-input-file --verify-diagnostics

// schedule.sequence: an axis is used after a split or a fuse consumed it.

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  %o, %n = schedule.split %i factor 4
  schedule.vectorize %i
}
// expected-error@-5 {{schedule.vectorize uses axis 'i', which schedule.split has consumed; use one of the axes that it made}}

// -----

schedule.sequence @k {
  %s, %i, %j = schedule.stage "a" [i, j]
  %f = schedule.fuse %i, %j
  schedule.parallel %j
}
// expected-error@-5 {{schedule.parallel uses axis 'j', which schedule.fuse has consumed}}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{split takes either a factor or nparts}}
  %o, %n = "schedule.split"(%i) <{tail = #schedule<tail guard>}> : (!schedule.axis) -> (!schedule.axis, !schedule.axis)
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{split by 0: must be at least 1}}
  %o, %n = schedule.split %i factor 0
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{fuse takes at least two axes}}
  %f = schedule.fuse %i
}

// -----

schedule.sequence @k {
  %s, %i, %j = schedule.stage "a" [i, j]
  // expected-error@+1 {{reorder names an axis twice}}
  schedule.reorder %i, %i
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{unknown scope 'shared'; known: global, local, register}}
  schedule.set_scope %s "shared"
}

// -----

schedule.sequence @k {
  // expected-error@+1 {{1 axes for 2 names}}
  %s, %i = "schedule.stage"() <{stage = "a", axis_names = ["i", "j"]}> : () -> (!schedule.stage, !schedule.axis)
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{1 axes for 2 names}}
  %c, %n = "schedule.cache_write"(%s) <{scope = "local", axis_names = ["i", "j"]}> : (!schedule.stage) -> (!schedule.stage, !schedule.axis)
}

// -----

// Primitives stand in a sequence only: schedule.unroll, schedule.compute_at, schedule.compute_inline.

func.func @f(%s: !schedule.stage, %i: !schedule.axis) {
  // expected-error@+1 {{'schedule.unroll' expects parent op 'schedule.sequence'}}
  schedule.unroll %i
  func.return
}

// -----

func.func @f(%s: !schedule.stage, %i: !schedule.axis) {
  // expected-error@+1 {{'schedule.compute_at' expects parent op 'schedule.sequence'}}
  schedule.compute_at %s, %i
  func.return
}

// -----

func.func @f(%s: !schedule.stage) {
  // expected-error@+1 {{'schedule.compute_inline' expects parent op 'schedule.sequence'}}
  schedule.compute_inline %s
  func.return
}
