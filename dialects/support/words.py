"""Words: integers of 32 bits that hold four bytes, the first one lowest."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, i32

BYTES = 4
"""How many bytes a word has."""

DOT = "dot4.ui8i8"
"""The intrinsic that multiplies the bytes of a word without sign by those of one with a sign, and sums up."""

WORD: IntegerType = i32
"""The type of words."""
