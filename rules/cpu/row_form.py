"""What kernels that go row by row have in common: which axes of every stage count rows."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import var
from tilework.analysis.sizes import LARGE, bits_of, size_of
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp
from tilework.dialects.te.intrinsics import copy_with_declarations
from tilework.rules.common.axes import Axis
from tilework.rules.common.readers import readers_of
from tilework.rules.cpu.any_order import is_any_order
from tilework.rules.cpu.blocked_copy import BlockedCopy, blocked_copy
from tilework.rules.cpu.reads import Read, reads_of
from tilework.rules.cpu.register_tile import Tile, choose_tile
from tilework.rules.cpu.stages import StagePlan, plan_stages
from tilework.scheduling.dataflow.inline import inline_computes
from tilework.targets.cpu.target import CpuTarget


@dataclass(frozen=True)
class Product:
    """A reduction with several results in each row, in such tiles. copy: what it reads in place of an argument."""

    reduction: ComputeOp
    tile: Tile | None
    copy: BlockedCopy | None


@dataclass(frozen=True)
class RowForm:
    """`inlined` stages by name; `stages`: all others. `final`: the one that is returned; `inside`: those computed for
    `block` rows at a time along the last row axis; `before`: those that belong to no row.

    rows: the names of the row axes, for the stages of a block. summaries: the stages with a single number for each row.
    products: other reductions, each at the stage that is computed in their tiles.
    """

    inlined: Sequence[str]
    stages: Sequence[ComputeOp]
    final: ComputeOp
    inside: Sequence[ComputeOp]
    before: Sequence[ComputeOp]
    rows: Mapping[ComputeOp, tuple[str, ...]]
    summaries: Sequence[ComputeOp]
    products: Mapping[ComputeOp, Product]
    block: int


def row_form(kernel: KernelOp, target: CpuTarget) -> RowForm | None:
    """The form of a kernel; None for one that has another."""
    if not any(_is_summary(c, kernel.computes[-1], target) for c in kernel.computes):  # soon known of most
        return None
    plan = plan_stages(kernel, target)
    if plan.steps or plan.relayouts or plan.copies or len(kernel.results_returned) > 1:
        return None
    if not all(map(_may_be_in_blocks, plan.stages)):
        return None
    *others, final = plan.roots
    summary = next((c for c in plan.stages if _is_summary(c, final, target)), None)
    rows = None if summary is None else _rows_of_stages(plan.stages, summary)
    if summary is None or rows is None or final not in rows:
        return None
    if {*_long(final)} - {*rows[final]} and _long(final)[-1] in rows[final]:
        return None
    before = [c for c in others if c not in rows]
    if any(c.reduction or c in plan.anchored for c in before):
        return None
    summaries = [c for c in plan.stages if c in rows and c.reduction and {*_long(c)} <= {*rows[c]}]
    inside, products = _inside(plan, final, rows, summaries)
    unknown = [c for c in inside if _length_of(c, rows[c]) is None and c is not final]
    if unknown:
        return _form_with_inlined(kernel, unknown, target)
    only_rows = not all(may_be_vectors(c, target) for c in summaries)
    block = _block_of(inside, summary, rows[summary][-1], bool(products) or only_rows, target)
    if block == 0:
        return None
    copied: set[SSAValue] = set()
    tiled = {c: _product(r, rows[r], block, copied, target) for c, r in products.items()}
    return RowForm(plan.inlined, plan.stages, final, inside, before, rows, summaries, tiled, block)


def _form_with_inlined(kernel: KernelOp, stages: Sequence[ComputeOp], target: CpuTarget) -> RowForm | None:
    """Where stages are computed wherever they are read, since nobody knows how much memory a row of them takes."""
    if any(c.reduction for c in stages):
        return None
    copy, names = copy_with_declarations(kernel), [c.stage.data for c in stages]
    inline_computes([c for c in copy.computes if c.stage.data in names])
    form = row_form(copy, target)
    return None if form is None else replace(form, inlined=[*names, *form.inlined])


def _length_of(compute: ComputeOp, rows: Sequence[str]) -> int | None:
    """How many elements a stage has in each row, None if that is not known."""
    axes = [axis for axis in compute.spatial if axis[0] not in rows]
    return size_of(axes) if all(e.is_constant for _, e in axes) else None


def _inside(
    plan: StagePlan, final: ComputeOp, rows: Container[ComputeOp], summaries: Sequence[ComputeOp]
) -> tuple[list[ComputeOp], dict[ComputeOp, ComputeOp]]:
    """The stages of a block, in order; and the products among them, each with its reduction.

    That is the stage itself, or one in the tiles of which the stage is computed. The final stage copies what it would
    sum.
    """
    inside: list[ComputeOp] = []
    products: dict[ComputeOp, ComputeOp] = {}
    for root in (c for c in plan.roots if c in rows):
        reduction = plan.anchored.get(root, root)
        if reduction is not root and (reduction in summaries or root is final):
            inside.append(reduction)
        if root is not final or root.reduction:
            inside.append(root)
        if reduction.reduction and reduction not in summaries:
            products[inside[-1]] = reduction
    return inside, products


def _may_be_in_blocks(compute: ComputeOp) -> bool:
    """Whether a stage makes a single tensor with axes none of which is known to be of extent 0."""
    axes = [*compute.spatial, *compute.reduction]
    return len(compute.results) == 1 and len(compute.spatial) > 0 and all(e.constant != 0 for _, e in axes)


def _is_summary(compute: ComputeOp, final: ComputeOp, target: CpuTarget) -> bool:
    """Whether a stage may sum up rows of the final stage's."""
    if not compute.reduction or not compute.spatial or is_any_order(compute, target):
        return False
    if len(_long(compute)) < len(_long(final)):
        return 2 * size_of(compute.spatial) <= size_of(final.spatial)
    return size_of(compute.spatial) == size_of(final.spatial) and _sums_rows(compute, target)


def _sums_rows(compute: ComputeOp, target: CpuTarget) -> bool:
    """Whether a reduction reads pieces of memory from end to end, each for one result."""
    piece, along = in_one_piece(compute), _along(compute)
    length = size_of(piece) if all(e.is_constant for _, e in piece) else LARGE  # as in the steps of reads
    steps = [[abs(read.step(name)) for name in _long(compute)] for read in along]
    apart = all(step >= length for of_read in steps for step in of_read)
    if not apart and not (_is_alone(compute) and _are_of_a_matrix(steps, length)):
        return False
    return _are_side_by_side(along, piece[-1]) and size_of(piece) >= target.machine.work.row_piece


def _is_alone(reduction: ComputeOp) -> bool:
    """Whether no other stage of the kernel sums, along other rows perhaps."""
    kernel = reduction.parent_op()
    assert isinstance(kernel, KernelOp)
    return sum(bool(compute.reduction) for compute in kernel.computes) == 1


def _are_of_a_matrix(steps: Sequence[Sequence[int]], length: int) -> bool:
    """Whether one read goes through all rows, and others through some of them, as a vector for all rows does."""
    is_read_once = any(all(step >= length for step in of_read) for of_read in steps)
    return is_read_once and all(step == 0 or step >= length for of_read in steps for step in of_read)


def may_be_vectors(summary: ComputeOp, target: CpuTarget) -> bool:
    """Whether elements of a row are vectors in memory, the last perhaps a part of one, under a mask."""
    piece, lanes = in_one_piece(summary), target.lanes(bits_of(summary.result.type))
    can_be_masked = target.masks_loads and size_of(piece) > lanes
    return (can_be_masked or are_whole(piece, lanes)) and _are_side_by_side(_along(summary), piece[-1])


def are_whole(piece: Sequence[Axis], length: int) -> bool:
    """Whether elements that follow each other are known to make so many at a time and leave none."""
    return all(e.is_constant for _, e in piece) and size_of(piece) % length == 0


def _along(reduction: ComputeOp) -> list[Read]:
    """The reads along the last reduce axis."""
    return [read for read in reads_of(reduction) if reduction.reduction[-1][0] in read.axes]


def _are_side_by_side(reads: Sequence[Read], axis: Axis) -> bool:
    """Whether elements that follow each other along an axis do so in memory."""
    return bool(reads) and all(read.step(axis[0]) == 1 for read in reads)


def in_one_piece(reduction: ComputeOp) -> tuple[Axis, ...]:
    """The last reduce axes along which elements follow each other as they do along the last one alone."""
    *others, last = reduction.reduction
    piece, length = (last,), size_of([last])
    reads = [read for read in reads_of(reduction) if {name for name, _ in reduction.reduction} & read.axes]
    single: list[Axis] = []
    for axis in reversed(others):
        if axis[1] == 1:
            single.insert(0, axis)
            continue
        if any(read.step(axis[0]) != read.step(last[0]) * length or not read.step(last[0]) for read in reads):
            break
        piece, length, single = (axis, *single, *piece), length * size_of([axis]), []
    return piece


def _long(compute: ComputeOp) -> list[str]:
    """The axes of a stage with more than one element."""
    return [name for name, extent in compute.spatial if extent != 1]


def _product(
    reduction: ComputeOp, row_axes: Sequence[str], count: int, copied: set[SSAValue], target: CpuTarget
) -> Product:
    """A copy is read of a matrix whose rows lie far apart, if there are tiles enough to read it.

    Not of one that is read in several ways: those in `copied`, to which what is copied is added, or by one product.
    """
    *around, row = row_axes
    reads = reads_of(reduction)
    plain = Product(reduction, choose_tile(reduction, reads, target, (row, count), around), None)
    rows, passes = size_of([axis for axis in reduction.spatial if axis[0] == row]), target.machine.work.panel_passes
    for at, op in enumerate(reduction.reads):
        if plain.tile is None or row in reads[at].axes or rows < passes * plain.tile.factors.get(row, 1):
            continue
        copy = blocked_copy(reduction, op, plain.tile.vector, target)
        is_read_once = sum(other.tensor == op.tensor for other in reduction.reads) == 1
        if copy is not None and is_read_once and op.tensor not in copied:
            tile = choose_tile(reduction, [*reads[:at], copy.read, *reads[at + 1 :]], target, (row, count), around)
            if tile is not None and tile.aligned and tile.vector == plain.tile.vector:
                copied.add(op.tensor)
                return Product(reduction, tile, copy)
    return plain


def _rows_of_stages(stages: Sequence[ComputeOp], summary: ComputeOp) -> dict[ComputeOp, tuple[str, ...]] | None:
    """The axes of each stage that correspond to a summary's, where there are all of them.

    None where a stage reads another's results for other rows than its own.
    """
    rows = {summary: tuple(_long(summary)) or (summary.spatial[0][0],)}
    reads = [(made, reader, _same_axes(made, reader, read)) for made in stages for reader, read in readers_of(made)]
    found = True
    while found:
        found = False
        for made, reader, same in reads:
            if made in rows and reader not in rows and same.keys() >= {*rows[made]}:
                rows[reader], found = tuple(same[n] for n in rows[made]), True
            back = {theirs: own for own, theirs in same.items()}
            if reader in rows and made not in rows and back.keys() >= {*rows[reader]}:
                rows[made], found = tuple(back[n] for n in rows[reader]), True
    for made, reader, same in reads:
        if made in rows and (reader not in rows or rows[reader] != tuple(same.get(n) for n in rows[made])):
            return None
    return rows


def _same_axes(made: ComputeOp, reader: ComputeOp, read: ReadOp) -> dict[str, str]:
    """The axes of a stage that are read at an axis of as many elements, and that one."""
    names = {(var(n), extent): n for n, extent in reader.spatial}
    pairs = zip(made.spatial, read.exprs, strict=True)
    return {own: names[e, extent] for (own, extent), e in pairs if (e, extent) in names}


def _block_of(inside: Sequence[ComputeOp], summary: ComputeOp, row: str, plenty: bool, target: CpuTarget) -> int:
    """How many rows at a time: whole vectors of them if they stay near, or `plenty`; 0 where not even one does.

    As many as do, but for all cores to have some, and rather so many that the last block has as many. Of an unknown
    number of rows one vector.
    """
    count, rows = size_of([axis for axis in summary.spatial if axis[0] == row]), size_of(summary.spatial)
    stored = sum(_bytes(c) for c in inside if not _is_in_place(c, inside))
    each = max(stored // rows, 1)
    lanes = target.lanes(bits_of(summary.result.type))
    buffers, work = target.machine.buffers, target.machine.work
    fitting = max((buffers.rows if plenty else target.cache_bytes[0]) // each, 1)
    stack = buffers.largest_rows // max(_at_once(inside) // rows, 1)
    wanted = max(lanes, rows // target.cores) if count < LARGE else lanes
    most = min(fitting, stack, work.block_rows, count, wanted)
    unit = lanes if most >= lanes else 1

    def cost(block: int) -> float:
        blocks = -(-count // block)
        return blocks * block / count + (blocks * block > count) * work.ragged_rows + 1 / block

    counts = list(range(unit, most + 1, unit))
    if most == count:
        counts.append(count)
    return min(counts, key=cost, default=0)


def _at_once(inside: Sequence[ComputeOp]) -> int:
    """The most bytes of stages that are there at a time: each from when it is computed to when it is last read."""
    place = {compute: at for at, compute in enumerate(inside)}
    last = {c: max((place.get(reader, len(inside)) for reader, _ in readers_of(c)), default=0) for c in inside}
    return max(sum(_bytes(c) for c in inside[: at + 1] if max(last[c], place[c]) >= at) for at in range(len(inside)))


def _bytes(compute: ComputeOp) -> int:
    """The bytes of a stage's results."""
    return size_of(compute.spatial) * bits_of(compute.result.type) // 8


def _is_in_place(compute: ComputeOp, inside: Sequence[ComputeOp]) -> bool:
    """Whether a stage takes the storage of one that it reads."""
    size = size_of(compute.spatial)
    return not compute.reduction and any(
        size_of(c.spatial) >= size for c in inside for reader, _ in readers_of(c) if reader is compute
    )
