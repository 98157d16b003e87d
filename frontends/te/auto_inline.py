"""TVM's helpers that inline what costs nothing to compute again: `te.AutoInlineElemWise(s)`."""

# The functions have TVM's names.
# ruff: noqa: N802

from __future__ import annotations

from collections.abc import Callable

from tilework.algebra.index_expr import var
from tilework.frontends.te.schedule import Schedule, check_schedule
from tilework.frontends.te.tensor import ComputeOp, elements_read


def AutoInlineElemWise(sch: Schedule) -> None:
    """Inline every stage whose elements are made of elements at their own indices.

    Outputs are left, and what a scan or an extern takes whole, and what is scheduled already.
    """
    _inline_where(sch, _is_elementwise)


def AutoInlineBroadcast(sch: Schedule) -> None:
    """Inline every stage whose elements are made of elements at some of their own indices, in order, and at 0.

    So are those of tag "broadcast"; those are left that `AutoInlineElemWise` leaves too.
    """
    _inline_where(sch, lambda op: op.tag == "broadcast" or _is_broadcast(op))


def AutoInlineInjective(sch: Schedule) -> None:
    """Inline every stage that is no reduction, but for those that `AutoInlineElemWise` leaves too."""
    _inline_where(sch, lambda op: True)


def _inline_where(sch: Schedule, wanted: Callable[[ComputeOp], bool]) -> None:
    check_schedule(sch)
    whole = {tensor.op for op in sch.operations if not isinstance(op, ComputeOp) for tensor in op.input_tensors}
    for stage in sch.stages:
        op = stage.op
        if stage.is_output or not isinstance(op, ComputeOp) or op.reduce_axis or op.num_outputs > 1 or op in whole:
            continue
        if stage.is_scheduled:
            continue
        if wanted(op):
            stage.compute_inline()


def _is_broadcast(op: ComputeOp) -> bool:
    places = {var(axis.key): place for place, axis in enumerate(op.axis)}
    for read in elements_read(op.body):
        own = [places.get(index, -1) for index in read.indices if index.constant != 0]
        if -1 in own or own != sorted(own):
            return False
    return True


def _is_elementwise(op: ComputeOp) -> bool:
    own = tuple(var(axis.key) for axis in op.axis)
    return all(read.indices == own for read in elements_read(op.body))
