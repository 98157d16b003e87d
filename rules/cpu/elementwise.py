"""How stages that sum nothing run: in vectors along the last axis."""

from __future__ import annotations

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, ceildiv, const, product, var
from tilework.analysis.sizes import bits_of, count_of, size_of
from tilework.dialects.loop.transpose import LANES
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.support.shapes import dims_of, is_narrow
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.common.axes import Axes, axes_of
from tilework.rules.cpu.axis_splits import axis_splits
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.rules.cpu.reads import Read, reads_of
from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget

FEW = 4
"""Elements of a row that are no vector: LLVM makes vectors of several rows, and puts these next to each other."""


def schedule_elementwise(
    s: ScheduleBuilder, stage: StageHandle, compute: ComputeOp, target: CpuTarget, loop: SSAValue | None
) -> None:
    """Vectorize along the last axis longer than one, fused with those before it where reads follow or ignore them.

    In parallel, unless it is computed in a loop of its consumer.
    """
    axes = list(stage.axes.values())
    extents = [e for _, e in compute.spatial]
    count = _side_by_side(compute)
    is_fused = count == len(axes) or (count > 1 and loop is None and product(extents[-count:]).is_constant)
    if is_fused:
        axes, extents = [*axes[:-count], s.fuse(axes[-count:])], [*extents[:-count], product(extents[-count:])]
    if len(axes) > 1:
        last = max((i for i, e in enumerate(extents) if count_of(e) > 1), default=len(extents) - 1)
        axes, extents = axes[: last + 1], extents[: last + 1]
        row = None if is_fused else _row_of_lanes(compute, last)
        if loop is None:
            axes, extents = _for_each_core(s, compute, axes, extents, target)
        if row is not None:
            axes, extents = _line_by_line(s, axes, extents, row - last - 1, _line(compute))
    lanes, chains = target.lanes(bits_of(compute.results[0].type)), target.machine.core.chains
    work = [axes_of(compute)] if len(axes) == 1 else shared_work(compute, compute)  # whole vectors are whole bytes
    last_extent = extents[-1]
    is_open = not last_extent.is_constant
    if is_open or len(axes) == 1 or (is_fused and count_of(extents[-1]) > lanes * chains):
        width, tail = (lanes, Tail.MASK) if is_open else (lanes * chains, Tail.PARTITION)
        outer, vector = s.split(axes[-1], width, tail)
        axes, extents = [*axes[:-1], outer], [*extents[:-1], ceildiv(extents[-1], width)]
    else:
        vector = axes[-1]
        axes, extents = axes[:-1], extents[:-1]
    if is_open or is_fused or count_of(last_extent) > FEW:
        s.vectorize(vector)
    around = list(zip(axes, extents, strict=True))
    if is_open and len(around) > 1:
        around.pop()  # a masked axis must stay next to the one that it was split from
    if loop is None:
        parallel_prefix(s, around, work, target)
    else:
        s.compute_at(stage, loop, "local")


def _side_by_side(compute: ComputeOp) -> int:
    """How many of the last axes every read follows through all of a tensor without gaps, or ignores."""
    own, dims = tuple(var(n) for n, _ in compute.spatial), tuple(e for _, e in compute.spatial)

    def suits(read: Read, tensor: SSAValue, count: int) -> bool:
        first = len(own) - count
        follows = (read.indices[-count:], read.dims[-count:]) == (own[first:], dims[first:])
        return follows and count <= _without_gaps(tensor) or read.axes.isdisjoint(n for n, _ in compute.spatial[first:])

    reads = [(read, op.tensor) for read, op in zip(reads_of(compute), compute.reads, strict=True)]
    counts = range(1, min(len(own), *map(_without_gaps, compute.results)) + 1)
    return max((n for n in counts if all(suits(*read, n) for read in reads)), default=0)


def _without_gaps(tensor: SSAValue) -> int:
    """How many of a tensor's last axes lie in memory side by side."""
    dims = dims_of(tensor.type)
    kernel = tensor.owner.parent_op()
    assert isinstance(kernel, KernelOp)
    layout = kernel.layout_of(tensor)
    if layout is None:
        return len(dims)
    strides, count = [const(s.data) if isinstance(s, IntAttr) else None for s in layout.strides], 0
    while count < len(dims) and (dims[-1 - count] == 1 or strides[-1 - count] == product(dims[len(dims) - count :])):
        count += 1
    return count


def _row_of_lanes(compute: ComputeOp, last: int) -> int | None:
    """The axis along which elements lie side by side that are far apart along the last, which becomes lanes."""
    (lane, extent), width = compute.spatial[last], _line(compute)
    if width not in LANES or (extent.constant or 0) < width:
        return None
    for read in reads_of(compute):
        if read.is_apart(lane, width, 0):
            rows = [at for at, (n, e) in enumerate(compute.spatial[:last]) if read.step(n) == 1 and e.constant]
            return next((at for at in rows if size_of(compute.spatial[at : at + 1]) >= width), None)
    return None


def _line_by_line(
    s: ScheduleBuilder, axes: list[SSAValue], extents: list[Expr], row: int, width: int
) -> tuple[list[SSAValue], list[Expr]]:
    """The last axis cut into so many lanes at a time, and next to these the axis that is number `row` from the end.

    What its iterations load is transposed then.
    """
    outer, lane = s.split(axes[-1], width, Tail.PARTITION)
    others = [at for at in range(-len(axes), -1) if at != row]
    ordered = [*(axes[at] for at in others), outer, axes[row], lane]
    s.reorder(ordered)
    return ordered, [*(extents[at] for at in others), ceildiv(extents[-1], width), extents[row], const(width)]


def _line(compute: ComputeOp) -> int:
    """How many results fill a line of a cache."""
    return LINE_BYTES * 8 // bits_of(compute.results[0].type)


def _for_each_core(
    s: ScheduleBuilder, compute: ComputeOp, axes: list[SSAValue], extents: list[Expr], target: CpuTarget
) -> tuple[list[SSAValue], list[Expr]]:
    """The axes, and one in front of them for the piece of each core, unless that is of the first of them."""
    pieces = axis_splits(compute, compute.spatial[: len(axes) - 1], None, None, target)
    if not pieces:
        return axes, extents
    [piece] = pieces
    axes, extents = list(axes), list(extents)
    at = [name for name, _ in compute.spatial].index(piece.axis)
    extents[at] //= piece.count
    core, axes[at] = s.split(axes[at], count_of(extents[at]))
    first = next(i for i, extent in enumerate(extents) if extent != 1)
    axes.insert(first, core)
    extents.insert(first, const(piece.count))
    s.reorder(axes)
    return axes, extents


def shared_work(compute: ComputeOp, final: ComputeOp) -> list[Axes]:
    """What threads could share: nothing where they might write 4-bit integers of one byte."""
    return [] if any(is_narrow(result.type) for result in final.results) else [axes_of(compute)]
