// Rewrites written as text: what they match on our operations, operands, attributes and results, they replace.
// RUN: opt-tool %s -p 'apply-pdl{pdl_file=%S/../../examples/pdl/relu.mlir}' --check-semantics | filecheck %s

// CHECK-LABEL: func.func @relus
// CHECK-NEXT:    %0 = graph.relu %x
// CHECK-NEXT:    func.return %0
func.func @relus(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.relu %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.relu %1 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %2 : tensor<8xf32>
}

// The upper bound is handed on; another lower one, or none, is not the one that the pattern names.
// CHECK-LABEL: func.func @clips
// CHECK:         graph.clip %x {low = 0.000000e+00 : f32, high = 6.000000e+00 : f32}
// CHECK:         graph.clip %0 {low = 1.000000e+00 : f32, high = 6.000000e+00 : f32}
// CHECK:         graph.clip %0 {high = 6.000000e+00 : f32}
func.func @clips(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.clip %0 {low = 0.0 : f32, high = 6.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.clip %0 {low = 1.0 : f32, high = 6.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = graph.clip %0 {high = 6.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  func.return %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// RUN: not opt-tool %s -p 'apply-pdl{pdl_file=%S/none.mlir}' 2>&1 | filecheck %s --check-prefix=MISSING
// MISSING: error: cannot read the PDL file {{.*}}none.mlir: No such file or directory
// RUN: not opt-tool %s -p 'apply-pdl{pdl_file=%s}' 2>&1 | filecheck %s --check-prefix=EMPTY
// EMPTY: error: {{.*}}apply-pdl.mlir holds no pdl.pattern
// RUN: not opt-tool %s -p 'apply-pdl{pdl_file=%S/Inputs/pdl-unknown.txt}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: a rewrite in PDL cannot be applied: Could not find op type for name graph.relue in context
// RUN: not opt-tool %s -p 'apply-pdl{pdl_file=%S/Inputs/pdl-native.txt}' 2>&1 | filecheck %s --check-prefix=NATIVE
// NATIVE: error: a rewrite in PDL cannot be applied: is_small PDL native constraint is not registered
// RUN: not opt-tool %s -p 'apply-pdl{pdl_file=%S/Inputs/pdl-syntax.txt}' 2>&1 | filecheck %s --check-prefix=SYNTAX
// SYNTAX: pdl-syntax.txt:2:{{[0-9]+}}: error:
