"""Placing buffers that live for known intervals of time in one arena, so that none overlap that live together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, Key, ceildiv, const, maximum
from tilework.algebra.predicate import at_least

ALIGNMENT = 64
"""Bytes that every offset is a multiple of: a cache line, and the widest vector."""

TYPICAL_SYMBOL = 16
"""The value of a symbol by which sizes are compared where it decides nothing but the quality of the packing."""


@dataclass(frozen=True)
class Lifetime:
    """A buffer of `size` bytes, over symbols, that is in use from step `first` to step `last`, both included."""

    size: Expr
    first: int
    last: int


@dataclass(frozen=True)
class Packing:
    """The offset of every buffer in the order they were given, and the size of the arena, all in bytes over symbols."""

    offsets: tuple[Expr, ...]
    size: Expr


def pack(lifetimes: Sequence[Lifetime]) -> Packing:
    """Offsets such that buffers that live together are apart, whatever the symbols.

    The largest buffer goes first; every one goes into the smallest gap that holds it among those placed before that it
    meets in time, behind them where none does. Symbols are dimensions, 0 or more.
    """
    packer = _Packer(lifetimes)
    for i in sorted(range(len(lifetimes)), key=lambda i: (-packer.typical(packer.sizes[i]), lifetimes[i].first, i)):
        packer.place(i)
    ends = [packer.offsets[i] + size for i, size in enumerate(packer.sizes)]
    return Packing(tuple(packer.offsets[i] for i in range(len(lifetimes))), packer.simplest(maximum(0, *ends)))


def aligned(size: Expr) -> Expr:
    """A size rounded up to a multiple of ALIGNMENT."""
    return size if (size % ALIGNMENT) == 0 else ceildiv(size, ALIGNMENT) * ALIGNMENT


class _Packer:
    def __init__(self, lifetimes: Sequence[Lifetime]):
        self.lifetimes = lifetimes
        self.sizes = [aligned(b.size) for b in lifetimes]
        self.offsets: dict[int, Expr] = {}
        self.symbols: Mapping[Key, int] = {k: TYPICAL_SYMBOL for size in self.sizes for k in size.variables()}
        self.domain = Domain({k: (0, None) for k in self.symbols})
        self.placed = np.zeros(len(lifetimes), np.int64)
        """The buffers placed so far, in that order, as far as `len(offsets)`; and when each lives."""
        self.first, self.last = np.zeros_like(self.placed), np.zeros_like(self.placed)

    def typical(self, e: Expr) -> int:
        return e.evaluate(self.symbols)

    def simplest(self, e: Expr) -> Expr:
        return e if e.is_constant else self.domain.simplify(e)

    def place(self, i: int) -> None:
        """Give buffer `i` an offset."""
        size = self.sizes[i]
        met = self._met(i)
        met.sort(key=lambda j: self.typical(self.offsets[j]))
        best: tuple[int, Expr] | None = None
        top = const(0)
        for at, j in enumerate(met):
            if self._fits(top, size, met[at:]):
                waste = self.typical(self.offsets[j] - top - size)
                if best is None or waste < best[0]:
                    best = waste, top
            top = self.simplest(maximum(top, self.offsets[j] + self.sizes[j]))
        self._remember(i, top if best is None else best[1])

    def _remember(self, i: int, offset: Expr) -> None:
        count = len(self.offsets)
        self.placed[count], self.first[count], self.last[count] = i, self.lifetimes[i].first, self.lifetimes[i].last
        self.offsets[i] = offset

    def _met(self, i: int) -> list[int]:
        """The buffers placed so far that live at some time with buffer `i`. Of 30 000 it must not ask one by one."""
        count = len(self.offsets)
        together = (self.first[:count] <= self.lifetimes[i].last) & (self.last[:count] >= self.lifetimes[i].first)
        return self.placed[:count][together].tolist()

    def _fits(self, offset: Expr, size: Expr, above: Sequence[int]) -> bool:
        """Whether a buffer at `offset` ends before all buffers of `above` begin, whatever the symbols."""
        end = offset + size
        return all(self.domain.proves(at_least(self.offsets[j], end)) for j in above)
