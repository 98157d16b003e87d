"""The register tile of a reduction: which axis becomes vector lanes, and how many results are kept in registers.

The choice minimizes estimated cycles per useful result of one reduction step, from the loads, multiply-adds and lanes
that a step of the tile takes, and leaves a tile for every core that is worth one. Nothing is measured here and no layer
is known by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import prod

from tilework.algebra.index_expr import const, var
from tilework.analysis.sizes import LARGE, bits_of, count_of, size_of, usual_size
from tilework.dialects.loop.transpose import LANES
from tilework.dialects.te import ComputeOp
from tilework.rules.common.axes import Axes, Axis
from tilework.rules.common.lifetimes import lifetimes
from tilework.rules.cpu.fetching import Operand, overlapped
from tilework.rules.cpu.reads import Read, reads_of, ways_of
from tilework.rules.cpu.tile_factors import factors_of, tile_parts
from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget

_STRAIGHT = 64
"""How many steps a reduction may have that becomes straight-line code."""

_SINGLE = 1 / 8
"""How much the cost of a result weighs where symbolic axes have one element, beside that where they are long."""


@dataclass(frozen=True)
class Tile:
    """`vector` axis in `lanes` lanes, `vectors` of them side by side, and `factors` of other axes, outermost first.

    aligned: whether tiles begin at multiples of their span, else the last one is moved inwards. straight: whether all
    steps of the reduction are straight-line code, which loads once what several of them read. cost: cycles per useful
    result and reduction step; waiting: how many more go by until operands come from memory. row: the axis along which
    vectors of results are transposed to be stored in rows, if lanes lie far apart.
    """

    vector: str
    lanes: int
    vectors: int
    factors: dict[str, int] = field(hash=False)
    aligned: bool
    straight: bool
    cost: float
    waiting: float = 0.0
    row: str | None = None

    @property
    def span(self) -> int:
        """Elements along the vector axis."""
        return self.lanes * self.vectors

    def extent(self, axis: str) -> int:
        """Elements along any of the axes."""
        return self.span if axis == self.vector else self.factors.get(axis, 1)

    def block(self, operand_bytes: int, target: CpuTarget) -> int:
        """Elements along the vector axis that lie in one piece in an operand of so many bytes that is packed for it."""
        streams = target.machine.caches.streams
        is_streamed = not self.reuses and operand_bytes > target.cache_bytes[1]
        return self.span // streams if is_streamed and self.vectors % streams == 0 else self.span

    @property
    def reuses(self) -> bool:
        """Whether several results take each vector that is loaded."""
        return self.accumulators > self.vectors

    @property
    def accumulators(self) -> int:
        """Vector registers that hold results."""
        result = self.vectors
        for f in self.factors.values():
            result *= f
        return result


def choose_tile(
    compute: ComputeOp,
    reads: Sequence[Read],
    target: CpuTarget,
    block: tuple[str, int] | None = None,
    fixed: Sequence[str] = (),
) -> Tile | None:
    """The tile of a reduction, cheapest where there are enough for all cores; None for one with a single result.

    block: an axis that is cut into blocks of so many; the tiles of one leave no rest, and one core has all of them.
    fixed: axes of the loops around, along which no tile extends.
    """
    axis, count = block or (None, 0)
    assert axis is None or axis in dict(compute.spatial), f"no axis {axis}"
    spatial = tuple((n, const(count) if n == axis else e) for n, e in _inside(compute, fixed))
    bits = bits_of(compute.results[0].type)
    alone, shared = _cheapest(spatial, tuple(compute.reduction), tuple(reads), target, bits, axis)
    return shared if block is None else alone


def _inside(compute: ComputeOp, fixed: Sequence[str]) -> Axes:
    """The axes of the results as they are inside of the loops along `fixed`."""
    return tuple((n, const(1) if n in fixed else e) for n, e in compute.spatial)


def cheapest_tile(
    compute: ComputeOp, reads: Sequence[Read], target: CpuTarget, fixed: Sequence[str] = ()
) -> Tile | None:
    """The same, whether or not there are enough for all cores: what one core does in the least time."""
    bits = bits_of(compute.results[0].type)
    return _cheapest(_inside(compute, fixed), tuple(compute.reduction), tuple(reads), target, bits, None)[0]


def tile_cost(
    compute: ComputeOp, reads: Sequence[Read], target: CpuTarget, vector: str, vectors: int, factors: Mapping[str, int]
) -> float:
    """Cycles per useful result and reduction step of a tile that is chosen for other reasons."""
    bits = bits_of(compute.results[0].type)
    tiled = _tiled(tuple(compute.spatial), tuple(compute.reduction), tuple(reads), target, bits)
    return tiled.step(vector, tiled.lanes, vectors, aligned=True).cost(factors)


def crowded_reads(compute: ComputeOp, target: CpuTarget) -> Sequence[Read]:
    """Those of which what steps read in turn lies in few places of the nearest cache, too many lines in each."""
    bits = bits_of(compute.results[0].type)
    return _tiled(tuple(compute.spatial), tuple(compute.reduction), tuple(reads_of(compute)), target, bits).crowded


@cache  # asked when algorithms, layouts and schedules are chosen, and networks repeat themselves
def _cheapest(
    spatial: Axes, reduction: Axes, reads: tuple[Read, ...], target: CpuTarget, bits: int, even: str | None
) -> tuple[Tile | None, Tile | None]:
    """The cheapest tile for one core, and that for all of them."""
    tiled, extents = _tiled(spatial, reduction, reads, target, bits), dict(spatial)
    tiles = [t for t in _candidates(tiled) if even is None or extents[even] % t.extent(even) == 0]

    def price(tile: Tile, longer: float = 1.0) -> tuple[float, int, int]:
        return (tile.cost + tile.waiting) * longer, tile.accumulators, -tile.vectors

    alone = min(tiles, key=price, default=None)
    if alone is None or tiled.longer(alone) == 1.0:
        return alone, alone
    return alone, min(tiles, key=lambda tile: price(tile, tiled.longer(tile)))


def _tiled(spatial: Axes, reduction: Axes, reads: tuple[Read, ...], target: CpuTarget, bits: int) -> _Tiled:
    extents = {n: count_of(e) for n, e in spatial}
    extents |= dict.fromkeys(axes_in_extents(spatial, reduction), 1)  # the reduction must stay inside them
    usual = {n: max(usual_size([(n, e)]), 1) for n, e in spatial if extents[n] == LARGE}
    output = Read(tuple(var(n) for n in extents), tuple(e for _, e in spatial))
    single = {n: 1 if e.as_var is not None else extents[n] for n, e in spatial}
    return _Tiled(extents, usual, single, reads, output, reduction, target, target.lanes(bits))


def axes_in_extents(spatial: Sequence[Axis], reduction: Sequence[Axis]) -> list[str]:
    """The spatial axes on which the extents of reduce axes depend."""
    used = {key for _, e in reduction for key in e.variables()}
    return [n for n, _ in spatial if n in used]


@dataclass(frozen=True)
class _Tiled:
    """A reduction: its results along axes with these extents, LARGE where they are not known; what it reads, the access
    that stores a result.

    usual: how long axes of unknown extent are. single: the extents for one sample or one word, where symbols are 1;
    what is computed from them, as the width of a smaller image or the number of its points, is not.
    """

    extents: Mapping[str, int]
    usual: Mapping[str, int]
    single: Mapping[str, int]
    reads: Sequence[Read]
    output: Read
    reduction: Axes
    target: CpuTarget
    lanes: int

    def longer(self, tile: Tile) -> float:
        """How many times as long tiles take if there are fewer than cores that are worth having one.

        A part of a vector takes as long as all of it, so that it counts as that.
        """
        extents = self.extents
        spans = {**tile.factors, tile.vector: max(tile.span, min(self.lanes, extents[tile.vector]))}
        count = prod(-(-extent // spans.get(axis, 1)) for axis, extent in extents.items())
        worth = prod(extents.values()) * self.steps // self.target.machine.work.of_a_core
        return max(min(self.target.cores, worth) / max(count, 1), 1.0)

    @cached_property
    def steps(self) -> int:
        """The points of the reduce axes."""
        return prod(self.counts.values())

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many iterations each reduce axis has."""
        return {name: size_of([(name, extent)]) for name, extent in self.reduction}

    @cached_property
    def element_bytes(self) -> int:
        """The bytes of an element, which are those of all tensors alike."""
        return self.target.vector_bits // self.lanes // 8

    @cached_property
    def crowded(self) -> Sequence[Read]:
        """Whether reads are crowded, as `crowded_reads` says."""
        caches = self.target.machine.caches
        most = ways_of(self.target) - caches.spare_ways
        limits = [(name, count, max(most, 2 * -(-count // caches.sets))) for name, count in self.counts.items()]

        def is_crowded(read: Read) -> bool:
            return any(read.crowd(n, count, self.element_bytes, self.target) > limit for n, count, limit in limits)

        return [read for read in self.reads if is_crowded(read)]

    def _is_matrix(self, read: Read) -> bool:
        """Whether no index adds up several axes, as `panel_of` asks of what it copies."""
        long = {name for name, extent in self.extents.items() if extent > 1}
        long |= {name for name, extent in self.reduction if extent.constant != 1}
        return all(len(long.intersection(e.variables())) < 2 for e in read.indices)

    @cached_property
    def taps(self) -> Mapping[str, range]:
        """The reduce axes where their points may be straight-line code, else none."""
        return {n: range(e.constant) for n, e in self.reduction if e.constant} if 1 < self.steps <= _STRAIGHT else {}

    def alignments(self, vector: str, width: int, vectors: int) -> list[bool]:
        """Whether tiles may begin at multiples of their span, and whether they need not.

        What is in blocks, or will be, is read faster so. Where loads have no masks, the rest that whole tiles leave is
        whole vectors, or one. Lanes that are an unknown distance apart are accessed one by one, which takes a constant
        number of them. Along an axis of unknown extent, whole vectors have to lie in one piece, the last under a mask.
        """
        extent, span = self.extents[vector], width * vectors
        if extent % span == 0 and extent < LARGE:
            return [True]
        if not all(a.has_known_steps(vector) for a in (*self.reads, self.output)):
            return [False]
        if extent == LARGE:
            is_apart = any(a.is_apart(vector, width, 0) for a in (*self.reads, self.output))
            return [width == self.lanes and self.target.masks_loads and not is_apart]
        rest = extent % span
        in_blocks = any(read.is_in_blocks(vector) or read.axis_to_pack(vector) is not None for read in self.reads)
        is_simple = self.target.masks_loads or rest < width or rest % width == 0
        return [False, True] if in_blocks and is_simple else [False]

    def step(self, vector: str, width: int, vectors: int, aligned: bool) -> _Step:
        """One of a tile with so many vectors."""
        count = -(-self.extents[vector] // width) if aligned else 0
        loads = [(read, self._load(read, vector, width, vectors, count)) for read in self.reads]
        pieces = 1 if width == self.lanes or self.target.partial_bits else bin(width).count("1")
        store = self.output.cost(vector, width, 0, self.target)
        crowded = [r for r in self.crowded if vector not in r.axes or not self._is_matrix(r)]  # else panels are copied
        along = frozenset(r for r in self.reads if vector in r.axes and (not count or r.moves(vector, width * vectors)))
        return _Step(self, vector, width, vectors, loads, along, crowded, store, self._row(vector, width), pieces)

    def _row(self, vector: str, width: int) -> str | None:
        """The axis along which results lie side by side, if vectors of them can be transposed and lanes are apart."""
        if width not in LANES or self.element_bytes != 4 or not self.output.is_apart(vector, width, 0):
            return None
        return next((axis for axis, extent in self.extents.items() if extent > 1 and self.output.step(axis) == 1), None)

    def _load(self, read: Read, vector: str, width: int, vectors: int, count: int) -> float:
        """Load slots taken for a vector: more where some of them lie in two cache lines, or tiles in two blocks."""
        if count and (read.axis_to_pack(vector) is not None or not read.moves(vector, width)):
            return 1.0
        slots = read.cost(vector, width, count, self.target)
        split = slots == 1.0 and vector in read.axes and not read.is_aligned(vector, width)
        block, span = read.block(vector) or 1, width * vectors
        crossing = self.target.machine.core.crossing if span % block and block % span else 1.0
        return (slots + split * width * self.element_bytes / LINE_BYTES) * crossing

    def from_memory(self, vector: str, span: int) -> Iterator[Operand]:
        """The operands of vectors that are larger than the second cache."""
        results = max(prod(self.extents.values()) * self.steps, 1)
        cycle = self.target.multiplies_per_cycle / self.target.machine.core.issue / results
        cache = self.target.cache_bytes[1]
        for read in (r for r in self.reads if vector in r.axes and all(e.is_constant for e in r.dims)):
            size = read.count({**self.extents, **self.counts}) * self.element_bytes
            if size > cache:
                around = {axis: extent for axis, extent in self.extents.items() if axis not in read.axes}
                speed, stays = self.target.bandwidth, 2 * size * span <= cache * self.extents[vector]
                yield Operand(size / speed.memory * cycle, size / speed.shared * cycle, around, stays)


def _candidates(tiled: _Tiled) -> Iterator[Tile]:
    extents, lanes = tiled.extents, tiled.lanes
    axes = [a for a, e in extents.items() if e > 1]
    only_unknown = all(extents[a] == LARGE for a in axes)
    for vector in axes:
        extent = extents[vector]
        for width in sorted({min(w, extent) for w in (lanes, lanes // 2, lanes // 4) if w > 1}):
            for vectors in (1, 2, 3, 4, 5, 6, 8):
                if vectors > 1 and width * vectors > extent:
                    break
                for aligned in tiled.alignments(vector, width, vectors):
                    # a symbolic axis may turn out to be 1, and its masked inner part cannot be split again
                    if aligned or extent < LARGE or (only_unknown and vectors == 1):
                        yield from _tiles(tiled, vector, width, vectors, aligned)


def _tiles(tiled: _Tiled, vector: str, width: int, vectors: int, aligned: bool) -> Iterator[Tile]:
    """Those with so many vectors."""
    step = tiled.step(vector, width, vectors, aligned)
    straight = replace(step, taps=tiled.taps)
    large = list(tiled.from_memory(vector, width * vectors))
    registers = tiled.target.vector_registers - 1 - max(vectors, 2)  # for what rows are multiplied with, and a row

    def is_whole(factors: Mapping[str, int]) -> bool:
        """Whether no step asks where a tile ends: in straight-line code each one would."""
        return all(tiled.extents[axis] < LARGE for axis in (*factors, *([vector] if vectors > 1 else [])))

    for factors in factors_of(vector, tiled.extents, tiled.reads, registers, vectors):
        cost = step.cost(factors)
        waiting = sum(operand.waiting(cost, factors, tiled.target) for operand in large)
        row = step.row_of(factors)
        yield Tile(vector, width, vectors, factors, aligned, False, cost, waiting, row)
        if is_whole(factors) and tiled.taps and straight.held(factors) <= tiled.target.vector_registers:
            yield Tile(vector, width, vectors, factors, aligned, True, straight.cost(factors), row=row)


@dataclass(frozen=True)
class _Step:
    """One reduction step of a tile: `vectors` of `width` elements along an axis; the reads, and what each load costs.

    along: those of which vectors have different elements; of the others, all take one. store: of one result, once in
    all steps. row: the axis along which results lie side by side, if lanes do not. pieces: as which an odd width is
    loaded. taps: the points of all steps, where they are straight-line code.
    """

    of: _Tiled
    vector: str
    width: int
    vectors: int
    reads: Sequence[tuple[Read, float]]
    along: Set[Read]
    crowded: Sequence[Read]
    store: float
    row: str | None
    pieces: int
    taps: Mapping[str, range] = field(default_factory=dict[str, range])
    _known: dict[tuple[tuple[str, int], ...], float] = field(
        default_factory=dict[tuple[tuple[str, int], ...], float], init=False, compare=False
    )

    def cost(self, factors: Mapping[str, int]) -> float:
        """Cycles per useful result and reduction step."""
        extents = self.of.extents
        if extents[self.vector] == LARGE:
            return self._cost_of(factors, {**extents, self.vector: self.of.usual[self.vector]})
        cost = self._cost_of(factors, extents)
        if self.of.single == extents:
            return cost
        return cost + _SINGLE * self._cost_of(factors, self.of.single)

    def _cost_of(self, factors: Mapping[str, int], extents: Mapping[str, int]) -> float:
        """The same for these extents."""
        span, extent, work = self.width * self.vectors, extents[self.vector], self.of.target.machine.work
        results = span * extent / (-(-extent // span) * span)
        for axis, factor in factors.items():
            rest = work.straight_rest if self.taps else work.tile_rest
            results *= extents[axis] * (1.0 if extents[axis] % factor == 0 else rest)
        if not self.taps and self._halves_lines(factors):
            results *= work.half_lines
        return sum(count * self.cycles(part) for count, part in tile_parts(tuple(factors), factors, extents)) / results

    def _halves_lines(self, factors: Mapping[str, int]) -> bool:
        """Whether results are stored in rows that fill lines of a cache, by tiles that do not."""
        line = LINE_BYTES // self.of.element_bytes
        row = self.row_of(factors)
        if row is not None:
            return self.of.extents[row] % line == 0 and factors[row] % line > 0
        extent = self.of.extents[self.vector]
        return self.of.output.step(self.vector) == 1 and extent % line == 0 and self.width * self.vectors % line > 0

    def cycles(self, factors: Mapping[str, int]) -> float:
        """The cycles of a tile with these factors of the other axes; what one tile leaves is another's whole."""
        key = tuple(factors.items())
        if key not in self._known:
            self._known[key] = self._cycles_of(factors)
        return self._known[key]

    def _cycles_of(self, factors: Mapping[str, int]) -> float:
        accumulators, core = self._accumulators(factors), self.of.target.machine.core
        loads, elements = 0.0, 0.0
        for read, load in self.reads:
            count = self._loaded(read, factors)
            loads += count * load * self._crowding(read, factors)
            elements += count * (self.width if read in self.along else 1)
        stores = accumulators * self._store(factors) / max(self.of.steps, 1)
        following = core.window / self.of.steps if self.taps else 0.0
        waiting = core.latency * accumulators / (accumulators + following)
        if self.of.target.folds_broadcasts:
            busy = max(accumulators * self.pieces / core.issue, loads * self.pieces / core.issue, waiting)
            return busy + stores + core.felt_load * elements / self.of.lanes
        issued = accumulators * self.pieces / core.issue + core.issued_load * loads
        busy = max(issued, loads * self.pieces / core.issue, waiting)
        fetching = elements * self.of.element_bytes / self.of.target.bandwidth.second
        return overlapped(busy, fetching, self.of.target) + stores

    def held(self, factors: Mapping[str, int]) -> int:
        """The most vectors that are needed at a time while taps follow each other: results, and what is loaded between
        the first tap that reads it and the last. What all lanes take is loaded anew unless another tap reads it, too.

        Where instructions would take it from memory, what the next tile reads again is loaded before their loop, since
        LLVM takes out of loops whatever does not change in them, without counting registers.
        """
        stay = {r for r, _ in self.reads if self.of.target.folds_broadcasts and self._stays(r, factors)}
        loaded = [self._needed(read, factors) for read, _ in self.reads if read not in stay]
        before = sum(self._loaded(read, factors) for read in stay) * self.of.steps
        return self._accumulators(factors) + round(before) + max(map(sum, zip(*loaded, strict=True)), default=0)

    def _stays(self, read: Read, factors: Mapping[str, int]) -> bool:
        """Whether the next tile reads the same: along the last axis of several, whose loop is the innermost."""
        extents = self.of.extents
        span = {**factors, self.vector: self.width * self.vectors}
        beside = [axis for axis, extent in extents.items() if extent > span.get(axis, 1)][-1:]
        return any(not read.moves(axis, extents[axis]) for axis in beside)

    def _needed(self, read: Read, factors: Mapping[str, int]) -> list[int]:
        """For each tap, the elements that it or one before loads and it or one behind reads."""
        tile = [(read.step(self.vector) * self.width, self.vectors)]
        tile += [(read.step(axis), f) for axis, f in factors.items() if f > 1]
        taps = [(read.step(axis), len(values)) for axis, values in self.taps.items()]
        shared = read not in self.along
        return lifetimes(tuple((s, n) for s, n in tile if s and n > 1), tuple(taps), shared)

    def _crowding(self, read: Read, factors: Mapping[str, int]) -> float:
        """How much longer loads take whose lines drive each other out of the nearest cache."""
        if read in self.crowded:
            return self.of.target.machine.caches.crowded
        crowds = any(factors.get(axis, 1) > room for axis, room in self._rooms[read])
        return self.of.target.machine.caches.crowded if crowds else 1.0

    @cached_property
    def _rooms(self) -> Mapping[Read, Sequence[tuple[str, int]]]:
        """For each read of which all vectors take the same, the axes along which few iterations have room, and how
        many."""
        rooms: dict[Read, Sequence[tuple[str, int]]] = dict.fromkeys(self.along, ())
        for read in (r for r, _ in self.reads if r not in self.along):
            known = [(axis, read.room(axis, self.of.element_bytes, self.of.target)) for axis in self.of.extents]
            rooms[read] = [(axis, room) for axis, room in known if room < LARGE]
        return rooms

    def row_of(self, factors: Mapping[str, int]) -> str | None:
        """The row axis if enough results lie side by side to be transposed."""
        return self.row if self.row is not None and factors.get(self.row) in LANES else None

    def _store(self, factors: Mapping[str, int]) -> float:
        """The cycles of storing one vector: of several that are transposed, as many rows are stored as each has
        lanes."""
        row = self.row_of(factors)
        return self.store if row is None else self.of.target.machine.core.transposed + self.width / factors[row]

    def _accumulators(self, factors: Mapping[str, int]) -> int:
        return self.vectors * prod(factors.values())

    def _loaded(self, read: Read, factors: Mapping[str, int]) -> float:
        """How many loads a step of the sum has."""
        if self.taps:
            beside = {self.vector: range(0, self.vectors * self.width, self.width)}
            points = beside | {axis: range(f) for axis, f in factors.items()} | dict(self.taps)
            return read.distinct(points) / self.of.steps
        moving = [f for axis, f in factors.items() if read.moves(axis, f)]
        return prod(moving) * (self.vectors if read in self.along else 1)
