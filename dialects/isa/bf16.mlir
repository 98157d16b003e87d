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
