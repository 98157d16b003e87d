"""Which loops run on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr
from tilework.analysis.sizes import count_of, size_for
from tilework.dialects.loop import PARALLEL_WORK
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.rules.common.axes import Axes, work_of
from tilework.targets.cpu.target import CpuTarget

Loop: TypeAlias = tuple[SSAValue, Expr]
"""A loop and its extent."""


def parallel_prefix(
    s: ScheduleBuilder, outer: Sequence[Loop], work: Sequence[Axes], target: CpuTarget
) -> list[SSAValue]:
    """Fuse as many of the outermost loops as it takes to feed the cores and run them in parallel; the loops left.

    Leading axes of one element stay apart: of a fused axis, their part is a quotient of sizes, perhaps symbolic. One
    whose extent is a symbol may have a single element; behind others, its part of a fused axis has no simple bounds, so
    that it is fused only with known ones that are too few, and not with another such axis. Where it is not known to be
    worth a second thread, the loop says from how much work on it is.

    work: the axes of the stages that do it.
    """
    loops = [a for a, _ in outer]
    first = next((i for i, (_, extent) in enumerate(outer) if extent != 1), len(outer))
    if first == len(outer) or work_of(work) < PARALLEL_WORK:
        return loops
    taken, tasks = first, 1
    while taken < len(outer) and tasks < target.machine.work.tasks_per_core * target.cores:
        is_open = not outer[taken][1].is_constant
        before = [extent for _, extent in outer[first:taken]]
        if is_open and before and (tasks >= target.cores or not all(extent.is_constant for extent in before)):
            break
        tasks *= 1 if is_open else count_of(outer[taken][1])
        taken += 1
    fused = s.fuse(loops[first:taken])
    run_in_parallel(s, fused, work)
    return [*loops[:first], fused, *loops[taken:]]


def run_in_parallel(s: ScheduleBuilder, loop: SSAValue, work: Sequence[Axes]) -> None:
    """On several threads, where that work may be worth it; where it may be too little, the loop asks when it runs."""
    if work_of(work) < PARALLEL_WORK:
        return
    s.parallel(loop)
    if sum(size_for(axes, 1) for axes in work) < PARALLEL_WORK:
        s.pragma(loop, "parallel_least_work", PARALLEL_WORK)
