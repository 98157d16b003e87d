"""The register tile of a reduction: which axis becomes vector lanes, and how many results are kept in registers.

The choice minimizes estimated cycles per useful result of one reduction step, from the loads, multiply-adds and lanes
that a step of the tile takes. Nothing is measured here and no layer is known by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import product
from math import prod
from typing import TypeAlias

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, BlockArgument

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, Key, var
from tilework.dialects.shapes import dims_of, element_type
from tilework.dialects.te import ComputeOp
from tilework.targets.target import Target

Axis: TypeAlias = tuple[str, Expr]
"""A name and an extent."""

Axes: TypeAlias = tuple[Axis, ...]

LARGE = 1 << 20
"""Stands for a symbolic extent."""

ISSUE = 2.0
"""Vector multiply-adds, and loads, that a core is taken to start each cycle: on one that starts fewer, tiles for two
keep it busy as well."""

_LATENCY = 4.0
"""Cycles until a multiply-add may use the result of the one before."""

NEAR = 4
"""Up to which distance lanes are picked out of whole vectors, not loaded one by one."""

_FELT = 0.07
"""Cycles that a vector's worth of elements takes to come from a cache, although multiply-adds hide most of that."""

_REST = 0.992
"""What is as good as a tile that leaves no rest."""

_LINE_BITS = 512
"""A line of a cache: what lies in two is loaded in twice the time."""

_STRAIGHT = 64
"""Of how many steps a reduction may become straight-line code."""

_BLOCK, _LANE = "block", "lane"
"""Names of axes of our own: an index along the vector axis is so many whole vectors and a lane."""

_TILE_FACTORS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)


def size_of(axes: Sequence[Axis]) -> int:
    """The product of the extents."""
    result = 1
    for _, extent in axes:
        result *= LARGE if extent.constant is None else max(extent.constant, 0)
    return result


@dataclass(frozen=True)
class Read:
    """One access of the body: the element of a tensor of size `dims` at `indices`.

    argument: the number of the kernel's argument that the tensor is, where its layout may be chosen.
    """

    indices: tuple[Expr, ...]
    dims: tuple[Expr, ...]
    argument: int | None = None
    _moves: dict[tuple[str, int], bool] = field(default_factory=dict[tuple[str, int], bool], compare=False, repr=False)

    @cached_property
    def axes(self) -> frozenset[Key]:
        """The axes that the element depends on."""
        return frozenset(key for e in self.indices for key in e.variables())

    def cost(self, vector: str, width: int, count: int) -> float:
        """Load slots taken for one vector of `width` elements along an axis.

        It is one of `count` that are side by side from 0 on; with a count of 0 it begins anywhere.
        """
        if vector not in self.axes:
            return 1.0
        stride = _stride(self, vector, width, count)
        if stride is None or not 0 < abs(stride) <= NEAR:
            return 1.5 * width
        return 1.0 if stride == 1 else 2.0 * abs(stride)

    def is_aligned(self, vector: str, width: int) -> bool:
        """Whether what is read begins at multiples of `width` elements wherever the vector axis does."""
        row = 1
        for e, dim in zip(reversed(self.indices), reversed(self.dims), strict=True):
            others = [e.offset, *(count for atom, count in e.terms if Expr(((atom, 1),), 0).as_var != vector)]
            if any(count * row % width for count in others):
                return False
            row *= LARGE if dim.constant is None else dim.constant
        return True

    def moves(self, axis: str, factor: int) -> bool:
        """Whether `factor` iterations of an axis, the first a multiple of it, read different elements.

        They do not where the axis counts channels of a group and the element is the group's.
        """
        if factor == 1 or axis not in self.axes:
            return False
        if (axis, factor) not in self._moves:  # asked for every candidate
            self._moves[axis, factor] = _stride(self, axis, factor, LARGE) != 0
        return self._moves[axis, factor]

    def distinct(self, points: Mapping[str, range]) -> int:
        """How many different elements are read at all these points of axes, the others standing still."""
        result = 1
        left = dict(points)
        for e in self.indices:
            steps = [(axis, left.pop(axis)) for axis in list(left) if axis in e.variables()]
            if all(e.is_affine_in(axis) for axis, _ in steps):
                places = product(*([e.coefficient(axis) * at for at in values] for axis, values in steps))
                result *= len({sum(place) for place in places})
            else:
                result *= prod(len(values) for _, values in steps)
        return result

    def axis_to_pack(self, vector: str) -> int | None:
        """The dimension that blocks along the vector axis would cut: the one that follows it, element by element."""
        following = [d for d, e in enumerate(self.indices) if vector in e.variables()]
        if len(following) != 1 or self.argument is None:
            return None
        e = self.indices[following[0]]
        return following[0] if e.is_affine_in(vector) and e.coefficient(vector) == 1 else None


@cache
def _stride(read: Read, axis: str, width: int, count: int) -> int | None:
    """Elements between neighbours in `width` iterations, None if it varies; `count` as in `Read.cost`."""
    lane = Domain({_BLOCK: (0, count - 1 if count else None), _LANE: (0, width - 1)})
    first = width * var(_BLOCK) if count else var(_BLOCK)
    total, row = 0, 1
    for e, dim in zip(reversed(read.indices), reversed(read.dims), strict=True):
        if axis in e.variables():
            e = lane.simplify(e.substitute({axis: first + var(_LANE)}))
            if not e.is_affine_in(_LANE):
                return None
            total += e.coefficient(_LANE) * row
        row *= LARGE if dim.constant is None else dim.constant
    return total


@dataclass(frozen=True)
class Tile:
    """`vector` axis in `lanes` lanes, `vectors` of them side by side, and `factors` of other axes, outermost first.

    divides: whether whole tiles fill the vector axis. straight: whether all steps of the reduction are straight-line
    code, which loads once what several of them read. cost: cycles per useful result and reduction step.
    """

    vector: str
    lanes: int
    vectors: int
    factors: dict[str, int] = field(hash=False)
    divides: bool
    straight: bool
    cost: float

    @property
    def span(self) -> int:
        """Elements along the vector axis."""
        return self.lanes * self.vectors

    @property
    def accumulators(self) -> int:
        """Vector registers that hold results."""
        result = self.vectors
        for f in self.factors.values():
            result *= f
        return result


def reads_of(compute: ComputeOp, parameters: Set[int] = frozenset()) -> list[Read]:
    """The reads of a compute; the layouts of the kernel's arguments numbered `parameters` may be chosen."""
    return [
        Read(
            r.indices.data,
            dims_of(r.tensor.type),
            r.tensor.index if isinstance(r.tensor, BlockArgument) and r.tensor.index in parameters else None,
        )
        for r in compute.reads
    ]


def bits_of(tensor: Attribute) -> int:
    """The width of a tensor's elements in registers, a byte at least; 32 where the type does not say."""
    element = element_type(tensor)
    return max(8, element.bitwidth) if isinstance(element, FixedBitwidthType) else 32


def choose_tile(compute: ComputeOp, reads: Sequence[Read], target: Target) -> Tile | None:
    """The cheapest tile of a reduction; None for one with a single result, which has nothing to tile."""
    return _cheapest(
        tuple(compute.spatial), tuple(compute.reduction), tuple(reads), target, bits_of(compute.results[0].type)
    )


@cache  # asked when algorithms, layouts and schedules are chosen, and networks repeat themselves
def _cheapest(spatial: Axes, reduction: Axes, reads: tuple[Read, ...], target: Target, bits: int) -> Tile | None:
    extents = {n: LARGE if e.constant is None else e.constant for n, e in spatial}
    extents |= dict.fromkeys(axes_in_extents(spatial, reduction), 1)  # the reduction must stay inside them
    output = Read(tuple(var(n) for n in extents), tuple(e for _, e in spatial))
    tiles = _candidates(extents, reads, output, reduction, target, target.lanes(bits))
    return min(tiles, key=lambda t: (t.cost, t.accumulators), default=None)


def axes_in_extents(spatial: Sequence[Axis], reduction: Sequence[Axis]) -> list[str]:
    """The spatial axes on which the extents of reduce axes depend."""
    used = {key for _, e in reduction for key in e.variables()}
    return [n for n, _ in spatial if n in used]


def _candidates(
    extents: dict[str, int], reads: Sequence[Read], output: Read, reduction: Axes, target: Target, lanes: int
) -> Iterator[Tile]:
    steps = size_of(reduction)
    taps = {n: range(e.constant) for n, e in reduction if e.constant} if 1 < steps <= _STRAIGHT else {}
    # a symbolic axis may turn out to be 1: lanes along it are the last resort
    static = [a for a, e in extents.items() if 1 < e < LARGE]
    for vector in static or [a for a, e in extents.items() if e > 1]:
        extent = extents[vector]
        for width in sorted({min(w, extent) for w in (lanes, lanes // 2, lanes // 4) if w > 1}):
            for vectors in (1, 2, 3, 4, 5, 6, 8):
                # the masked inner part of a symbolic axis cannot be split again into several vectors
                if vectors > 1 and (width * vectors > extent or extent == LARGE):
                    break
                divides = extent != LARGE and extent % (width * vectors) == 0
                count = extent // width if divides else 0
                line = lanes * _LINE_BITS // target.vector_bits
                loads = [(r, _load_cost(r, vector, width, count, line)) for r in reads]
                store = output.cost(vector, width, 0)
                registers = target.vector_registers - 2 - vectors
                pieces = 1 if width == lanes or target.partial_bits else bin(width).count("1")
                step = _Step(vector, width, vectors, loads, store, steps, lanes, pieces)
                straight = replace(step, taps=taps)
                for factors in _factors(vector, extents, reads, registers, vectors):
                    yield Tile(vector, width, vectors, factors, divides, False, _cost(step, factors, extents))
                    if taps and straight.held(factors) <= target.vector_registers:
                        yield Tile(vector, width, vectors, factors, divides, True, _cost(straight, factors, extents))


def _load_cost(read: Read, vector: str, width: int, count: int, line: int) -> float:
    """Load slots taken for a vector: more where some of them lie in two cache lines of so many elements."""
    if count and read.axis_to_pack(vector) is not None:
        return 1.0
    cost = read.cost(vector, width, count)
    return cost if cost > 1.0 or vector not in read.axes or read.is_aligned(vector, width) else 1.0 + width / line


def _factors(
    vector: str, extents: dict[str, int], reads: Sequence[Read], registers: int, vectors: int
) -> Iterator[dict[str, int]]:
    """Tilings of at most two other axes: those along which the vector operand is reused, or one where others are."""
    moving = [r for r in reads if vector in r.axes]
    still = [r for r in reads if vector not in r.axes]
    # a symbolic axis is left whole: its remainder would be a run-time trip count among the registers
    others = [a for a, e in extents.items() if a != vector and 1 < e < LARGE]

    def tile_factors(axis: str) -> list[int]:
        return [f for f in _TILE_FACTORS if f <= extents[axis]]

    def is_reused(axis: str, reads: Sequence[Read]) -> bool:
        return any(not r.moves(axis, f) for r in reads for f in tile_factors(axis) if f > 1)

    reused = [a for a in others if is_reused(a, moving)] or others[-1:]
    yield from _tilings(reused[-2:], tile_factors, registers // vectors)
    beside = [a for a in others if a not in reused and is_reused(a, still)]
    if beside and vectors == 1:
        for f in tile_factors(beside[-1]):
            for rest in _tilings(reused[-2:], tile_factors, (registers + 1 - f) // f):
                yield {**rest, beside[-1]: f}


def _tilings(axes: Sequence[str], factors: Callable[[str], Sequence[int]], most: int) -> Iterator[dict[str, int]]:
    """Every choice of a factor for each axis whose product is at most `most`."""
    if not axes:
        yield {}
        return
    for f in factors(axes[0]):
        for rest in _tilings(axes[1:], factors, most // f):
            if f <= most:
                yield {axes[0]: f, **rest}


@dataclass(frozen=True)
class _Step:
    """One reduction step of a tile: `vectors` of `width` elements along an axis; the reads, and what each load costs.

    store: of one result, once in `steps`. pieces: as which an odd width is loaded. taps: the points of all steps where
    they are straight-line code.
    """

    vector: str
    width: int
    vectors: int
    reads: Sequence[tuple[Read, float]]
    store: float
    steps: int
    lanes: int
    pieces: int
    taps: Mapping[str, range] = field(default_factory=dict[str, range])

    def cycles(self, factors: Mapping[str, int]) -> float:
        """Of a tile with these factors of the other axes."""
        accumulators = self._accumulators(factors)
        loads, elements = 0.0, 0.0
        for read, load in self.reads:
            count = self._loaded(read, factors)
            loads += count * load
            elements += count * (self.width if self.vector in read.axes else 1)
        stores = accumulators * self.store / max(self.steps, 1)
        waiting = 0.0 if self.taps else _LATENCY  # tiles of straight-line code overlap
        busy = max(accumulators * self.pieces / ISSUE, loads * self.pieces / ISSUE, waiting)
        return busy + stores + _FELT * elements / self.lanes

    def held(self, factors: Mapping[str, int]) -> float:
        """The vectors that all steps of a tile compute and load."""
        loaded = sum(self._loaded(read, factors) for read, _ in self.reads if self.vector in read.axes)
        return self._accumulators(factors) + loaded * self.steps

    def _accumulators(self, factors: Mapping[str, int]) -> int:
        return self.vectors * prod(factors.values())

    def _loaded(self, read: Read, factors: Mapping[str, int]) -> float:
        """Loads of a step."""
        if self.taps:
            beside = {self.vector: range(0, self.vectors * self.width, self.width)}
            points = beside | {axis: range(f) for axis, f in factors.items()} | dict(self.taps)
            return read.distinct(points) / self.steps
        moving = [f for axis, f in factors.items() if read.moves(axis, f)]
        return prod(moving) * (self.vectors if self.vector in read.axes else 1)


def _cost(step: _Step, factors: Mapping[str, int], extents: Mapping[str, int]) -> float:
    """Cycles per useful result and reduction step."""
    span, extent = step.width * step.vectors, extents[step.vector]
    results = span * extent / (-(-extent // span) * span)
    for axis, factor in factors.items():
        results *= extents[axis] * (1.0 if extents[axis] % factor == 0 else _REST)
    return sum(count * step.cycles(part) for count, part in _parts(tuple(factors), factors, extents)) / results


def _parts(
    axes: Sequence[str], factors: Mapping[str, int], extents: Mapping[str, int]
) -> Iterator[tuple[int, dict[str, int]]]:
    """How many tiles there are of which factors: whole ones, and what is left at the end of each axis."""
    if not axes:
        yield 1, {}
        return
    axis, *rest = axes
    whole, left = divmod(extents[axis], factors[axis])
    for count, part in _parts(rest, factors, extents):
        yield whole * count, {axis: factors[axis], **part}
        if left:
            yield count, {axis: left, **part}
