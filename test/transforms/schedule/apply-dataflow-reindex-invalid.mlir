// RUN: opt-tool %s -p schedule-apply-dataflow --split-input-file --verify-diagnostics

te.kernel @k(%x: tensor<9xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %a = te.read %x[i] : tensor<9xf32>
    %b = te.read %x[i + 1] : tensor<9xf32>
    %c = arith.addf %a, %b : f32
    te.yield %c : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  %x = schedule.argument 0
  // expected-error@+1 {{what stage 'y' reads of 'x' cannot be copied: it reads several elements at a time; copy them with cache_read}}
  %c, %ci = schedule.reindex %x "local" reader(%y) [i]
}

// -----

te.kernel @k(%x: tensor<8xf32>) -> tensor<9xf32> {
  %y = te.compute "y" [i: 9] : tensor<9xf32> {
    %a = te.if_then_else [7 - i >= 0] : f32 {
      %b = te.read %x[i] : tensor<8xf32>
      te.yield %b : f32
    } else {
      %z = arith.constant 0.0 : f32
      te.yield %z : f32
    }
    te.yield %a : f32
  }
  te.return %y : tensor<9xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  %x = schedule.argument 0
  // expected-error@+1 {{it is read under a condition; inline the stage with the condition into the copy instead}}
  %c, %ci = schedule.reindex %x "local" reader(%y) [i]
}

// -----

te.kernel @k(%x: tensor<8xf32>, %n: tensor<4xi64>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %a = te.read %n[i] : tensor<4xi64>
    %j = arith.index_cast %a : i64 to index
    %b = te.read %x[%j] : tensor<8xf32>
    te.yield %b : f32
  }
  te.return %y : tensor<4xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  %x = schedule.argument 0
  // expected-error@+1 {{data say which element it is; copy all with cache_read}}
  %c, %ci = schedule.reindex %x "local" reader(%y) [i]
}

// -----

te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8x3xf32> {
  %y = te.compute "y" [i: 8, j: 3] reduce [k: 4] : tensor<8x3xf32> {
    %a = te.read %x[i, k] : tensor<8x4xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<8x3xf32>
}
schedule.sequence @k {
  %y, %i, %j, %k = schedule.stage "y" [i, j, k]
  %x = schedule.argument 0
  // expected-error@+1 {{its axes [i, k] say which element it is, not [i, j]; name those}}
  %c, %ci, %cj = schedule.reindex %x "local" reader(%y) [i, j]
}

// -----

te.kernel @k(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [k: i + 1] : tensor<8xf32> {
    %a = te.read %x[k] : tensor<8xf32>
    te.reduce add %a : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i, %k = schedule.stage "y" [i, k]
  %x = schedule.argument 0
  // expected-error@+1 {{how long its axis 'k' is changes with another; use cache_read}}
  %c, %ck = schedule.reindex %x "local" reader(%y) [k]
}

// -----

te.kernel @k(%x: tensor<8xf32>, %u: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %a = te.read %x[i] : tensor<8xf32>
    te.yield %a : f32
  }
  te.return %y : tensor<8xf32>
}
schedule.sequence @k {
  %y, %i = schedule.stage "y" [i]
  %u = schedule.argument 1
  // expected-error@+1 {{stage 'y' does not read 'u'; no stage does}}
  %c, %ci = schedule.reindex %u "local" reader(%y) [i]
}
