func.func @main(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x8xf32> {
  %0 = graph.relu %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %1 = graph.dense %0, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  %2 = graph.tanh %1 : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %3 = graph.mul %2, %x : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  %4 = graph.dense %3, %w : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
  func.return %4 : tensor<1x8xf32>
}

// One pattern alone, wherever it matches: kernels grow from their ends, and nothing else becomes one.
// RUN: opt-tool %s --apply-pattern graph-fuse-operators.merge-into-consumer | filecheck %s
// CHECK:      %0 = graph.relu %x
// CHECK-NEXT: %1 = graph.fused "dense_tanh_mul" (%0, %w, %x)
// CHECK:      graph.dense %1, %w

// At one place: the operator that begins in a line of the file moves into the kernel of its reader.
// RUN: opt-tool %s --apply-pattern graph-fuse-operators.merge-into-consumer@4 | filecheck %s --check-prefix=PLACE
// RUN: opt-tool %s --apply-pattern graph-fuse-operators.merge-into-consumer@4:3 | filecheck %s --check-prefix=PLACE
// RUN: opt-tool %s -p 'apply-pattern{pattern=graph-fuse-operators.merge-into-consumer line=4}' | filecheck %s --check-prefix=PLACE
// PLACE:      graph.dense
// PLACE-NEXT: graph.fused "tanh_mul"

// Several run in turn; a kernel that is there already stays as it is.
// RUN: opt-tool %s --apply-pattern graph-fuse-operators.merge-into-consumer --apply-pattern graph-fuse-operators.make-kernel@2 | filecheck %s --check-prefix=TWICE
// TWICE:      graph.fused "relu"
// TWICE:      graph.fused "dense_tanh_mul"
// TWICE:      graph.dense

// RUN: not opt-tool %s --apply-pattern graph-fuse-operators.merge-into-consumer@2 2>&1 | filecheck %s --check-prefix=REFUSED
// REFUSED: error: graph-fuse-operators.merge-into-consumer does not match at line 2: graph.relu begins there
// RUN: not opt-tool %s --apply-pattern graph-fuse-operators.merge-into-consumer@4:4 2>&1 | filecheck %s --check-prefix=COLUMN
// COLUMN: error: graph-fuse-operators.merge-into-consumer does not match at line 4:4: nothing begins there that it is tried on
// RUN: not opt-tool %s --apply-pattern graph-fuse-operators.merge-in-consumer 2>&1 | filecheck %s --check-prefix=NAME
// NAME: opt-tool: error: 'graph-fuse-operators.merge-in-consumer' does not refer to a rewrite pattern; did you mean 'graph-fuse-operators.merge-into-consumer'?; see --list-patterns
// RUN: not opt-tool %s --apply-pattern canonicalize.idle-reorder@here 2>&1 | filecheck %s --check-prefix=WORDS
// WORDS: opt-tool: error: --apply-pattern: expected PATTERN[@LINE[:COLUMN]], given 'canonicalize.idle-reorder@here'
// RUN: not opt-tool %s -p cse --apply-pattern canonicalize.idle-reorder 2>&1 | filecheck %s --check-prefix=BOTH
// BOTH: opt-tool: error: give --apply-pattern and the like, or --pass-pipeline, not both

// RUN: not opt-tool %s -p 'apply-pattern{pattern=canonicalize.idle-reorder column=3}' 2>&1 | filecheck %s --check-prefix=LINE
// LINE: opt-tool: error: a column stands behind a line: apply-pattern{pattern=... line=... column=...}

// RUN: opt-tool --list-patterns | filecheck %s --check-prefix=LIST
// LIST: Rewrite patterns:
// LIST: canonicalize.empty-range {{ *}}A loop from a bound
// LIST: graph-fuse-operators.merge-into-consumer {{ *}}An operator moves
