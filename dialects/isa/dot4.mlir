// Dot products of bytes: words, as processors multiply their bytes and sum up.

// The sum of four products: of the bytes of one word, without sign, and those of another one, with a sign. Nothing
// overflows.
te.intrinsic @dot4.ui8i8(%x: i32, %w: i32) -> i32 {
  %low = arith.constant 255 : i32
  %top = arith.constant 24 : i32
  %x0 = arith.andi %x, %low : i32
  %l0 = arith.constant 24 : i32
  %t0 = arith.shli %w, %l0 : i32
  %w0 = arith.shrsi %t0, %top : i32
  %p0 = arith.muli %x0, %w0 : i32
  %r1 = arith.constant 8 : i32
  %s1 = arith.shrui %x, %r1 : i32
  %x1 = arith.andi %s1, %low : i32
  %l1 = arith.constant 16 : i32
  %t1 = arith.shli %w, %l1 : i32
  %w1 = arith.shrsi %t1, %top : i32
  %p1 = arith.muli %x1, %w1 : i32
  %sum1 = arith.addi %p0, %p1 : i32
  %r2 = arith.constant 16 : i32
  %s2 = arith.shrui %x, %r2 : i32
  %x2 = arith.andi %s2, %low : i32
  %l2 = arith.constant 8 : i32
  %t2 = arith.shli %w, %l2 : i32
  %w2 = arith.shrsi %t2, %top : i32
  %p2 = arith.muli %x2, %w2 : i32
  %sum2 = arith.addi %sum1, %p2 : i32
  %r3 = arith.constant 24 : i32
  %s3 = arith.shrui %x, %r3 : i32
  %x3 = arith.andi %s3, %low : i32
  %w3 = arith.shrsi %w, %top : i32
  %p3 = arith.muli %x3, %w3 : i32
  %sum3 = arith.addi %sum2, %p3 : i32
  te.yield %sum3 : i32
}
