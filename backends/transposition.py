"""A transposition of vectors as shuffles of two vectors each, of kinds that machines have instructions for.

In every group of 4 lanes the first stages transpose a matrix of 4 by 4, interleaving the low and the high halves of the
groups; the others sort the groups: those with even numbers of two vectors, and those with odd ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

GROUP = 4
"""How many lanes of 32 bits the narrowest vector register has."""

Shuffle = Callable[[str, str, Sequence[int]], str]
"""Writes a shuffle of two vectors of equal length: of their lanes, counted through, those of the numbers given."""


def square_size(rows: int, columns: int) -> int:
    """How many lanes, and vectors, the square has that such a matrix is transposed in."""
    return max(GROUP, 1 << (max(rows, columns) - 1).bit_length())


def transposed(rows: Sequence[str], shuffle: Shuffle) -> list[str]:
    """The columns of a square; its size is a power of two, and at least a group."""
    square = _Square(len(rows), shuffle)
    return square.transposed(rows)


class _Square:
    """A square has as many vectors as each has lanes."""

    def __init__(self, size: int, shuffle: Shuffle):
        self.size = size
        self.shuffle = shuffle

    def transposed(self, rows: Sequence[str]) -> list[str]:
        parts = [self._groups_transposed(rows[i : i + GROUP]) for i in range(0, self.size, GROUP)]
        columns = [""] * self.size
        for lane in range(GROUP):
            columns[lane::GROUP] = self._groups_sorted([part[lane] for part in parts])
        return columns

    def _groups_transposed(self, rows: Sequence[str]) -> list[str]:
        """Transpose groups of 4 rows: vector `l` of the result holds lane `l` of each group, of every row in turn."""
        a, b, c, d = rows
        singles = [(self._interleaved(a, b, 1, half), self._interleaved(c, d, 1, half)) for half in (0, 1)]
        return [self._interleaved(x, y, 2, half) for x, y in singles for half in (0, 1)]

    def _interleaved(self, a: str, b: str, width: int, half: int) -> str:
        """In every group, what the low half, or the high one, of `a` and `b` holds: `width` lanes of each in turn."""
        first = half * GROUP // 2
        starts = range(first, first + GROUP // 2, width)
        inside = [start + of + lane for start in starts for of in (0, self.size) for lane in range(width)]
        return self.shuffle(a, b, [group + lane for group in range(0, self.size, GROUP) for lane in inside])

    def _groups_sorted(self, vectors: Sequence[str]) -> list[str]:
        """Vector `g` of the answer holds group `g` of each."""
        if len(vectors) == 1:
            return list(vectors)
        columns = [""] * len(vectors)
        for odd in (0, 1):
            lanes = [g + lane for g in range(odd * GROUP, 2 * self.size, 2 * GROUP) for lane in range(GROUP)]
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            columns[odd::2] = self._groups_sorted([self.shuffle(a, b, lanes) for a, b in pairs])
        return columns
