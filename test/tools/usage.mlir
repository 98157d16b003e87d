// RUN: not opt-tool --xyzzy 2>&1 | filecheck %s --check-prefix=FLAG
// FLAG: opt-tool: error: unrecognized arguments: --xyzzy; see opt-tool --help

// RUN: not opt-tool %s --verify-each=maybe 2>&1 | filecheck %s --check-prefix=BOOLEAN
// BOOLEAN: opt-tool: error: argument --verify-each: expected true or false, given 'maybe'

// RUN: not opt-tool %S/nowhere.mlir 2>&1 | filecheck %s --check-prefix=INPUT
// INPUT: opt-tool: error: cannot open input file '{{.*}}nowhere.mlir': No such file or directory

// RUN: not opt-tool %s -o %S/nowhere/out.mlir 2>&1 | filecheck %s --check-prefix=OUTPUT
// OUTPUT: opt-tool: error: cannot open output file '{{.*}}nowhere/out.mlir': No such file or directory

// RUN: not opt-tool %s -t nowhere 2>&1 | filecheck %s --check-prefix=TARGET
// TARGET: opt-tool: error: -t nowhere: unknown format; the formats are mlir

// RUN: not opt-tool %s --run-reproducer 2>&1 | filecheck %s --check-prefix=REPRODUCER
// REPRODUCER: opt-tool: error: '{{.*}}usage.mlir' is no reproducer: it has no external resource 'mlir_reproducer' with a 'pipeline'

// RUN: not opt-tool %s --no-implicit-module 2>&1 | filecheck %s --check-prefix=MODULE
// MODULE: usage.mlir:{{.*}}: error: builtin.module operation expected

// What these ask for is always so; mlir-opt can be told otherwise.
// RUN: opt-tool %s --mlir-disable-threading --mlir-print-local-scope=true | filecheck %s --check-prefix=ALWAYS
// ALWAYS: func.func @f
// RUN: not opt-tool %s --mlir-disable-threading=false 2>&1 | filecheck %s --check-prefix=NEVER
// NEVER: opt-tool: error: argument --mlir-disable-threading: invalid choice: 'false' (choose from

// RUN: opt-tool --help | filecheck %s --check-prefix=HELP
// HELP: usage: opt-tool
// HELP: --pass-pipeline

// RUN: opt-tool --show-dialects | filecheck %s --check-prefix=DIALECTS
// DIALECTS:     Available Dialects:
// DIALECTS-DAG: {{^arith$}}
// DIALECTS-DAG: {{^graph$}}

// RUN: opt-tool --list-passes | filecheck %s --check-prefix=PASSES
// PASSES: cse {{ *}}[any operation] Make equal pure operations
// PASSES: Passes of xDSL:
// PASSES: lower-affine

// RUN: opt-tool %s -p cse --mlir-timing -o %t 2>&1 | filecheck %s --check-prefix=TIMING
// TIMING: ... Execution time report ...
// TIMING: Total Execution Time: {{.*}} seconds
// TIMING: )  Parser
// TIMING: )  Verifier
// TIMING: )  'builtin.module' Pipeline
// TIMING: )    Verifier
// TIMING: )    CommonSubexpressionElimination (cse)
// TIMING: (100.0%)  Total
func.func @f() {
  func.return
}
