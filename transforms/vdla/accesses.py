"""Which tiles of which buffers operations of units read and write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from xdsl.ir import SSAValue

from tilework.dialects.isa.vdla import AluOp, GemmOp, LoadOp, NopOp, ResetOp, StepsOp, StoreOp, TransferOp, VdlaOp
from tilework.dialects.loop.common import integers

Tiles: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"


class Touched(NamedTuple):
    """What an operation reads, then what it writes: buffers with numbers of tiles."""

    reads: list[tuple[SSAValue, Tiles]]
    writes: list[tuple[SSAValue, Tiles]]


def touched(op: VdlaOp, at: Sequence[int]) -> Touched:
    """What an operation touches whose subscripts have these values."""
    match op:
        case LoadOp():
            above, below, left, right = (0, 0, 0, 0) if op.pad is None else integers(op.pad)
            rows, columns = integers(op.size)
            count = (above + rows + below) * (left + columns + right)
            return Touched([(op.source, _in_dram(op, at[0]))], [(op.target, at[1] + np.arange(count))])
        case StoreOp():
            rows, columns = integers(op.size)
            return Touched([(op.source, at[0] + np.arange(rows * columns))], [(op.target, _in_dram(op, at[1]))])
        case ResetOp():
            return Touched([], [(op.acc, _steps(op, at)[0])])
        case GemmOp():
            acc, inp, wgt = _steps(op, at)
            return Touched([(op.acc, acc), (op.inp, inp), (op.wgt, wgt)], [(op.acc, acc)])
        case AluOp():
            acc, other = _steps(op, at if op.other is not None else (*at, 0))
            others = [] if op.other is None else [(op.other, other)]
            return Touched([(op.acc, acc), *others], [(op.acc, acc)])
        case _:
            assert isinstance(op, NopOp)
            return Touched([], [])


def _in_dram(op: TransferOp, start: int) -> Tiles:
    rows, columns = integers(op.size)
    return (start + np.arange(rows)[:, None] * op.stride.value.data + np.arange(columns)).ravel()


def _steps(op: StepsOp, at: Sequence[int]) -> list[Tiles]:
    """The tiles that each subscript reaches, each of them once."""
    once, single = (1, *[0] * op.SUBSCRIPTS), (0,) * op.SUBSCRIPTS
    outer, inner = (once if loop is None else integers(loop) for loop in (op.outer, op.inner))
    offsets = np.array(single if op.micro_ops is None else integers(op.micro_ops)).reshape(-1, op.SUBSCRIPTS)
    found: list[Tiles] = []
    for subscript, start in enumerate(at):
        loops = [np.arange(loop[0]) * loop[1 + subscript] for loop in (outer, inner)]
        reached = start + loops[0][:, None, None] + loops[1][:, None] + offsets[:, subscript]
        found.append(cast(Tiles, np.unique(reached)))
    return found
