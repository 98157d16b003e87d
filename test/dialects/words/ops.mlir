// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s --mlir-print-op-generic | opt-tool - | filecheck %s

// CHECK-LABEL: func.func @words
func.func @words(%x: i32, %w: i32, %xs: vector<16xi32>, %ws: vector<16xi32>) -> (i32, vector<16xi32>) {
  // CHECK: words.dot %x, %w : i32
  %0 = words.dot %x, %w : i32
  // CHECK: words.dot %xs, %ws : vector<16xi32>
  %1 = words.dot %xs, %ws : vector<16xi32>
  func.return %0, %1 : i32, vector<16xi32>
}
