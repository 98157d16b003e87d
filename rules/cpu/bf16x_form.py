"""What a kernel of a product in numbers of bfloat16 consists of, and how its rows are taken in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from math import prod

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, const, var
from tilework.analysis.sizes import USUAL, bits_of, size_of
from tilework.dialects.graph.algorithms.bf16x import DATA, PRODUCT, ROLES
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.common.fast_products import inlined_stages, role_of, sizes_of
from tilework.rules.cpu.costs import elementwise_cycles
from tilework.targets.cpu.machines import TileUnit
from tilework.targets.cpu.target import CpuTarget

ROWS, COLUMNS, CHANNELS = 16, 16, 32
"""Rows and columns of the tiles of sums, and channels in a row of what is multiplied."""

TILE_BYTES = ROWS * CHANNELS * 2  # of bf16

MULTIPLICATIONS = ROWS * COLUMNS * CHANNELS
"""How many numbers two tiles that are multiplied have."""

LAYER_RANK = 4
"""The rank of tensors of numbers where no windows slide."""

TILES = ((2, 2), (1, 4))
"""How many tiles of results are summed at a time: below each other and side by side."""

F32_BYTES, BF16_BYTES = 4, 2


@dataclass(frozen=True)
class Points:
    """Axes of the last stage that count points, outermost first: those that are fused, how many points there are along
    them, and the rows from one to the next."""

    axes: tuple[int, ...]
    count: int
    pitch: int


class Place(Enum):
    """Which axis of the last stage is that of outputs: the last one; the second of an image; or the second, counting
    blocks of as many as a tile has columns, and the last one, inside of them."""

    LAST = auto()
    SECOND = auto()
    IN_BLOCKS = auto()

    def axis(self, rank: int) -> int:
        """The number of the first of them."""
        return rank - 1 if self is Place.LAST else 1


@dataclass(frozen=True)
class Blocks:
    """How points are taken, at most.

    lines: along the axes numbered `axis`, with all that is along those behind, points of so many are multiplied and
    leave a buffer; these are so many `rows`. high, wide: how many tiles below each other and side by side are
    multiplied at a time. together: of how many times as many points the numbers are there before any is multiplied; 0
    if of all.
    """

    axis: int
    lines: int
    rows: int
    high: int
    wide: int
    together: int

    @property
    def padded(self) -> int:
        """The rows with those that fill tiles."""
        return -(-self.rows // (ROWS * self.high)) * ROWS * self.high


@dataclass(frozen=True)
class Bf16xForm:
    """The stages by what they compute, once those `inlined` are. place: of the outputs among the last stage's axes.

    images: how many axes there are in front of these points, of images that each have all of them: of so many that
    nobody knows. is_open: nobody knows how many points there are.
    """

    inlined: list[str]
    data: ComputeOp
    product: ComputeOp
    final: ComputeOp
    place: Place
    images: int
    points: tuple[Points, ...]
    is_open: bool
    blocks: Blocks

    @property
    def line(self) -> int:
        """How many rows a line of points has; blocks begin with one."""
        return _line(self.points)


def bf16x_form(kernel: KernelOp, target: CpuTarget) -> Bf16xForm | None:
    """The form of a kernel, None if it is another, sizes but those of rows or images are not known, or do not fill
    vectors."""
    if not target.multiplies_tiles:
        return None
    found = inlined_stages(kernel, ROLES)
    if found is None:
        return None
    inlined, stages, final = found
    data, product, extents = stages[DATA], stages[PRODUCT], [extent for _, extent in final.spatial]
    if (sizes_of(data)[-1], sizes_of(product)[-1]) != (CHANNELS, COLUMNS):
        return None
    taken = _taken(final)
    if taken is None or len(extents) < 2 or const(0) in extents or bits_of(final.result.type) != 8 * F32_BYTES:
        return None
    at, row, lane = taken
    names = [name for name, _ in final.spatial]
    place = _place_of_outputs(names, sizes_of(final), at, lane)
    if place is None:
        return None
    axes = [i for i in range(len(names) - (place is Place.IN_BLOCKS)) if i != place.axis(len(names))]
    unknown = [i for i in axes if not extents[i].is_constant]
    if unknown and len(data.spatial) == LAYER_RANK:
        return _open_form(inlined, data, product, final, axes, row, target) if place is Place.LAST else None
    if unknown not in ([], [0]) or row != sum((row.coefficient(names[i]) * var(names[i]) for i in axes), const(0)):
        return None
    images = len(unknown)
    points = _fused([Points((i,), extents[i].offset, max(row.coefficient(names[i]), 1)) for i in axes[images:]])
    ragged = place is Place.LAST and extents[-1].offset % COLUMNS != 0
    work = _Work.of(points, data, product, target)
    # numbers of all images in front of all else would go through memory
    ways = [blocks for blocks in work.all_blocks(ragged) if blocks.together or not images]
    blocks = min(ways, key=work.compared, default=None)
    return blocks and Bf16xForm(inlined, data, product, final, place, images, points, False, blocks)


def _open_form(
    inlined: list[str],
    data: ComputeOp,
    product: ComputeOp,
    final: ComputeOp,
    axes: Sequence[int],
    row: Expr,
    target: CpuTarget,
) -> Bf16xForm | None:
    """That of a layer with any number of rows."""
    counted = const(0)
    for name, extent in final.spatial[:-1]:
        counted = counted * extent + (var(name) if extent != 1 else 0)
    if row != counted:
        return None
    points = (Points(tuple(axes), USUAL, 1),)
    work = _Work.of(points, data, product, target)
    ways = (Blocks(0, ROWS * high, ROWS * high, high, min(wide, work.columns), together=0) for high, wide in TILES)
    blocks = min(ways, key=work.compared)
    return Bf16xForm(inlined, data, product, final, Place.LAST, 0, points, True, blocks)


def cycles_alone(form: Bf16xForm, target: CpuTarget) -> float:
    """The cycles of one core, without what is behind the product."""
    cycles = _Work.of(form.points, form.data, form.product, target).cycles(form.blocks, 1)
    if form.is_open:
        return cycles * size_of(form.final.spatial[:-1]) / USUAL
    return cycles * size_of(form.final.spatial[: form.images])


def _place_of_outputs(names: Sequence[str], sizes: Sequence[int], at: Expr, lane: Expr) -> Place | None:
    """Where they are, if those of one tile are read as they lie in it; fewer would leave most of a tile empty."""
    if len(names) > 3 and at == (var(names[1]) if sizes[1] > 1 else const(0)) and lane == var(names[-1]):
        return Place.IN_BLOCKS if sizes[-1] == COLUMNS else None
    for place in (Place.LAST, Place.SECOND):
        outputs = place.axis(len(names))
        name = names[outputs]
        if at == var(name) // COLUMNS and lane == var(name) % COLUMNS:
            return place if place is Place.LAST or sizes[outputs] % COLUMNS == 0 else None
    return None


def _taken(final: ComputeOp) -> tuple[Expr, ...] | None:
    """Where the last stage reads the product, if it does at one place only."""
    domain = Domain({name: (0, extent - 1) for name, extent in final.spatial})
    owners = ((r, r.tensor.owner) for r in final.reads)
    reads = [r for r, owner in owners if isinstance(owner, ComputeOp) and role_of(owner) == PRODUCT]
    places = {tuple(map(domain.simplify, r.exprs)) for r in reads}
    return places.pop() if len(places) == 1 else None


def _fused(points: Sequence[Points]) -> tuple[Points, ...]:
    """Axes whose rows follow each other as one; of those with one point, the rows to the next do not matter."""
    fused: list[Points] = []
    for inner in points:
        outer = fused[-1] if fused else None
        if outer is not None and 1 in (outer.count, inner.count):
            pitch = outer.pitch if inner.count == 1 else inner.pitch
            fused[-1] = Points((*outer.axes, *inner.axes), outer.count * inner.count, pitch)
        elif outer is not None and outer.pitch == inner.pitch * inner.count:
            fused[-1] = Points((*outer.axes, *inner.axes), outer.count * inner.count, inner.pitch)
        else:
            fused.append(inner)
    return tuple(fused)


def _line(points: Sequence[Points]) -> int:
    """How many rows a line of points has."""
    return points[-2].pitch if len(points) > 1 else points[-1].pitch


@dataclass(frozen=True)
class _Work:
    """What there is to do, however it is done.

    numbers: that a float is. tiles: multiplied for one of results, of one number. columns: tiles of results side by
    side. needed, touched: rows that are multiplied, and those among them that only windows touch. row_cycles,
    row_bytes: of the numbers of a row.
    """

    points: Sequence[Points]
    numbers: int
    tiles: int
    columns: int
    needed: int
    touched: int
    row_cycles: float
    row_bytes: int
    target: CpuTarget

    @classmethod
    def of(cls, points: Sequence[Points], data: ComputeOp, product: ComputeOp, target: CpuTarget) -> _Work:
        blocks, *phases, numbers, _, _ = sizes_of(data)
        *summed, _, _, _, _ = [extent.constant or 0 for _, extent in product.reduction]
        (rows, of_data), (_, of_product) = data.spatial[-2], product.spatial[1]
        touched = (of_data - of_product).offset
        needed = sum((p.count - 1) * p.pitch for p in points) + ROWS * 2 * points[-1].pitch + touched
        elements = blocks * prod(phases) * CHANNELS
        size = elements * numbers * BF16_BYTES
        cycles = elementwise_cycles(data, target, 8 * F32_BYTES) / size_of([(rows, of_data)])
        cycles += (elements * F32_BYTES + size) / target.bandwidth.second
        return cls(points, numbers, prod(summed), sizes_of(product)[0], needed, touched, cycles, size, target)

    def all_blocks(self, ragged: bool) -> Iterator[Blocks]:
        """The ways to take points whose buffers fit: with the best lines for each size of tiles.

        ragged: outputs that do not fill a tile are there, and have a buffer of their own.
        """
        for tiles in TILES:
            lines = min(self.all_lines(*tiles), key=self.multiplying, default=None)
            if lines is not None:
                yield lines
                count = self.points[lines.axis].count
                for together in {-(-length // lines.lines) for length in _lengths(count, 1)}:
                    blocks = replace(lines, together=together)
                    if self.results(blocks) * (1 + ragged) + self.numbers_together(blocks) <= self.room:
                        yield blocks

    def all_lines(self, high: int, wide: int) -> Iterator[Blocks]:
        """Those of the points that may be multiplied and leave a buffer."""
        for axis, along in enumerate(self.points):
            behind = sum((inner.count - 1) * inner.pitch for inner in self.points[axis + 1 :])
            for lines in _lengths(along.count, 1 if behind else ROWS):
                rows = ((lines - 1) * along.pitch + behind) // self.pitch + 1
                blocks = Blocks(axis, lines, rows, high, min(wide, self.columns), together=0)
                if self.results(blocks) <= self.room // 2:
                    yield blocks

    @property
    def room(self) -> int:
        """Bytes of buffers that there may be at a time."""
        return self.target.machine.buffers.largest_block

    @property
    def unit(self) -> TileUnit:
        """What multiplies tiles."""
        return self.target.machine.tiles

    @property
    def pitch(self) -> int:
        """The distance of the rows with results; between these are others where lines have one point."""
        return self.points[-1].pitch

    def results(self, blocks: Blocks) -> int:
        """Bytes of them that are kept at a time."""
        return F32_BYTES * COLUMNS * blocks.wide * blocks.padded

    def rows_together(self, blocks: Blocks) -> int:
        """Rows whose numbers are there before any is multiplied."""
        if not blocks.together:
            return self.needed
        more = (blocks.together - 1) * blocks.lines * self.points[blocks.axis].pitch
        return more + blocks.padded * self.pitch + self.touched

    def numbers_together(self, blocks: Blocks) -> int:
        """Bytes of their buffer, which has whole lines."""
        line = _line(self.points)
        return -(-self.rows_together(blocks) // line) * line * self.row_bytes

    def times(self, blocks: Blocks, lines: int) -> int:
        """How many times points of so many lines are taken."""
        around = prod(outer.count for outer in self.points[: blocks.axis])
        return around * -(-self.points[blocks.axis].count // lines)

    def multiplying(self, blocks: Blocks) -> float:
        """Cycles of multiplying all, by one core, and of what is kept."""
        groups = -(-self.columns // blocks.wide)
        return groups * self.times(blocks, blocks.lines) * self.group(blocks)

    def group(self, blocks: Blocks) -> float:
        """Cycles of multiplying some points, for as many outputs as at a time."""
        sums, speed, results = blocks.high * blocks.wide, self.target.bandwidth.second, self.results(blocks)
        pairs = self.numbers * (self.numbers + 1) // 2
        loading = self.numbers * (blocks.high + blocks.wide) * self.unit.load
        step = pairs * max(sums * MULTIPLICATIONS / self.target.tile_multiplications, self.unit.latency) + loading
        near = results <= self.target.cache_bytes[0] * self.target.machine.caches.stored_share
        keeping = 2 * results / (2 * speed if near else speed)
        return blocks.padded / ROWS / blocks.high * self.tiles * step + keeping

    def cycles(self, blocks: Blocks, cores: int) -> float:
        """The cycles of so many cores that share the work."""
        groups, speed = -(-self.columns // blocks.wide), self.target.bandwidth
        weights = groups * blocks.wide * self.tiles * self.numbers * TILE_BYTES
        numbers = self.rows_together(blocks) * self.row_cycles
        if not blocks.together:
            size = self.row_bytes * self.needed
            getting = size * (cores - 1) / cores / speed.exchange
            if size > self.target.near_bytes:
                getting += (groups - 1) / cores * size / self.target.kept_speed(size)
            tasks = -(-groups * self.times(blocks, blocks.lines) // cores)
            return self.unit.start + numbers / cores + getting + tasks * self.group(blocks)
        turns = -(-self.times(blocks, blocks.together * blocks.lines) // cores)
        again = (turns - 1) * weights / (speed.second if weights <= self.target.near_bytes else speed.shared)
        return self.unit.start + turns * (numbers + groups * blocks.together * self.group(blocks)) + again

    def compared(self, blocks: Blocks) -> float:
        """What to compare: a kernel runs on one core, or on all."""
        cores = self.target.cores
        return self.cycles(blocks, 1) + cores * self.cycles(blocks, cores)


def _lengths(count: int, multiple: int) -> list[int]:
    """The lengths of parts that a count is cut into, each as many more than a multiple as it takes."""
    lengths = {-(-count // parts) for parts in range(1, count + 1)}
    return sorted({min(-(-length // multiple) * multiple, count) for length in lengths})
