"""The reducers of te as operations: what joins two values, and from what a reduction starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from tilework.dialects import arith


def combine(kind: str, a: SSAValue, b: SSAValue) -> Operation:
    """The operation that joins two values of a reduction."""
    table: dict[str, tuple[Callable[[SSAValue, SSAValue], Operation], Callable[[SSAValue, SSAValue], Operation]]] = {
        "add": (arith.AddfOp, arith.AddiOp),
        "mul": (arith.MulfOp, arith.MuliOp),
        "max": (arith.MaximumfOp, arith.MaxSIOp),
        "min": (arith.MinimumfOp, arith.MinSIOp),
    }
    on_floats, on_integers = table[kind]
    return on_integers(a, b) if isinstance(a.type, IntegerType) else on_floats(a, b)


def identity(kind: str, type_: Attribute) -> IntegerAttr[IntegerType] | FloatAttr[AnyFloat]:
    """The value that leaves every other unchanged when combined."""
    if isinstance(type_, IntegerType):
        integer = cast(IntegerType, type_)
        half = 1 << (integer.width.data - 1)
        return IntegerAttr({"add": 0, "mul": 1, "max": -half, "min": half - 1}[kind], integer)
    value = {"add": 0.0, "mul": 1.0, "max": float("-inf"), "min": float("inf")}[kind]
    return FloatAttr(value, cast(AnyFloat, type_))
