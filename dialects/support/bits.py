"""Words of bits: integers of 32 bits, each of which holds one bit of 32 numbers, that of the first one lowest."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, i32

DOT = "bits.dot"
"""The intrinsic that counts the bits that two words have in common."""

WORD: IntegerType = i32
"""The type of words, and of the sums of what is counted."""

BITS = WORD.bitwidth
"""A word has so many bits."""
