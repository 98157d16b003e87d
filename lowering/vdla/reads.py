"""What a nest that copies reads, and where it writes zeros instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import loops_around
from tilework.analysis.loop_nest import LoopNest, NoNest
from tilework.dialects import arith
from tilework.dialects.loop import ForOp, IfOp, LoadOp, YieldOp

Range = tuple[int, int]


class Read(NamedTuple):
    """A load whose value is stored as it is. valid: iterations of loops in which that is so; in others zeros are."""

    load: LoadOp
    valid: dict[ForOp, Range]


def read_of(nest: LoopNest, known: Mapping[SSAValue, Expr]) -> Read | None:
    """What a nest copies; None where it computes what it stores. Raises NoNest for a condition that is no range."""
    source = nest.store.value.owner
    if isinstance(source, LoadOp):
        return Read(source, {})
    if not isinstance(source, IfOp) or len(source.outputs) != 1:
        return None
    load, other = _yielded(source, 0), _yielded(source, 1)
    if not isinstance(load, LoadOp) or not isinstance(other, arith.ConstantOp):
        return None
    if not isinstance(other.value, IntegerAttr) or other.value.value.data:
        raise NoNest(f"what is loaded is surrounded by zeros, not by {other.value}")
    valid: dict[ForOp, Range] = {}
    for predicate in source.conditions:
        here = predicate.substitute(known)
        if here.constant is not None:
            valid |= {} if here.constant else {nest.loops[0]: (0, 0)}
            continue
        found = valid_range(here, source, known)
        if found is None:
            raise NoNest(f"the condition {here} is not about one loop that copies")
        loop, (first, end) = found
        before = valid.get(loop, (first, end))
        valid[loop] = max(first, before[0]), min(end, before[1])
    trips = dict(zip(nest.loops, nest.trips, strict=True))
    for loop in [loop for loop, span in valid.items() if span == (0, trips.get(loop))]:
        del valid[loop]
    return Read(load, valid)


def _yielded(op: IfOp, region: int) -> Operation | None:
    last = op.regions[region].block.last_op
    owner = last.operands[0].owner if isinstance(last, YieldOp) else None
    return owner if isinstance(owner, Operation) else None


def valid_range(predicate: Predicate, op: IfOp, known: Mapping[SSAValue, Expr]) -> tuple[ForOp, Range] | None:
    """The loop around a condition that decides it, and the iterations in which it holds; None where there is none."""
    loops = [loop for loop in loops_around(op) if loop.index in predicate.expr.variables()]
    if len(loops) != 1 or predicate.kind != ">=" or not predicate.expr.is_affine_in(loops[0].index):
        return None
    loop = loops[0]
    lower, trip = (e.substitute(known).constant for e in (loop.lower, loop.extent))
    if lower is None or trip is None:
        return None
    values = (predicate.substitute({loop.index: lower + at}).constant for at in range(trip))
    holds = [at for at, value in enumerate(values) if value]
    return loop, (holds[0], holds[-1] + 1) if holds else (0, 0)
