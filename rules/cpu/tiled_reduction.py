"""How a reduction runs in register tiles, inside the loops of the stage that takes its results."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import takewhile
from math import prod

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, Key, ceildiv, const
from tilework.analysis.sizes import LARGE, bits_of, bytes_of, count_of, size_of
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp
from tilework.rules.common.axes import Axes, Axis
from tilework.rules.common.block_sums import block_lengths, sum_in_blocks
from tilework.rules.cpu.axis_splits import axis_splits
from tilework.rules.cpu.consumer_rows import Around, Rows
from tilework.rules.cpu.costs import lanes_are_masked, lanes_differ
from tilework.rules.cpu.panel_copies import Panel, panel_of
from tilework.rules.cpu.parallel import Loop, parallel_prefix, run_in_parallel
from tilework.rules.cpu.prefetch import Step, prefetch_images, prefetch_operands
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import Tile, axes_in_extents, choose_tile
from tilework.rules.cpu.relayout import place_in_block
from tilework.targets.cpu.target import CpuTarget


def block_sizes(reduction: ComputeOp) -> dict[Hashable, int]:
    """The reduce axes along which something is read in blocks, and their sizes."""
    places = filter(None, (place_in_block(e) for r in reduction.reads for e in r.exprs))
    return {name: size for name, size in places if name in dict(reduction.reduction)}


@dataclass
class _Loops:
    """The final stage's loops, by role: around the tile, around it but unfit for fusing, behind those, inside it.

    names: along which axis of the reduction such a loop goes, by its handle. whole: the axes that are such a loop; of a
    loop over pieces, none. ragged: one whose last iteration is shorter, so that it is fused with no other. rows: one in
    which rows of another stage are computed. unrolled: by the axis of the reduction.
    """

    outer: list[Loop] = field(default_factory=list[Loop])
    names: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    whole: dict[SSAValue, Set[str]] = field(default_factory=dict[SSAValue, Set[str]])
    late: list[SSAValue] = field(default_factory=list[SSAValue])
    last: list[Loop] = field(default_factory=list[Loop])
    ragged: SSAValue | None = None
    rows: SSAValue | None = None
    unrolled: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    vector: list[SSAValue] = field(default_factory=list[SSAValue])


def tile_reduction(
    s: ScheduleBuilder,
    final: StageHandle,
    inside: StageHandle,
    reduction: ComputeOp,
    work: Sequence[Axes],
    target: CpuTarget,
    rows: Rows | None,
    parts: Set[Key],
) -> list[Around]:
    """Tile the final stage and compute the reduction inside each tile; their spatial axes correspond in order.

    parts: the axes at each point of which it reads a part of another stage, to be computed inside their loops. Returns
    the loops around the tile, outermost first.
    """
    tile = choose_tile(reduction, reads_of(reduction), target)
    loops = _Loops()
    panel = panel_of(reduction, tile, target)
    if rows is not None:
        first = rows.outermost
    else:
        first = _moving_outside(reduction, tile, parts, target) if panel is None else panel.moving
    axes = list(zip(final.axes.values(), reduction.spatial, strict=False))
    pieces = axis_splits(reduction, [axis for _, axis in _outermost(first, axes)], tile, rows, target)
    if rows is not None:
        first = first - {rows.axis}  # of rows only blocks are outside, where all else is read again for each
    cut: dict[str, SSAValue] = {}
    for axis, (name, extent) in _outermost(first, axes):
        for piece in (p for p in pieces if p.axis == name):
            extent = extent // piece.count
            cut[name], axis = s.split(axis, size_of([(name, extent)]))
        if rows is not None and name == rows.axis:
            outer, axis = s.split(axis, rows.count)
            place = sum(loops.names[around] in first for around, _ in loops.outer)
            loops.outer.insert(place, (outer, extent // rows.count))
            loops.whole[outer] = frozenset({rows.loop})
            loops.rows = outer
            extent = const(rows.count)
        _split_final(s, loops, axis, extent, tile, name)
    loops.outer = _with_pieces([(cut[piece.axis], const(piece.count)) for piece in pieces], loops.outer, target)
    loops.whole |= dict.fromkeys(cut.values(), frozenset())
    loops.outer.sort(key=lambda loop: loop[1] != 1)  # axes of one element stay out of what is fused
    if panel is not None and any(loops.names[axis] == panel.vector for axis in loops.late):
        _place_behind_panel(loops, panel)
    _place_ragged(loops, target)
    s.reorder([*(a for a, _ in loops.outer), *loops.late, *(a for a, _ in loops.last), *_inside(tile, loops)])
    outer = _in_parallel(s, loops, work, target)
    around = [*outer, *loops.late, *(axis for axis, _ in loops.last)]
    if loops.late and all(extent == 1 for _, extent in loops.outer):
        run_in_parallel(s, loops.late[0], work)
    steps = _fill_tile(s, loops, around[-1], inside, reduction, tile, target)
    if panel is not None and (place := _loop_along(loops, around, panel.vector)) is not None:
        panel.copy(s, inside, place)  # else it was fused with loops inside it, to have enough for all cores
    if tile is not None and tile.aligned:
        counts = {axis: count_of(extent) for axis, extent in [*loops.outer, *loops.last]}
        counts |= dict.fromkeys(loops.late, LARGE)
        single = [(axis, loops.names[axis], counts[axis]) for axis in around if axis in loops.names]
        step = Step(tile.vector, tile.accumulators // tile.vectors, tile.vectors, tile.lanes)
        # what is only read, and stays in the last cache, streams without being asked for
        streamed = int(target.cache_bytes[2] * target.machine.caches.streamed_share)
        least = None if tile.reuses else streamed
        if tile.reuses or not target.machine.prefetching.reads_ahead:
            prefetch_operands(s, reduction, step, steps, single, target, least)
        prefetch_images(s, reduction, tile.vector, single, target)
    return _fixed(loops, outer)


def tile_within(
    s: ScheduleBuilder,
    final: StageHandle,
    inside: StageHandle,
    reduction: ComputeOp,
    tile: Tile | None,
    target: CpuTarget,
) -> None:
    """The same in such tiles, of a stage that is computed in a loop of another one, for a part of its results."""
    loops = _Loops()
    first = _staying_near(reduction, tile, target)
    axes = list(zip(final.axes.values(), reduction.spatial, strict=False))
    for axis, (name, extent) in _outermost(first, axes):
        _split_final(s, loops, axis, extent, tile, name)
    around = [*(axis for axis, _ in loops.outer), *loops.late]
    s.reorder([*around, *_inside(tile, loops)])
    _fill_tile(s, loops, around[-1], inside, reduction, tile, target)


def _fill_tile(
    s: ScheduleBuilder,
    loops: _Loops,
    around: SSAValue,
    inside: StageHandle,
    reduction: ComputeOp,
    tile: Tile | None,
    target: CpuTarget,
) -> tuple[SSAValue, int] | None:
    """Compute the reduction in the innermost loop around a tile of the final stage, which is straight-line code.

    Returns the innermost reduce axis and its extent, if it is a loop.
    """
    for axis in loops.unrolled.values():
        s.unroll(axis)
    _mark_vector(s, loops.vector)
    masked = tile is not None and lanes_are_masked(reduction, tile.vector, target)
    if tile is not None and _leaves_lanes(reduction, tile, target):
        s.pad_to_multiple(inside.axes[tile.vector], tile.lanes)
        masked = True
    scope = _scope(reduction, tile, target)
    cut, lengths = _blocks_of_terms(reduction, target)
    if not lengths:
        s.compute_at(inside, around, scope)
        return _order_reduction(s, inside, reduction, tile, masked, _reduce_loops(s, inside, reduction))

    def order(stage: StageHandle, axes: Sequence[SSAValue]) -> SSAValue:
        _order_reduction(s, stage, reduction, tile, masked, [(axis, 0) for axis in axes])
        return axes[-1]

    summed = [name for name, _ in reduction.reduction]
    innermost = sum_in_blocks(s, inside, summed, cut, lengths, around, scope, order)
    return innermost, lengths[-1] if cut == summed[-1] else reduction.reduction[-1][1].constant or 0


def _blocks_of_terms(reduction: ComputeOp, target: CpuTarget) -> tuple[str, Sequence[int]]:
    """The longest reduce axis, and the blocks along it in which many terms are summed.

    Windows, and what lies in memory block by block, are no long sums.
    """
    axes = reduction.reduction
    longest = max(axes, key=lambda axis: size_of([axis]))
    windows = any(len(e.variables()) > 1 for read in reduction.reads for e in read.exprs)
    if windows or block_sizes(reduction) or axes_in_extents(reduction.spatial, axes):
        return longest[0], []
    others = [axis for axis in axes if axis is not longest]
    if not all(extent.is_constant for _, extent in others):  # then nobody knows how many terms a block has
        return longest[0], []
    work = target.machine.work
    steps = max(work.terms // max(size_of(others), 1), work.least_steps)
    return longest[0], block_lengths(reduction, size_of([longest]), steps)


def _leaves_lanes(reduction: ComputeOp, tile: Tile, target: CpuTarget) -> bool:
    """Whether the last vector of whole tiles has lanes without results, and may be computed whole.

    Masks are for what it reads: what is stored under one has to reach memory before it is loaded again.
    """
    extent = dict(reduction.spatial)[tile.vector].constant
    return tile.aligned and target.masks_loads and (extent is None or extent % tile.lanes > 0)


def _with_pieces(pieces: Sequence[Loop], outer: Sequence[Loop], target: CpuTarget) -> list[Loop]:
    """The loops over pieces around all others but those of unknown extent that come first, or behind too few."""
    unknown = [loop for loop in outer if not loop[1].is_constant]
    known = [loop for loop in outer if loop[1].is_constant]
    before = list(takewhile(lambda loop: loop[1].is_constant, outer))
    if size_of(before) == 1 or size_of([*pieces, *before]) < target.cores:
        return [*unknown, *pieces, *known]
    return [*pieces, *outer]


def _place_behind_panel(loops: _Loops, panel: Panel) -> None:
    """What does not move along a panel of unknown length runs inside of the loop that copies it; pieces do not."""
    loops.last = [loop for loop in loops.outer if loops.names.get(loop[0], panel.vector) not in panel.moving]
    loops.outer = [loop for loop in loops.outer if loop not in loops.last]


def _place_ragged(loops: _Loops, target: CpuTarget) -> None:
    """Outermost and parallel by itself, if it is there and long enough; else inside what is fused and parallel."""
    counts = {axis: count_of(extent) for axis, extent in loops.outer if extent != 1}
    if loops.ragged is None or loops.ragged not in counts:
        return
    is_first = next(iter(counts)) is loops.ragged
    own = counts.pop(loops.ragged)
    if not is_first or own < min(target.machine.work.tasks_per_core * target.cores, prod(counts.values())):
        loops.outer = [loop for loop in loops.outer if loop[0] is not loops.ragged]
        loops.late.insert(0, loops.ragged)


def _in_parallel(s: ScheduleBuilder, loops: _Loops, work: Sequence[Axes], target: CpuTarget) -> list[SSAValue]:
    """The outer loops, those fused and parallel that may be."""
    axes = [axis for axis, _ in loops.outer]
    end = next((i for i, axis in enumerate(axes, 1) if axis is loops.ragged), len(axes))
    rows = next((i for i, axis in enumerate(axes, 1) if axis is loops.rows), end)
    if size_of(loops.outer[:rows]) >= target.cores:
        end = min(end, rows)  # else rows would be computed for each of the loops that are fused with theirs
    return [*parallel_prefix(s, loops.outer[:end], work, target), *axes[end:]]


def _outermost(first: Set[Key], axes: Sequence[tuple[SSAValue, Axis]]) -> list[tuple[SSAValue, Axis]]:
    """The axes, those of these names in front."""
    return sorted(axes, key=lambda pair: pair[1][0] not in first)


def _moving_outside(reduction: ComputeOp, tile: Tile | None, parts: Set[Key], target: CpuTarget) -> Set[Key]:
    """The axes whose loops belong around all others, so that an operand's pieces are fetched once each.

    From memory, of the largest operand, if it is one of vectors and too large for the second cache. Else to the nearest
    cache, inside the loops from part to part.
    """
    operands = [(read, bytes_of(r.tensor.type)) for read, r in zip(reads_of(reduction), reduction.reads, strict=True)]
    if tile is None or not operands:
        return frozenset()
    largest, size = max(operands, key=lambda operand: operand[1])
    if size > target.cache_bytes[1]:
        return largest.axes if tile.vector in largest.axes else frozenset()
    nearest = _staying_near(reduction, tile, target)
    return nearest | parts if nearest else nearest


def _staying_near(reduction: ComputeOp, tile: Tile | None, target: CpuTarget) -> Set[Key]:
    """The axes of the operand that is two thirds or more of what a tile reads, if that fits into the nearest cache."""
    if tile is None or not reduction.reads:
        return frozenset()
    points = {name: range(tile.extent(name)) for name, _ in reduction.spatial}
    points |= {name: range(size_of([(name, extent)])) for name, extent in reduction.reduction}
    operands = zip(reads_of(reduction), reduction.reads, strict=True)
    pieces = [(read.axes, read.distinct(points) * bits_of(r.tensor.type) // 8) for read, r in operands]
    axes, most = max(pieces, key=lambda piece: piece[1])
    total = sum(piece for _, piece in pieces)
    return axes if 3 * most >= 2 * total and total <= target.cache_bytes[0] else frozenset()


def _loop_along(loops: _Loops, around: Sequence[SSAValue], name: str) -> SSAValue | None:
    """The loop around the tile that goes along an axis, or whose innermost part does if it was fused from several."""
    counts = dict(loops.outer)
    fused = [axis for axis in counts if axis not in around]
    for loop in around:
        own = loop if loop in counts or loop in loops.late or loop in dict(loops.last) else fused[-1]
        if loops.names.get(own) == name:
            return loop
    return None


def _fixed(loops: _Loops, left: Sequence[SSAValue]) -> list[Around]:
    """What the loops left of the outer ones fix: the first that is none of them was fused from those left out."""
    extents = dict(loops.outer)
    fused = [axis for axis in extents if axis not in left]
    found: list[Around] = []
    fixed: set[str] = set()
    for loop in left:
        axes = [axis for axis in ([loop] if loop in extents else fused) if extents[axis] != 1]
        if not all(axis in loops.whole for axis in axes):
            break
        fixed.update(*(loops.whole[axis] for axis in axes))
        found.append(Around(loop, frozenset(fixed)))
    return found


def _scope(reduction: ComputeOp, tile: Tile | None, target: CpuTarget) -> str:
    """Registers have no run-time subscripts: a tile stays out of them where its lanes differ, or how many there are."""
    conditional = tile is not None and lanes_differ(reduction, tile.vector, target)
    vector = [] if tile is None or tile.aligned else [e for n, e in reduction.spatial if n == tile.vector]
    masked = any(e.constant is None for e in vector)
    return "local" if conditional or masked else "register"


def _split_final(s: ScheduleBuilder, loops: _Loops, axis: SSAValue, extent: Expr, tile: Tile | None, name: str) -> None:
    outer, known = axis, True
    if tile is not None and name == tile.vector:
        known = extent.constant is not None
        is_ragged = tile.aligned and not (known and extent % tile.span == 0)
        outer, inner = s.split(axis, tile.span, Tail.PARTITION if is_ragged else Tail.SHIFT if known else Tail.MASK)
        loops.ragged = outer if is_ragged else None
        extent = ceildiv(extent, tile.span)
        loops.vector = list(s.split(inner, tile.lanes)) if tile.vectors > 1 else [inner]
    elif tile is not None and (factor := tile.factors.get(name, 1)) > 1:
        known = extent.is_constant and extent % factor == 0
        outer, loops.unrolled[name] = s.split(axis, factor, Tail.GUARD if known else Tail.PARTITION)
        extent //= factor
    else:
        loops.whole[axis] = frozenset({name})
    loops.names[outer] = name
    if known:
        loops.outer.append((outer, extent))
    else:
        loops.late.append(outer)


def _inside(tile: Tile | None, loops: _Loops) -> list[SSAValue]:
    """The loops inside a tile; lanes innermost, and around them vectors that are transposed to be stored in rows."""
    row = [] if tile is None or tile.row is None else [loops.unrolled[tile.row]]
    others = [axis for axis in _as_in(tile, loops.unrolled) if axis not in row]
    return [*others, *loops.vector[:-1], *row, *loops.vector[-1:]]


def _as_in(tile: Tile | None, axes: Mapping[str, SSAValue]) -> list[SSAValue]:
    """Axes by name in the order of the tile's factors, behind those that it has none for."""
    order = [] if tile is None else list(tile.factors)
    return [axes[n] for n in sorted(axes, key=lambda n: order.index(n) if n in order else -1)]


def _mark_vector(s: ScheduleBuilder, vector: Sequence[SSAValue], masked: bool = False) -> None:
    """The innermost of the axes becomes lanes, one around it is unrolled."""
    if not vector:
        return
    for axis in vector[:-1]:
        s.unroll(axis)
    s.vectorize(vector[-1], masked)


def _order_reduction(
    s: ScheduleBuilder,
    inside: StageHandle,
    reduction: ComputeOp,
    tile: Tile | None,
    masked: bool,
    loops: Sequence[tuple[SSAValue, int]],
) -> tuple[SSAValue, int] | None:
    """Reduce axes outside, in what they depend on; the tile inside, unrolled, with the vector innermost.

    loops: the reduce axes and their extents. Returns the innermost of them, if it is a loop.
    """
    outer = axes_in_extents(reduction.spatial, reduction.reduction)
    reduce_axes = [axis for axis, _ in loops]
    plain: dict[str, SSAValue] = {}
    vector: list[SSAValue] = []
    for name, _ in reduction.spatial:
        axis = inside.axes[name]
        if tile is not None and name == tile.vector:
            vector = list(s.split(axis, tile.lanes)) if tile.vectors > 1 else [axis]
        elif name not in outer:
            plain[name] = axis
    s.reorder([*(inside.axes[n] for n in outer), *reduce_axes, *_as_in(tile, plain), *vector])
    straight = reduce_axes if tile is not None and tile.straight else []
    for axis in (*straight, *plain.values()):
        s.unroll(axis)
    _mark_vector(s, vector, masked)
    return None if straight or not loops else loops[-1]


def _reduce_loops(s: ScheduleBuilder, inside: StageHandle, reduction: ComputeOp) -> list[tuple[SSAValue, int]]:
    """The reduce axes and their extents, 0 where not known; what is read in blocks, block by block."""
    sizes = block_sizes(reduction)
    around: list[tuple[SSAValue, int]] = []
    places: list[tuple[SSAValue, int]] = []
    for name, extent in reduction.reduction:
        axis, count = inside.axes[name], extent.constant or 0
        if name in sizes:
            axis, place = s.split(axis, sizes[name])
            places.append((place, sizes[name]))
            count //= sizes[name]
        around.append((axis, count))
    return [*around, *places]
