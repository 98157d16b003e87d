"""Copies of scalar bodies, at other indices and on other tensors."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.algebra.index_expr import Expr, Key, var
from tilework.dialects.te.scalars import IfThenElseOp, IndexOp, ReadOp, YieldOp
from tilework.dialects.te.structure import ComputeOp


def clone_scalars(
    block: Block, values: Mapping[Key, Expr], mapped: dict[SSAValue, SSAValue]
) -> tuple[list[Operation], SSAValue]:
    """The operations of a scalar body at other indices, and the value that it yields."""
    cloned = _cloned(block, values, mapped)
    last = cloned.pop()
    assert isinstance(last, YieldOp)
    return cloned, last.values[0]


def clone_body(
    compute: ComputeOp, values: Mapping[Key, Expr], tensors: Mapping[SSAValue, SSAValue] | None = None
) -> Region:
    """The whole body of a compute, where the names in its indices have these values.

    tensors: what is read in the place of some tensors.
    """
    return Region(Block(_cloned(compute.body.block, values, dict(tensors or {}))))


def _cloned(block: Block, values: Mapping[Key, Expr], mapped: dict[SSAValue, SSAValue]) -> list[Operation]:
    cloned: list[Operation] = []
    for op in block.ops:
        copy = _clone_scalar(op, values, mapped)
        copy.location = op.location
        for old, new in zip(op.results, copy.results, strict=True):
            new.name_hint = old.name_hint
            mapped[old] = new
        cloned.append(copy)
    return cloned


def _clone_scalar(op: Operation, values: Mapping[Key, Expr], mapped: dict[SSAValue, SSAValue]) -> Operation:
    if not isinstance(op, ReadOp | IndexOp | IfThenElseOp):
        return op.clone(mapped)
    data: dict[Key, Expr] = {v: var(mapped[v]) for v in op.index_operands}
    here = {**values, **data}
    match op:
        case ReadOp():
            return ReadOp(mapped.get(op.tensor, op.tensor), [e.substitute(here) for e in op.exprs])
        case IndexOp():
            return IndexOp(op.value.substitute(here))
        case IfThenElseOp():
            regions = [Region(Block(_cloned(r.block, values, dict(mapped)))) for r in (op.then_body, op.else_body)]
            return IfThenElseOp([p.substitute(here) for p in op.conditions], op.result.type, *regions)
