"""The register tile of a reduction: which axis becomes vector lanes, and how many results are kept in registers.

The choice minimizes estimated cycles per useful result of one reduction step, from the loads, multiply-adds and lanes
that a step of the tile takes. Nothing is measured here and no layer is known by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tilework.algebra.index_expr import Expr, var
from tilework.dialects.shapes import dims_of
from tilework.dialects.te import ComputeOp
from tilework.targets.target import Target

LARGE = 1 << 20
"""Stands for a symbolic extent."""

_ISSUE = 2.0
"""Vector multiply-adds, and loads, that a core starts each cycle."""

_LATENCY = 4.0
"""Cycles until a multiply-add may use the result of the one before."""

_TILE_FACTORS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)


def size_of(axes: Sequence[tuple[str, Expr]]) -> int:
    """The product of the extents."""
    result = 1
    for _, extent in axes:
        result *= LARGE if extent.constant is None else max(extent.constant, 0)
    return result


@dataclass(frozen=True)
class Read:
    """One read of the body: the axes it depends on, and its cost where the vector axis is `v`."""

    axes: frozenset[str]
    strides: dict[str, int | None] = field(hash=False)
    """Per axis the distance in elements between neighbours; None where it is not constant."""

    def cost(self, vector: str, lanes: int) -> float:
        """Load slots taken for one vector."""
        if vector not in self.axes:
            return 1.0
        return 1.0 if self.strides.get(vector) == 1 else 1.5 * lanes


@dataclass(frozen=True)
class Tile:
    """`vector` axis in `lanes` lanes, `vectors` of them side by side, and `factors` of other axes."""

    vector: str
    lanes: int
    vectors: int
    factors: dict[str, int] = field(hash=False)
    cost: float

    @property
    def accumulators(self) -> int:
        """Vector registers that hold results."""
        result = self.vectors
        for f in self.factors.values():
            result *= f
        return result


def choose_tile(compute: ComputeOp, target: Target, element_bits: int = 32) -> Tile | None:
    """The cheapest tile of a reduction; None for one with a single result, which has nothing to tile."""
    extents = {n: LARGE if e.constant is None else e.constant for n, e in compute.spatial}
    extents |= dict.fromkeys(axes_in_extents(compute), 1)  # the reduction must stay inside them
    names = [n for n, _ in (*compute.spatial, *compute.reduction)]
    reads = [_access(r.indices.data, dims_of(r.tensor.type), names) for r in compute.reads]
    output = _access([var(n) for n in extents], [e for _, e in compute.spatial], names)
    steps = size_of(compute.reduction)
    tiles = _candidates(extents, reads, output, steps, target, target.lanes(element_bits))
    return min(tiles, key=lambda t: (t.cost, t.accumulators), default=None)


def axes_in_extents(compute: ComputeOp) -> list[str]:
    """The spatial axes on which the extents of reduce axes depend."""
    used = {key for _, e in compute.reduction for key in e.variables()}
    return [n for n, _ in compute.spatial if n in used]


def _candidates(
    extents: dict[str, int], reads: Sequence[Read], output: Read, steps: int, target: Target, lanes: int
) -> Iterator[Tile]:
    # a symbolic axis may turn out to be 1: lanes along it are the last resort
    static = [a for a, e in extents.items() if 1 < e < LARGE]
    for vector in static or [a for a, e in extents.items() if e > 1]:
        extent = extents[vector]
        for width in sorted({min(w, extent) for w in (lanes, lanes // 2, lanes // 4) if w > 1}):
            for vectors in (1, 2, 3, 4):
                # the masked inner part of a symbolic axis cannot be split again into several vectors
                if vectors > 1 and (width * vectors > extent or extent == LARGE):
                    break
                for factors in _factors(vector, extents, reads, target.vector_registers - 2 - vectors, vectors):
                    cost = _cost(vector, width, vectors, factors, extents, reads, output, steps, lanes)
                    yield Tile(vector, width, vectors, factors, cost)


def _factors(
    vector: str, extents: dict[str, int], reads: Sequence[Read], registers: int, vectors: int
) -> Iterator[dict[str, int]]:
    """Tilings of at most two other axes, those along which the vector operand is reused."""
    moving = [r for r in reads if vector in r.axes]
    # a symbolic axis is left whole: its remainder would be a run-time trip count among the registers
    others = [a for a, e in extents.items() if a != vector and 1 < e < LARGE]
    reused = [a for a in others if any(a not in r.axes for r in moving)] or others[-1:]
    reused = reused[-2:]
    options = [[f for f in _TILE_FACTORS if f <= extents[a]] for a in reused]
    if not reused:
        yield {}
        return
    for f in options[0]:
        if len(reused) == 1:
            if f * vectors <= registers:
                yield {reused[0]: f}
            continue
        for g in options[1]:
            if f * g * vectors <= registers:
                yield {reused[0]: f, reused[1]: g}


def _cost(
    vector: str,
    width: int,
    vectors: int,
    factors: dict[str, int],
    extents: dict[str, int],
    reads: Sequence[Read],
    output: Read,
    steps: int,
    lanes: int,
) -> float:
    """Cycles per useful result and reduction step."""
    accumulators = vectors
    for f in factors.values():
        accumulators *= f
    loads = 0.0
    for read in reads:
        count = vectors if vector in read.axes else 1
        for axis, f in factors.items():
            count *= f if axis in read.axes else 1
        loads += count * read.cost(vector, width)
    pieces = bin(width).count("1") if width < lanes else 1
    stores = accumulators * output.cost(vector, width) / max(steps, 1)
    cycles = max(accumulators * pieces / _ISSUE, (loads * pieces) / _ISSUE, _LATENCY) + stores
    useful = accumulators * width
    span = width * vectors
    useful *= extents[vector] / (-(-extents[vector] // span) * span)
    for axis, f in factors.items():
        useful *= 1.0 if extents[axis] % f == 0 else 0.9
    return cycles / useful


def _access(indices: Sequence[Expr], dims: Sequence[Expr], axes: Sequence[str]) -> Read:
    strides: dict[str, int | None] = {}
    for axis in axes:
        used = [i for i, e in enumerate(indices) if axis in e.variables()]
        if not used:
            continue
        total: int | None = 0
        for i in used:
            row = 1
            for d in dims[i + 1 :]:
                row *= LARGE if d.constant is None else d.constant
            affine = indices[i].is_affine_in(axis)
            total = total + indices[i].coefficient(axis) * row if affine and total is not None else None
        strides[axis] = total
    return Read(frozenset(strides), strides)
