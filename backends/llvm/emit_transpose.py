"""A transposition of vectors as shuffles of two vectors each, of kinds that machines have instructions for.

In every group of 4 lanes the first stages transpose a matrix of 4 by 4, interleaving the low and the high halves of the
groups; the others sort the groups: those with even numbers of two vectors, and those with odd ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilework.backends.llvm.emitter import Emitter, Handlers
from tilework.backends.llvm.llvm_types import llvm_type, vector_text
from tilework.dialects.loop import TransposeOp
from tilework.dialects.support.shapes import scalar_type

GROUP = 4
"""How many lanes of 32 bits the narrowest vector register has."""


def _transpose(e: Emitter, op: TransposeOp) -> None:
    rows, columns = len(op.rows), len(op.columns)
    size = max(GROUP, 1 << (max(rows, columns) - 1).bit_length())
    element = llvm_type(scalar_type(op.rows[0].type), op)
    square = _Square(e, vector_text(element, size), size)
    vectors = [_resized(e, e.get(row), element, columns, size) for row in op.rows] + ["poison"] * (size - rows)
    for column, text in zip(op.columns, square.transposed(vectors), strict=False):
        e.set(column, _resized(e, text, element, size, rows))


def _resized(e: Emitter, vector: str, element: str, lanes: int, wanted: int) -> str:
    """The first lanes of a vector, or these and more that hold anything."""
    if lanes == wanted:
        return vector
    type_ = vector_text(element, lanes)
    picked = [str(lane) if lane < lanes else "poison" for lane in range(wanted)]
    mask = f"<{wanted} x i32> <{', '.join(f'i32 {lane}' for lane in picked)}>"
    return e.text.value(f"shufflevector {type_} {vector}, {type_} poison, {mask}")


class _Square:
    """As many vectors as each has lanes."""

    def __init__(self, e: Emitter, type_: str, size: int):
        self.e = e
        self.type = type_
        self.size = size

    def transposed(self, rows: Sequence[str]) -> list[str]:
        """The columns; the size is a power of two, and at least a group."""
        parts = [self._groups_transposed(rows[i : i + GROUP]) for i in range(0, self.size, GROUP)]
        columns = [""] * self.size
        for lane in range(GROUP):
            columns[lane::GROUP] = self._groups_sorted([part[lane] for part in parts])
        return columns

    def _groups_transposed(self, rows: Sequence[str]) -> list[str]:
        """Of 4 rows: vector `l` holds of each group lane `l` of every row."""
        a, b, c, d = rows
        singles = [(self._interleaved(a, b, 1, half), self._interleaved(c, d, 1, half)) for half in (0, 1)]
        return [self._interleaved(x, y, 2, half) for x, y in singles for half in (0, 1)]

    def _interleaved(self, a: str, b: str, width: int, half: int) -> str:
        """In every group, what the low half, or the high one, of `a` and `b` holds: `width` lanes of each in turn."""
        first = half * GROUP // 2
        starts = range(first, first + GROUP // 2, width)
        inside = [start + of + lane for start in starts for of in (0, self.size) for lane in range(width)]
        return self._shuffled(a, b, [group + lane for group in range(0, self.size, GROUP) for lane in inside])

    def _groups_sorted(self, vectors: Sequence[str]) -> list[str]:
        """Vector `g` of the answer holds group `g` of each."""
        if len(vectors) == 1:
            return list(vectors)
        columns = [""] * len(vectors)
        for odd in (0, 1):
            lanes = [g + lane for g in range(odd * GROUP, 2 * self.size, 2 * GROUP) for lane in range(GROUP)]
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            columns[odd::2] = self._groups_sorted([self._shuffled(a, b, lanes) for a, b in pairs])
        return columns

    def _shuffled(self, a: str, b: str, lanes: Sequence[int]) -> str:
        mask = f"<{self.size} x i32> <{', '.join(f'i32 {lane}' for lane in lanes)}>"
        return self.e.text.value(f"shufflevector {self.type} {a}, {self.type} {b}, {mask}")


TRANSPOSE_HANDLERS: Handlers = {TransposeOp: _transpose}
