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
  // expected-error@+1 {{fuse takes at least two axes; schedule.singleton makes one from none}}
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
  // expected-error@+1 {{reorder takes at least one axis}}
  schedule.reorder
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{unknown scope 'texture'; known: global, shared, warp, local, register}}
  schedule.set_scope %s "texture"
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

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{unknown scope 'l1'; known: global, shared, warp, local, register}}
  %c, %n = schedule.cache_write %s "l1" [i]
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{unknown scope 'l1'}}
  %c, %n = schedule.cache_read %s "l1" readers(%s) [i]
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{cache_read takes at least one reader}}
  %c, %n = schedule.cache_read %s "local" readers() [i]
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{unknown scope 'l1'}}
  %c, %n = schedule.reindex %s "l1" reader(%s) [i]
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{an axis is named twice: i, i}}
  %c, %n, %m = schedule.cache_read %s "local" readers(%s) [i, i]
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{2 axes for 1 names}}
  %r, %n, %m, %o = "schedule.rfactor"(%s, %i) <{factor_axis = 0 : i64, axis_names = ["i"]}> : (!schedule.stage, !schedule.axis) -> (!schedule.stage, !schedule.axis, !schedule.axis, !schedule.axis)
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{pad_to_multiple of 0: must be at least 1}}
  schedule.pad_to_multiple %i factor 0
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{storage_align takes a factor of at least 1 and an offset of at least 0}}
  schedule.storage_align %i factor 0 offset 1
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{prefetch 0 iterations ahead: must be at least 1}}
  schedule.prefetch %s, %i offset 0
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{unknown thread axis 'threadIdx.w'; known: blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, vthread}}
  schedule.bind %i "threadIdx.w"
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{0 threads: must be at least 1}}
  schedule.bind %i "threadIdx.x" 0
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{unknown thread axis 'lane'}}
  schedule.env_threads %s "lane" 4
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{0 threads: must be at least 1}}
  schedule.env_threads %s "threadIdx.x" 0
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{unknown pragma 'fast'; known: auto_unroll_max_step}}
  schedule.pragma %i "fast" 1
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{pragma 'auto_unroll_max_step' takes a number of at least 0}}
  schedule.pragma %i "auto_unroll_max_step" -1
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{Expected SymbolRefAttr with no nested symbols}}
  schedule.tensorize %i "gemv"
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{threads are counted from 0, got -1}}
  schedule.set_store_predicate %s, %i == -1
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{arguments are counted from 0, got -1}}
  %x = schedule.argument -1
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{a group has at least one output}}
  %g = schedule.create_group outputs() inputs(%s)
}

// -----

schedule.sequence @k {
  %s, %i, %j = schedule.stage "a" [i, j]
  // expected-error@+1 {{knob 'tile' is 5, not one of 4, 8}}
  %o, %n = schedule.split %i factor #schedule.knob<"tile", [4, 8], 5>
}

// -----

schedule.sequence @k {
  %s, %i, %j = schedule.stage "a" [i, j]
  // expected-error@+1 {{knob 'tile' lists a choice twice}}
  %o, %n = schedule.split %i factor #schedule.knob<"tile", [4, 4], 4>
}

// -----

schedule.sequence @k {
  %s, %i, %j = schedule.stage "a" [i, j]
  %o, %n = schedule.split %i factor #schedule.knob<"tile", [4, 8], 4>
  %p, %m = schedule.split %j factor #schedule.knob<"tile", [4, 8], 8>
}
// expected-error@-5 {{schedule.split has #schedule.knob<"tile", [4, 8], 8>, but knob 'tile' was #schedule.knob<"tile", [4, 8], 4> before}}

// -----

schedule.sequence @k {
  %s, %i, %k = schedule.stage "a" [i, k]
  %r, %n, %m, %o = schedule.rfactor %s, %k at 0 [i, k]
  schedule.unroll %k
}
// expected-error@-5 {{schedule.unroll uses axis 'k', which schedule.rfactor has consumed}}

// -----

// More primitives that stand in a sequence only: schedule.singleton, schedule.compute_root, schedule.double_buffer,
// schedule.reverse_compute_at.

func.func @f(%s: !schedule.stage, %i: !schedule.axis) {
  // expected-error@+1 {{'schedule.reverse_compute_at' expects parent op 'schedule.sequence'}}
  schedule.reverse_compute_at %s, %i
  func.return
}

// -----

func.func @f(%s: !schedule.stage, %i: !schedule.axis) {
  // expected-error@+1 {{'schedule.decompose_reduction' expects parent op 'schedule.sequence'}}
  schedule.decompose_reduction %s, %i
  func.return
}

// -----

schedule.sequence @k {
  %s, %i = schedule.stage "a" [i]
  // expected-error@+1 {{scope register takes no tag, got 'register.sums'}}
  schedule.set_scope %s "register.sums"
}
