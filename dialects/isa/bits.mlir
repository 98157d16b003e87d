// Products of bits: words, as processors count what bits they have in common.

// The sum of 32 products, each of a bit of one word and the bit of the other one at the same place.
te.intrinsic @bits.dot(%x: i32, %w: i32) -> i32 {
  %both = arith.andi %x, %w : i32
  %count = math.ctpop %both : i32
  te.yield %count : i32
}
