// RUN: opt-tool %s --split-input-file --verify-diagnostics

// expected-error@+1 {{an intrinsic is on scalars or on tensors, all of them, not on tensor<4xf32>}}
te.intrinsic @mixed(%x: tensor<4xf32>) -> f32 {
  %y = arith.constant 0.0 : f32
  te.yield %y : f32
}

// -----

// expected-error@+1 {{an intrinsic is on tensors of known shape or on scalars, not on f32}}
te.intrinsic @mixed(%x: f32) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %zero = arith.constant 0.0 : f32
    te.yield %zero : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{an intrinsic has one result, not 2}}
te.intrinsic @two(%x: f32) -> (f32, f32) {
  te.yield %x : f32
}

// -----

// expected-error@+1 {{the meaning of an intrinsic is made of arith and math, not of te.call_intrinsic}}
te.intrinsic @nested(%x: i32) -> i32 {
  %y = te.call_intrinsic @dot4.ui8i8(%x, %x) : (i32, i32) -> i32
  te.yield %y : i32
}

// -----

// expected-error@+1 {{arith.addf computes with bf16: extend the numbers to f32 before}}
te.intrinsic @narrow(%x: bf16) -> bf16 {
  %y = arith.addf %x, %x : bf16
  te.yield %y : bf16
}

// -----

// expected-error@+1 {{an intrinsic on scalars ends in te.yield of f32}}
te.intrinsic @other(%x: f32, %n: i32) -> f32 {
  te.yield %n : i32
}

// -----

// expected-error@+1 {{the arguments need names of their own, none of result, suffix, type}}
te.intrinsic @named(%result: f32) -> f32 {
  te.yield %result : f32
}

// -----

// expected-error@+1 {{'reset' is for intrinsics on tensors}}
te.intrinsic @scalars(%x: f32) -> f32 attributes {reset = @amx.tile_zero} {
  te.yield %x : f32
}

// -----

// expected-error@+1 {{what accumulates is a reduction}}
te.intrinsic @no_reduction(%x: tensor<4xf32>) -> tensor<4xf32> attributes {accumulates} {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{the meaning of an intrinsic on tensors is one te.compute, which it returns}}
te.intrinsic @passed_on(%x: tensor<4xf32>) -> tensor<4xf32> {
  te.return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{argument %w is not read}}
te.intrinsic @unread(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{the meaning of an intrinsic is made of arith and math, not of te.if_then_else}}
te.intrinsic @choice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.if_then_else [i - 1 >= 0] : f32 {
      %0 = te.read %x[i - 1] : tensor<4xf32>
      te.yield %0 : f32
    } else {
      %1 = te.read %x[i] : tensor<4xf32>
      te.yield %1 : f32
    }
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{a reduction of an intrinsic has a reducer with a name, and no condition}}
te.intrinsic @condition(%x: tensor<4xf32>) -> tensor<f32> {
  %y = te.compute "y" [] reduce [i: 4] : tensor<f32> {
    %v = te.read %x[i] : tensor<4xf32>
    %c = arith.constant true
    te.reduce add %v where %c : f32
  }
  te.return %y : tensor<f32>
}

// -----

// expected-error@+1 {{'buffers' says what is wanted of 1 of 2 buffers}}
te.intrinsic @few(%x: tensor<4xf32>) -> tensor<4xf32> attributes {buffers = [memref<4xf32>]} {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{memref<8xf32> is wanted for tensor<4xf32>: its shape and its elements are to be the same}}
te.intrinsic @shape(%x: tensor<4xf32>) -> tensor<4xf32> attributes {buffers = [memref<8xf32>, memref<4xf32>]} {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{the snippet for 'c' names $z; there are $x, $type, $suffix, $x_type, and names that begin with '_'}}
te.intrinsic @unknown(%x: f32) -> f32 attributes {snippets = {c = "f($z)"}} {
  te.yield %x : f32
}

// -----

// expected-error@+1 {{the snippet for 'c' has a '$' that names nothing; '$$' stands for one}}
te.intrinsic @dollar(%x: f32) -> f32 attributes {snippets = {c = "f($)"}} {
  te.yield %x : f32
}

// -----

// expected-error@+1 {{the snippet for 'c' is a text, or a list of lines, not 1 : i64}}
te.intrinsic @number(%x: f32) -> f32 attributes {snippets = {c = 1 : i64}} {
  te.yield %x : f32
}

// -----

// expected-error@+1 {{@dot4.ui8i8 is an intrinsic of the library, which has its meaning: take another name}}
te.intrinsic @dot4.ui8i8(%x: i32, %w: i32) -> i32 {
  %y = arith.addi %x, %w : i32
  te.yield %y : i32
}
te.kernel @k(%x: tensor<8xi32>) -> tensor<8xi32> {
  %y = te.compute "y" [i: 8] : tensor<8xi32> {
    %v = te.read %x[i] : tensor<8xi32>
    %w = te.call_intrinsic @dot4.ui8i8(%v, %v) : (i32, i32) -> i32
    te.yield %w : i32
  }
  te.return %y : tensor<8xi32>
}

// -----

te.kernel @k(%x: tensor<8xi32>) -> tensor<8xi32> {
  %y = te.compute "y" [i: 8] : tensor<8xi32> {
    %v = te.read %x[i] : tensor<8xi32>
    // expected-error@+1 {{no te.intrinsic declares @word.dot; there are}}
    %w = te.call_intrinsic @word.dot(%v, %v) : (i32, i32) -> i32
    te.yield %w : i32
  }
  te.return %y : tensor<8xi32>
}

// -----

te.kernel @k(%x: tensor<8xi32>) -> tensor<8xi32> {
  %y = te.compute "y" [i: 8] : tensor<8xi32> {
    %v = te.read %x[i] : tensor<8xi32>
    // expected-error@+1 {{@dot4.ui8i8 is (i32, i32) -> i32, on scalars or on vectors of as many lanes}}
    %w = te.call_intrinsic @dot4.ui8i8(%v) : (i32) -> i32
    te.yield %w : i32
  }
  te.return %y : tensor<8xi32>
}

// -----

te.kernel @k(%x: tensor<8x4xi32>) -> tensor<8xi32> {
  %y = te.compute "y" [i: 8] reduce [k: 4] : tensor<8xi32> {
    %v = te.read %x[i, k] : tensor<8x4xi32>
    // expected-error@+1 {{a reducer is made of arith and math operations, not of te.call_intrinsic}}
    te.reduce %v from [0 : i32] : i32 {
    ^bb0(%a: i32, %b: i32):
      %w = te.call_intrinsic @dot4.ui8i8(%a, %b) : (i32, i32) -> i32
      te.yield %w : i32
    }
  }
  te.return %y : tensor<8xi32>
}

// -----

// expected-error@+1 {{te.intrinsic has no 'acumulates'; it has accumulates, buffers, cost, multiples, reset, snippets, update, warp; did you mean 'accumulates'?}}
te.intrinsic @misspelt(%x: f32) -> f32 attributes {acumulates} {
  te.yield %x : f32
}

// -----

// expected-error@+1 {{te.intrinsic has a body: what the instruction computes}}
te.intrinsic @no_body(%x: f32) -> f32

// -----

// expected-error@+1 {{'lvm' is no kind of targets; there are}}
te.intrinsic @kind(%x: f32) -> f32 attributes {snippets = {lvm = "$x"}} {
  te.yield %x : f32
}

// -----

// expected-error@+1 {{a cost is a number from 0 on, not -2.0}}
te.intrinsic @cost(%x: f32) -> f32 attributes {cost = -2.0 : f64} {
  te.yield %x : f32
}

// -----

// expected-error@+1 {{index i + 2 of argument %x is from 2 to 5, where axis 0 has 4 elements}}
te.intrinsic @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i + 2] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{the first or the last element of argument %x is not read, and an instruction reaches all of its argument, beyond what loops read: give it the shape of what is read}}
te.intrinsic @window(%x: tensor<16xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] : tensor<8xf32> {
    %v = te.read %x[i] : tensor<16xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<8xf32>
}

// -----

// expected-error@+1 {{the strides of memref<4xf32, strided<[0]>> are to be at least 1}}
te.intrinsic @strides(%x: tensor<4xf32>) -> tensor<4xf32> attributes {buffers = [memref<4xf32, strided<[0]>>, memref<4xf32>]} {
  %y = te.compute "y" [i: 4] : tensor<4xf32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{an 'update' is for a reduction that does not accumulate}}
te.intrinsic @update(%x: tensor<4xf32>) -> tensor<f32> attributes {accumulates, update = @update} {
  %y = te.compute "y" [] reduce [i: 4] : tensor<f32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<f32>
}

// -----

// expected-error@+1 {{@bf16.round stands in for parts of @reset, and has not a result like it, memref<f32>}}
te.intrinsic @reset(%x: tensor<4xf32>) -> tensor<f32> attributes {reset = @bf16.round} {
  %y = te.compute "y" [] reduce [i: 4] : tensor<f32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<f32>
}

// -----

// expected-error@+1 {{no te.intrinsic declares @no.such; there are}}
te.intrinsic @unknown_reset(%x: tensor<4xf32>) -> tensor<f32> attributes {reset = @no.such} {
  %y = te.compute "y" [] reduce [i: 4] : tensor<f32> {
    %v = te.read %x[i] : tensor<4xf32>
    te.reduce add %v : f32
  }
  te.return %y : tensor<f32>
}
