// RUN: opt-tool %s --split-input-file --verify-diagnostics -p te-to-schedule

// expected-error @below {{tilework.targets is a string, or a dictionary of strings by device, not 3 : i64}}
builtin.module attributes {tilework.targets = 3 : i64} {
  te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    te.return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{tilework.targets has unit for device 'host': a target is a string}}
builtin.module attributes {tilework.targets = {host}} {
  te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    te.return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{tilework.targets, device 'host': unknown target 'fpga': the known kinds are 'c', 'cuda', 'llvm', 'metal', 'opencl' and 'vdla'}}
builtin.module attributes {tilework.targets = "fpga"} {
  te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    te.return %x : tensor<4xf32>
  }
}

// -----

builtin.module attributes {tilework.targets = "llvm -mcpu=haswell"} {
  // expected-error @below {{the device of 'te.kernel' is a string, not 3 : i32}}
  te.kernel @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {device = 3 : i32} {
    te.return %x : tensor<4xf32>
  }
}
