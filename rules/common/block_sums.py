"""Long sums in blocks: a number that is added to a large sum loses its last digits.

The error of a running sum grows with the number of its terms. Where blocks of terms are summed by themselves, and then
the sums of blocks, it grows with the lengths of either. There are blocks of blocks where there are many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import AnyFloat, StringAttr
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp, ReduceOp

BLOCKS = 32
"""How many blocks are summed one by one, at most, where they can be put into blocks of their own."""

MOST_TERMS = 1 << 17
"""Longer sums, and those of unknown length, have blocks for so many: a loop over empty blocks takes time, too."""

Ordered = TypeVar("Ordered")


def block_lengths(compute: ComputeOp, count: int, length: int) -> Sequence[int]:
    """In blocks of which lengths a stage had better sum `count` terms: those of all levels of blocks, longest first.

    length: of the innermost blocks. None where there are few terms, and where the stage does not add up floats.
    """
    return _lengths(min(count, MOST_TERMS), length) if adds_floats(compute) else []


def _lengths(count: int, length: int) -> Sequence[int]:
    return [] if count <= 2 * length else [*_lengths(count, length * BLOCKS), length]


def adds_floats(compute: ComputeOp) -> bool:
    """Whether a stage is a sum of floating-point numbers."""
    match compute.terminator:
        case ReduceOp(kind=StringAttr(data="add"), values=[value]):
            return isa(value.type, AnyFloat)
        case _:
            return False


def sum_in_blocks(
    s: ScheduleBuilder,
    stage: StageHandle,
    summed: Sequence[str],
    cut: str,
    lengths: Sequence[int],
    around: SSAValue,
    scope: str,
    order: Callable[[StageHandle, Sequence[SSAValue]], Ordered],
) -> Ordered:
    """Compute a stage in a loop of its consumer, block by block along the axis `cut` of those that it sums along.

    lengths: as `block_lengths` gives them. scope: where the results of the innermost blocks are. order: puts the loops
    of a stage in order, given the axes that it sums along by then; what it returns for the innermost stage is returned.
    """
    name = cut
    for length in lengths:
        blocks, _ = s.split(stage.axes[name], length)
        inner = [f"{name}.inner" if n == name else n for n in stage.axes]
        parts, left = s.rfactor(stage, blocks, [f"{name}.outer", *inner])
        s.compute_at(stage, around, "local")
        order(stage, [left])
        stage, around, name = parts, left, f"{name}.inner"
    s.compute_at(stage, around, scope)
    return order(stage, [stage.axes[name if n == cut else n] for n in summed])
