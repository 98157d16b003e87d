// RUN: opt-tool %s --split-input-file --verify-diagnostics

// expected-note @below {{see existing symbol definition here}}
func.func @f() {
  func.return
}
func.func @g() {
  func.return
}
// expected-error @below {{redefinition of symbol named 'f'}}
func.func @f() {
  func.return
}

// -----

// A kernel and a function share the names of the module, whatever their levels.
// expected-note @below {{see existing symbol definition here}}
loop.kernel @k ins(%x: memref<8xf32>) outs(%y: memref<8xf32>) {
}
// expected-error @below {{redefinition of symbol named 'k'}}
te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  te.return %x : tensor<8xf32>
}

// -----

// A schedule has the name of its kernel, which has one schedule.
te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  te.return %x : tensor<8xf32>
}
// expected-note @below {{the first schedule is here}}
schedule.sequence @k {
}
// expected-error @below {{a second schedule of @k}}
schedule.sequence @k {
}
