"""A program that calls functions of Python, as the kernels and the calls that it runs one after the other.

A stage is computed in the last kernel that may, so with what reads it; what a call needs is computed in front of it,
and kept for those behind, but for stages that are inlined: each kernel computes these for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tilework.frontends.te.extern import ExternOp
from tilework.frontends.te.tensor import Operation, StagedOp, Tensor


@dataclass(frozen=True, eq=False)
class KernelPiece:
    """Stages that are one kernel. reads: the tensors made before that it takes, makes: those that it leaves."""

    operations: tuple[StagedOp, ...]
    reads: tuple[Tensor, ...]
    makes: tuple[Tensor, ...]


Piece: TypeAlias = KernelPiece | ExternOp


def calls_in(operations: Sequence[Operation]) -> list[ExternOp]:
    """The externs that functions of Python fill."""
    return [op for op in operations if isinstance(op, ExternOp) and op.call is not None]


def split_at_calls(
    operations: Sequence[Operation], results: Sequence[Tensor], is_inlined: Callable[[StagedOp], bool]
) -> list[Piece]:
    """The kernels and calls of operations that stand in order, so that all results are there in the end."""
    staged = [op for op in operations if isinstance(op, StagedOp)]
    groups: list[list[StagedOp]] = []
    done: set[Operation] = set()
    for call in calls_in(operations):
        group = _needed(staged, call.input_tensors, done)
        groups += [group, list[StagedOp]([call])]
        done.update(op for op in (*group, call) if not is_inlined(op))
    groups.append(_needed(staged, results, done))
    pieces: list[Piece] = []
    for place, group in enumerate(groups):
        if calls := calls_in(group):
            pieces += calls
            continue
        later = {tensor for other in groups[place + 1 :] for op in other for tensor in op.input_tensors}
        own = [tensor for op in group for tensor in op.outputs]
        makes = [t for t in own if not is_inlined(t.op) and (t in later or t in results)]
        reads = [t for op in group for t in op.input_tensors if t not in own and isinstance(t.op, StagedOp)]
        if makes:
            pieces.append(KernelPiece(tuple(group), tuple(dict.fromkeys(reads)), tuple(makes)))
    return pieces


def _needed(staged: Sequence[StagedOp], tensors: Sequence[Tensor], done: Collection[Operation]) -> list[StagedOp]:
    """What has to be computed still for tensors, in order."""
    wanted = {tensor.op for tensor in tensors}
    found: list[StagedOp] = []
    for op in reversed(staged):
        if op in wanted and op not in done:
            found.append(op)
            wanted.update(tensor.op for tensor in op.input_tensors)
    return found[::-1]
