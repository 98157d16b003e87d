// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | filecheck %s --check-prefix GENERIC

// The other primitives: places, caches, storage, threads, knobs.

// CHECK-LABEL: schedule.sequence @places
schedule.sequence @places {
  // CHECK-NEXT: %x = schedule.argument 1
  // GENERIC: "schedule.argument"() <{index = 1 : i64}> : () -> !schedule.stage
  %x = schedule.argument 1
  %a, %i, %k = schedule.stage "a" [i, k]
  %b, %j = schedule.stage "b" [i]
  // CHECK: %one = schedule.singleton %b
  %one = schedule.singleton %b
  // CHECK: schedule.decompose_reduction %a, %i
  schedule.decompose_reduction %a, %i
  // CHECK: schedule.reverse_compute_at %b, %i
  schedule.reverse_compute_at %b, %i
  // CHECK: schedule.compute_root %b
  schedule.compute_root %b
  // CHECK: %g = schedule.create_group outputs(%b) inputs(%a, %x) include_inputs
  // GENERIC: "schedule.create_group"(%{{.*}}, %{{.*}}, %{{.*}}) <{include_inputs, operandSegmentSizes = array<i32: 1, 2>}>
  %g = schedule.create_group outputs(%b) inputs(%a, %x) include_inputs
  // CHECK: schedule.create_group outputs(%b) inputs(){{$}}
  %h = schedule.create_group outputs(%b) inputs()
  // CHECK: schedule.bind %k "threadIdx.x"
  schedule.bind %k "threadIdx.x"
  // CHECK: schedule.bind %one "blockIdx.x" 1{{$}}
  // GENERIC: "schedule.bind"(%{{.*}}) <{thread = "blockIdx.x", extent = 1 : i64}>
  schedule.bind %one "blockIdx.x" 1
  // CHECK: schedule.set_store_predicate %a, %k == 0
  // GENERIC: "schedule.set_store_predicate"(%{{.*}}, %{{.*}}) <{thread = 0 : i64}>
  schedule.set_store_predicate %a, %k == 0
  // CHECK: schedule.env_threads %a "threadIdx.y" 4
  schedule.env_threads %a "threadIdx.y" 4
  // CHECK: schedule.env_threads %a "threadIdx.x" #schedule.knob<"lanes", [16, 32], 32>
  schedule.env_threads %a "threadIdx.x" #schedule.knob<"lanes", [16, 32], 32>
  // CHECK: schedule.pragma %i "auto_unroll_max_step" 16
  schedule.pragma %i "auto_unroll_max_step" 16
  // CHECK: schedule.pragma %i "parallel_least_work" 64
  schedule.pragma %i "parallel_least_work" 64
  // CHECK: schedule.pragma %i "loop_partition_hint" 0
  schedule.pragma %i "loop_partition_hint" 0
  // CHECK: schedule.tensorize %k @amx.tile_mulf
  schedule.tensorize %k @amx.tile_mulf
}

// CHECK-LABEL: schedule.sequence @dataflow
schedule.sequence @dataflow {
  %x = schedule.argument 0
  %a, %i, %k = schedule.stage "a" [i, k]
  // CHECK: %xl, %xi, %xk = schedule.cache_read %x{{\w*}} "local.tagged" readers(%a{{.*}}) [i, k]
  // GENERIC: "schedule.cache_read"(%{{.*}}, %{{.*}}) <{scope = "local.tagged", axis_names = ["i", "k"]}>
  %xl, %xi, %xk = schedule.cache_read %x "local.tagged" readers(%a) [i, k]
  // CHECK: %xr, %k{{\w*}}, %i{{\w*}} = schedule.reindex %x{{\w*}} "shared" reader(%a{{.*}}) [k, i]
  // GENERIC: "schedule.reindex"(%{{.*}}, %{{.*}}) <{scope = "shared", axis_names = ["k", "i"]}>
  %xr, %k_1, %i_1 = schedule.reindex %x "shared" reader(%a) [k, i]
  // CHECK: schedule.pad_to_multiple %k{{\w*}} factor 8
  schedule.pad_to_multiple %k factor 8
  // CHECK: %ko, %ki = schedule.split %k{{\w*}} nparts 4 tail pad
  %ko, %ki = schedule.split %k nparts 4 tail pad
  // CHECK: %rf, %ri, %rki, %rko, %rest = schedule.rfactor %a{{\w*}}, %ki at -1 [i, k.inner, k.outer]
  // GENERIC: "schedule.rfactor"(%{{.*}}, %{{.*}}) <{factor_axis = -1 : i64, axis_names = ["i", "k.inner", "k.outer"]}>
  %rf, %ri, %rki, %rko, %rest = schedule.rfactor %a, %ki at -1 [i, k.inner, k.outer]
  // CHECK: schedule.storage_align %xi factor 32 offset 1
  schedule.storage_align %xi factor 32 offset 1
  // CHECK: schedule.double_buffer %xl
  schedule.double_buffer %xl
  // CHECK: schedule.prefetch %x{{\w*}}, %i{{\w*}} offset 2
  schedule.prefetch %x, %i offset 2
  // CHECK: schedule.prefetch %x{{\w*}}, %i{{\w*}} offset 1 spread
  schedule.prefetch %x, %i offset 1 spread
}

// CHECK-LABEL: schedule.sequence @knobs
schedule.sequence @knobs {
  %a, %i = schedule.stage "a" [i]
  // CHECK: schedule.split %i{{\w*}} factor #schedule.knob<"tile", [4, 8, 16], 8> tail shift
  // GENERIC: "schedule.split"(%{{.*}}) <{factor = #schedule.knob<"tile", [4, 8, 16], 8>
  %io, %ii = schedule.split %i factor #schedule.knob<"tile", [4, 8, 16], 8> tail shift
  // CHECK: schedule.split %io nparts #schedule.knob<"parts", [2], 2>
  %ioo, %ioi = schedule.split %io nparts #schedule.knob<"parts", [2], 2>
  // CHECK: schedule.pragma %ii "auto_unroll_max_step" #schedule.knob<"step", [0, 16], 0>
  schedule.pragma %ii "auto_unroll_max_step" #schedule.knob<"step", [0, 16], 0>
}
