"""The reducers of te as operations: what joins two values, and from what a reduction starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from tilework.dialects import arith
from tilework.dialects.te.reduce import Number, ReduceOp
from tilework.dialects.te.scalars import YieldOp

_ON_FLOATS: dict[str, type[Operation]] = {
    "add": arith.AddfOp,
    "mul": arith.MulfOp,
    "max": arith.MaximumfOp,
    "min": arith.MinimumfOp,
}
_ON_INTEGERS: dict[str, type[Operation]] = {
    "add": arith.AddiOp,
    "mul": arith.MuliOp,
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
    "maxui": arith.MaxUIOp,
    "minui": arith.MinUIOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
}


def identities(op: ReduceOp) -> Sequence[Number]:
    """The values that leave every other unchanged when joined."""
    return op.numbers if op.kind is None else [identity(op.kind.data, op.values[0].type)]


def identity(kind: str, type_: Attribute) -> Number:
    """The identity of a named reducer."""
    if not isinstance(type_, IntegerType):
        value = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}[kind]
        return FloatAttr(value, cast(AnyFloat, type_))
    integer = cast(IntegerType, type_)
    half = 1 << (integer.width.data - 1)
    neutral = {"add": 0, "mul": 1, "max": -half, "min": half - 1, "maxui": 0, "minui": -1, "or": 0, "and": 1}[kind]
    if integer.width.data == 1:
        neutral = abs(neutral)  # the largest i1 is written 1
    return IntegerAttr(neutral, integer)


def joined(op: ReduceOp, a: Sequence[SSAValue], b: Sequence[SSAValue]) -> tuple[list[Operation], list[SSAValue]]:
    """The operations that join the values so far with those that come in, and their results."""
    if op.kind is None:
        return _own(op, [*a, *b])
    type_ = joining_op(op)
    join = arith.AddfOp(a[0], b[0], arith.CONTRACT) if type_ is arith.AddfOp else cast(Any, type_)(a[0], b[0])
    return [join], [join.results[0]]


def joining_op(op: ReduceOp) -> type[Operation]:
    """The operation that a reducer with a name is."""
    assert op.kind is not None
    return (_ON_INTEGERS if isinstance(op.values[0].type, IntegerType) else _ON_FLOATS)[op.kind.data]


def _own(op: ReduceOp, arguments: Sequence[SSAValue]) -> tuple[list[Operation], list[SSAValue]]:
    mapped: dict[SSAValue, SSAValue] = dict(zip(op.combiner.block.args, arguments, strict=True))
    ops: list[Operation] = []
    for inner in op.combiner.block.ops:
        if isinstance(inner, YieldOp):
            return ops, [mapped[v] for v in inner.values]
        ops.append(inner.clone(mapped))
    raise AssertionError("a reducer ends in te.yield")


def zero(type_: Attribute) -> IntegerAttr[IntegerType] | FloatAttr[AnyFloat]:
    """The number 0 of that type."""
    if isinstance(type_, IntegerType):
        return IntegerAttr(0, cast(IntegerType, type_))
    return FloatAttr(0.0, cast(AnyFloat, type_))
