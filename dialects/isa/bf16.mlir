// Numbers of bfloat16, as processors that multiply them take them.

// The nearest number of bfloat16, ties to even; what is smaller than the smallest normal number is zero, as it is where
// tiles are multiplied. One instruction, where arith.truncf takes several to keep small numbers.
te.intrinsic @bf16.round(%x: f32) -> bf16 {
  %smallest = arith.constant 0x00800000 : f32
  %zero = arith.constant 0.0 : f32
  %size = math.absf %x : f32
  %is_small = arith.cmpf olt, %size, %smallest : f32
  %nothing = math.copysign %zero, %x : f32
  %kept = arith.select %is_small, %nothing, %x : f32
  %y = arith.truncf %kept : f32 to bf16
  te.yield %y : bf16
}

// The sum of two products, of the first numbers of two words and of the second ones; the first number of a word is in
// its lower half. A sum with `contract` that adds one adds the two products to what else it adds, one after the other:
// x86 the second one first, rounded to nearest each time, Arm their sum, rounded to odd. These instructions take
// denormals for zeros and make zeros of them; all else are multiply-adds of floats, in the order of x86.
te.intrinsic @bf16.dot(%x: i32, %w: i32) -> f32 {
  %half = arith.constant 16 : i32
  %upper = arith.constant -65536 : i32
  %x0 = arith.shli %x, %half : i32
  %w0 = arith.shli %w, %half : i32
  %x1 = arith.andi %x, %upper : i32
  %w1 = arith.andi %w, %upper : i32
  %xf0 = arith.bitcast %x0 : i32 to f32
  %wf0 = arith.bitcast %w0 : i32 to f32
  %xf1 = arith.bitcast %x1 : i32 to f32
  %wf1 = arith.bitcast %w1 : i32 to f32
  %p0 = arith.mulf %xf0, %wf0 : f32
  %p1 = arith.mulf %xf1, %wf1 : f32
  %sum = arith.addf %p0, %p1 : f32
  te.yield %sum : f32
}
