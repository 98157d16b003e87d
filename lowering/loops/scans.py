"""Where the tensors of a scan live: states, updates and results share their memory."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ScanOp
from tilework.lowering.loops.bodies import Bodies, Buffer

Box: TypeAlias = tuple[Expr, Expr]
"""Along one axis, where a region starts and how long it is."""


def share_memory(scan: ScanOp, buffers: dict[SSAValue, Buffer], here: Callable[[Expr], Expr]) -> None:
    """Let the steps of a scan write into the buffers of its results, from which they read earlier times."""
    for update, state, history in zip(scan.updates, scan.states, scan.histories, strict=True):
        buffers[update] = buffers[state] = buffers[history]
    for output, result in zip(scan.outputs, scan.results[len(scan.states) :], strict=True):
        rank = len(dims_of(output.type))
        origin = [here(scan.first), *[const(0)] * (rank - 1)]
        buffers[output] = Buffer(buffers[result].memrefs, origin, range(rank))


def scratch_of_step(scan: ScanOp, region: Sequence[Box]) -> list[Box]:
    """The part of a step's tensor that is kept: the region of one step, for all points of axes independent of time."""
    whole = [(const(0), extent) for _, extent in scan.around]
    return [region[0], *whole, *region[1 + len(whole) :]]


def copy_inits(scan: ScanOp, in_place: Container[SSAValue], bodies: Bodies, here: Callable[[Expr], Expr]) -> None:
    """Emit loops that copy the inits to where the histories begin, those apart that were stored there."""
    for init, history in zip(scan.inits, scan.histories, strict=True):
        if init in in_place:
            continue
        bodies.copy(init, history, [here(e) for e in dims_of(init.type)], "init")
