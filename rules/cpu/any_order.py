"""Reductions of integers, whose result is the same in every order.

LLVM makes vectors of the innermost loop of such a sum by itself: it adds up lanes with shuffles, joins products of
bytes in pairs, and takes what is left of a row by smaller vectors. So nothing is asked where elements follow each other
along that loop, and the loop is the only one along which they do.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType

from tilework.analysis.sizes import bits_of, count_of
from tilework.dialects import arith
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.support import bits, words
from tilework.dialects.support.shapes import element_type
from tilework.dialects.te import CallIntrinsicOp, ComputeOp, ReduceOp
from tilework.rules.cpu.elementwise import shared_work
from tilework.rules.cpu.parallel import parallel_prefix
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import Tile
from tilework.targets.cpu.target import CpuTarget

FEW = 6
"""Elements of a row that LLVM writes out before it makes vectors of the loop around."""

_JOINS = (
    *(arith.AddiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp),
    *(arith.MaxSIOp, arith.MinSIOp, arith.MaxUIOp, arith.MinUIOp),
)


def is_any_order(compute: ComputeOp, target: CpuTarget) -> bool:
    """Whether LLVM makes vectors of a reduction's innermost loop."""
    last = compute.terminator
    if not compute.reduction or not isinstance(last, ReduceOp) or not _is_known(last):
        return False
    if not all(isinstance(element_type(result.type), IntegerType) for result in compute.results):
        return False
    if _multiplies_words(compute):
        return False
    name, extent = compute.reduction[-1]
    steps = {read.step(name) for read in reads_of(compute)}
    least = dict(target.machine.work.integers_in_row)[bits_of(compute.results[0].type)]
    return 1 in steps and steps <= {0, 1} and count_of(extent) >= least


def _multiplies_words(compute: ComputeOp) -> bool:
    """Whether a sum is of what LLVM makes no vectors of."""
    return any(isinstance(op, CallIntrinsicOp) and op.intrinsic in (bits.DOT, words.DOT) for op in compute.walk())


def _is_known(reduce: ReduceOp) -> bool:
    """Whether each of the values is joined by one operation of its own."""
    if reduce.kind is not None:
        return True
    block = reduce.combiner.block
    assert block.last_op is not None
    joined = zip(block.args, block.last_op.operands, strict=False)  # which are half as many
    return all(isinstance(v.owner, _JOINS) and a in v.owner.operands and a.has_one_use() for a, v in joined)


def is_row(compute: ComputeOp, tile: Tile | None, target: CpuTarget) -> bool:
    """The same of a reduction that no tile suits: along its lanes elements lie far apart.

    And of rows of a few elements one behind the other, of any type: they become lanes of several rows.
    """
    if tile is None:
        return is_any_order(compute, target)
    apart = any(abs(read.step(tile.vector)) > 1 for read in reads_of(compute))
    return apart and (is_any_order(compute, target) or _are_few(compute, tile))


def _are_few(compute: ComputeOp, tile: Tile) -> bool:
    if len(compute.results) > 1 or len(compute.reduction) > 1 or _multiplies_words(compute):
        return False
    [(name, extent)] = compute.reduction
    steps = {(read.step(name), read.step(tile.vector)) for read in reads_of(compute)}
    return count_of(extent) <= FEW and steps <= {(0, 0), (1, count_of(extent)), (1, 0)}


def schedule_rows(
    s: ScheduleBuilder,
    final: StageHandle,
    inside: StageHandle,
    reduction: ComputeOp,
    compute: ComputeOp,
    target: CpuTarget,
) -> None:
    """Run the loops around the sums on all cores, and leave these as they are; `final` is computed from `inside`."""
    axes = list(final.axes.values())[: len(compute.spatial)]
    around = [(axis, extent) for axis, (_, extent) in zip(axes, compute.spatial, strict=True)]
    left = parallel_prefix(s, around, shared_work(reduction, compute), target)
    if inside is not final:
        s.compute_at(inside, left[-1], "local")
