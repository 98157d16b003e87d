// RUN: not opt-tool %s --pass-pipeline='builtin.module(csee)' 2>&1 | filecheck %s --check-prefix=UNKNOWN --strict-whitespace
// UNKNOWN:opt-tool: error: 'csee' does not refer to a registered pass or pipeline; did you mean 'cse'?
// UNKNOWN-NEXT:  builtin.module(csee)
// UNKNOWN-NEXT:{{^ {17}\^$}}

// RUN: not opt-tool %s --pass-pipeline='builtin.module(func.func(lower-affine))' 2>&1 | filecheck %s --check-prefix=ANCHOR
// ANCHOR: opt-tool: error: pass 'lower-affine' is anchored on 'builtin.module' and cannot run on 'func.func'

// RUN: not opt-tool %s --pass-pipeline='builtin.module(func.fun(cse))' 2>&1 | filecheck %s --check-prefix=OPERATION --strict-whitespace
// OPERATION:opt-tool: error: unknown operation 'func.fun'; did you mean 'func.func'?
// OPERATION-NEXT:  builtin.module(func.fun(cse))
// OPERATION-NEXT:{{^ {17}\^$}}

// RUN: not opt-tool %s --pass-pipeline='mine.op(cse)' 2>&1 | filecheck %s --check-prefix=DIALECT
// DIALECT: opt-tool: error: unknown operation 'mine.op': its dialect is not registered (--allow-unregistered-dialect accepts it)
// RUN: opt-tool %s --pass-pipeline='mine.op(cse)' --allow-unregistered-dialect

// RUN: not opt-tool %s --graph-fuse-operatrs 2>&1 | filecheck %s --check-prefix=PASS-FLAG
// PASS-FLAG: opt-tool: error: unrecognized arguments: --graph-fuse-operatrs; did you mean '--graph-fuse-operators'?

// RUN: not opt-tool %s --mlir-timng 2>&1 | filecheck %s --check-prefix=OTHER-FLAG
// OTHER-FLAG: opt-tool: error: unrecognized arguments: --mlir-timng; did you mean '--mlir-timing'?

// RUN: not opt-tool %s -p cse --mlir-print-ir-after=graph-fuse 2>&1 | filecheck %s --check-prefix=PRINT
// PRINT: 'graph-fuse' does not refer to a registered pass; did you mean 'graph-fuse-operators'?

// RUN: opt-tool %s --lower-to-te --plan-host --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=PIPELINES
// PIPELINES: builtin.module(graph-insert-copies,graph-to-te,host-update-states,host-insert-waits,loop-plan-memory)

// RUN: not opt-tool %s --pass-pipeline='func.func(cse' 2>&1 | filecheck %s --check-prefix=OPEN
// OPEN: opt-tool: error: expected ',' or ')' after a pass

// RUN: not opt-tool %s -p 'cse dce' 2>&1 | filecheck %s --check-prefix=COMMA
// COMMA: opt-tool: error: expected ',' or the end after a pass

// RUN: not opt-tool %s -p 'cse,,dce' 2>&1 | filecheck %s --check-prefix=NAME
// NAME: opt-tool: error: expected the name of a pass or operation

// RUN: not opt-tool %s -p 'cse{depth=1}' 2>&1 | filecheck %s --check-prefix=NO-OPTIONS
// NO-OPTIONS: opt-tool: error: pass 'cse' has no option 'depth': it takes none

// RUN: not opt-tool %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-size=1}' 2>&1 | filecheck %s --check-prefix=OPTION
// OPTION: opt-tool: error: pass 'scf-parallel-loop-tiling' has no option 'parallel-loop-tile-size': its options are parallel-loop-tile-sizes; did you mean 'parallel-loop-tile-sizes'?

// RUN: not opt-tool %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=4,wide}' 2>&1 | filecheck %s --check-prefix=VALUE
// VALUE: opt-tool: error: option 'parallel-loop-tile-sizes' of pass 'scf-parallel-loop-tiling' must be int values separated by commas, given '4,wide'

// RUN: not opt-tool %s -p 'scf-parallel-loop-tiling' 2>&1 | filecheck %s --check-prefix=REQUIRED
// REQUIRED: opt-tool: error: pass 'scf-parallel-loop-tiling' needs its option 'parallel-loop-tile-sizes' (int values separated by commas)

// RUN: not opt-tool %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=1 parallel-loop-tile-sizes=2}' 2>&1 | filecheck %s --check-prefix=TWICE
// TWICE: opt-tool: error: option 'parallel-loop-tile-sizes' is given twice

// RUN: not opt-tool %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=}' 2>&1 | filecheck %s --check-prefix=MISSING
// MISSING: opt-tool: error: expected a value

// RUN: not opt-tool %s -p 'any(loop-simplify)' 2>&1 | filecheck %s --check-prefix=ANY
// ANY: opt-tool: error: pass 'loop-simplify' is anchored on 'loop.kernel' and cannot run on 'any'

// RUN: not opt-tool %s -p 'canonicalize{region-simplify=aggressive}' 2>&1 | filecheck %s --check-prefix=CHOICE
// CHOICE: opt-tool: error: option 'region-simplify' of pass 'canonicalize' must be 'normal' or 'disabled', given 'aggressive'

// RUN: not opt-tool %s -p 'canonicalize{test-convergence=true}' 2>&1 | filecheck %s --check-prefix=CONVERGENCE
// CONVERGENCE: opt-tool: error: pass 'canonicalize' has no option 'test-convergence': its options are max-iterations, top-down, region-simplify

// RUN: not opt-tool %s --cse -p dce 2>&1 | filecheck %s --check-prefix=BOTH
// BOTH: opt-tool: error: give --cse and the like, or --pass-pipeline, not both

// RUN: not opt-tool %s -p cse --stop-after=te 2>&1 | filecheck %s --check-prefix=STOP
// STOP: opt-tool: error: cannot stop after 'te': the pipeline has no such pass and reaches no such level; its passes: cse

// RUN: opt-tool %s --pass-pipeline='builtin.module( func.func( cse , dce ) , scf-parallel-loop-tiling{parallel_loop_tile_sizes=4,8} )' --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=DUMP
// DUMP: builtin.module(func.func(cse,dce),scf-parallel-loop-tiling{parallel-loop-tile-sizes=4,8})
func.func @f() {
  func.return
}
