"""Which loops run on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from tilework.dialects.schedule_builder import ScheduleBuilder
from tilework.rules.cpu.reads import LARGE
from tilework.targets.target import Target

PARALLEL_WORK = 1 << 15
"""Scalar operations below which starting threads costs more than it gains."""

TASKS_PER_CORE = 4
"""Parallel iterations for each core, so that an uneven end costs little."""


def parallel_prefix(
    s: ScheduleBuilder, outer: Sequence[tuple[SSAValue, int]], work: int, target: Target, least: int = 0
) -> list[SSAValue]:
    """Fuse as many of the outermost loops as it takes to feed the cores and run them in parallel; the loops left.

    Leading axes of one element stay apart: of a fused axis, their part is a quotient of sizes, perhaps symbolic. One
    whose extent is a symbol may have a single element; behind others, its part of a fused axis has no simple bounds, so
    that it is fused only with known ones that are too few, and not with another such axis. Where extents are unknown,
    the loop says from how many iterations on it is worth a second thread.

    least: what an iteration does at least; without it, what is left of the work for one element along each axis of
    unknown extent.
    """
    axes = [a for a, _ in outer]
    first = next((i for i, (_, count) in enumerate(outer) if count != 1), len(outer))
    if first == len(outer) or work < PARALLEL_WORK:
        return axes
    taken, tasks = first, 1
    while taken < len(outer) and tasks < TASKS_PER_CORE * target.cores:
        count = outer[taken][1]
        before = [n for _, n in outer[first:taken]]
        if count >= LARGE and before and (tasks >= target.cores or max(before) >= LARGE):
            break
        tasks *= 1 if count >= LARGE else count
        taken += 1
    fused = s.fuse(axes[first:taken])
    s.parallel(fused)
    each = least or _of_one_element(work // prod(count for _, count in outer[first:taken]))
    if work >= LARGE and each < PARALLEL_WORK:
        s.pragma(fused, "parallel_least_extent", -(-PARALLEL_WORK // max(each, 1)))
    return [*axes[:first], fused, *axes[taken:]]


def _of_one_element(work: int) -> int:
    """What is left of work that counts LARGE for each axis of unknown extent."""
    while work >= LARGE:
        work //= LARGE
    return work
