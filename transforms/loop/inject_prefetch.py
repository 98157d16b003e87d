"""Ask for memory some iterations before it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FixedBitwidthType
from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr, Key, ceildiv, maximum, minimum, var
from tilework.algebra.intervals import Interval, interval
from tilework.analysis.accesses import memref_type, root_buffer
from tilework.dialects.locations import copy_location
from tilework.dialects.loop import ForOp, KernelOp, LoadOp, PrefetchOp
from tilework.dialects.loop.annotations import PREFETCH
from tilework.dialects.loop.common import integers
from tilework.transforms.base import TileworkPass

LINE = 64
"""Bytes of a cache line."""


@dataclass(frozen=True)
class InjectPrefetch(TileworkPass):
    """At the top of loops with `loop.prefetch`, ask for the lines that the loop will read so many iterations later.

    loop.for %i = 0 to 8 "i"                         loop.for %i = 0 to 8 "i" {
        attributes {loop.prefetch = [                  loop.for %l = 0 to 2 "prefetch" {
            array<i64: 0, 2>]} {                 ->      loop.prefetch %x[%i + 2, 16 * %l] : memref<8x32xf32>
      loop.for %j = 0 to 32 "j" {                      }
        loop.load %x[%i, %j] : memref<8x32xf32>        loop.for %j = 0 to 32 "j" {

    The region is the box around all that the loads of the argument read in one iteration, taken in lines along the last
    dimension. It may reach beyond the buffer, which does no harm. Loads at subscripts that are data are left out.
    Requires scalar loads (before `loop-vectorize`); leaves none of the requests.
    """

    name = "loop-inject-prefetch"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        for loop in [inner for inner in op.body.walk() if isinstance(inner, ForOp)]:
            requests = loop.attributes.pop(PREFETCH, None)
            if requests is None:
                continue
            for pair in cast("ArrayAttr[DenseArrayBase]", requests):
                argument, ahead = integers(pair)
                _inject(loop, op.body.block.args[argument], ahead)


def _inject(loop: ForOp, buffer: SSAValue, ahead: int) -> None:
    later: dict[Key, Expr] = {loop.index: var(loop.index) + ahead}
    boxes = [
        [_shifted(end, later) for end in _region(load, loop)]
        for load in loop.body.walk()
        if isinstance(load, LoadOp) and root_buffer(load.memref) is buffer and not _is_data(load, loop)
    ]
    first = loop.body.block.first_op
    if not boxes or first is None:
        return
    ends = [(minimum(*(b[d][0] for b in boxes)), maximum(*(b[d][1] for b in boxes))) for d in range(len(boxes[0]))]
    nest = _nest(buffer, ends)
    copy_location(nest, loop)
    loop.body.block.insert_op_before(nest, first)


def _is_data(load: LoadOp, loop: ForOp) -> bool:
    """Whether a subscript is computed inside the loop, so that nobody knows it earlier."""
    owners = [operand.owner for operand in load.index_operands]
    return any(isinstance(owner, Operation) and loop.is_ancestor(owner) for owner in owners)


def _shifted(ends: Interval, later: dict[Key, Expr]) -> Interval:
    return ends[0].substitute(later), ends[1].substitute(later)


def _region(load: LoadOp, loop: ForOp) -> list[Interval]:
    """What a load reads in one iteration of the loop."""
    inner: dict[Key, Interval] = {
        inside.index: (inside.lower, inside.upper - 1) for inside in _loops_between(load, loop)
    }
    return [interval(e, inner) for e in load.exprs]


def _loops_between(op: Operation, loop: ForOp) -> Iterator[ForOp]:
    parent = op.parent_op()
    while parent is not None and parent is not loop:
        if isinstance(parent, ForOp):
            yield parent
        parent = parent.parent_op()


def _nest(buffer: SSAValue, ends: Sequence[Interval]) -> Operation:
    """Loops over a box, by lines along the last dimension, and the prefetch inside."""
    element = memref_type(buffer.type).element_type
    assert isinstance(element, FixedBitwidthType)
    per_line = max(1, LINE // element.size)
    loops: list[ForOp] = []
    indices: list[Expr] = []
    for d, (low, high) in enumerate(ends):
        step = per_line if d == len(ends) - 1 else 1
        count = ceildiv(high - low + 1, step)
        if count == 1:
            indices.append(low)
            continue
        loop = ForOp(0, count, "prefetch")
        loops.append(loop)
        indices.append(low + var(loop.index) * step)
    op: Operation = PrefetchOp(buffer, indices)
    for loop in reversed(loops):
        loop.body.block.add_op(op)
        op = loop
    return op
