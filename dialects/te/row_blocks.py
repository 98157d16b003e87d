"""How statements go through a long row in blocks, which threads share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilework.algebra.index_expr import Expr, ceildiv, maximum, minimum
from tilework.dialects.loop import PARALLEL_WORK, Kind
from tilework.dialects.te.builder import KernelBuilder

BLOCKS = 16
"""The most blocks of a row."""


@dataclass(frozen=True)
class RowBlocks:
    """A row of so many elements in blocks of one length, but for the last one; a short row is one block.

    How many there are does not depend on the number of threads, and so what is made of them does not.
    """

    extent: Expr

    @property
    def count(self) -> Expr:
        """How many blocks there are, from 1 to BLOCKS."""
        return maximum(minimum(self.extent // (PARALLEL_WORK // 2), BLOCKS), 1)

    def for_each(self, k: KernelBuilder, body: Callable[[Expr, Expr, Expr], None]) -> None:
        """Insert a parallel loop: `body` inserts what is done with a block, given its number, begin and length."""
        length = ceildiv(self.extent, self.count)

        def block(b: Expr) -> None:
            begin = b * length
            body(b, begin, minimum(length, self.extent - begin))

        k.for_each([self.count], block, Kind.PARALLEL)
