"""What programs of te use of TVM's `tir`: values and indices are those of te."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilework import te
from tilework.te import (
    Buffer,
    IntImm,
    IterVar,
    Select,
    Var,
    abs,  # noqa: A004  TVM's names
    acos,
    acosh,
    all,  # noqa: A004
    any,  # noqa: A004
    asin,
    asinh,
    atan,
    atanh,
    ceil,
    clz,
    comm_reducer,
    const,
    copysign,
    cos,
    cosh,
    decl_buffer,
    div,
    erf,
    exp,
    exp2,
    exp10,
    floor,
    floordiv,
    floormod,
    fmod,
    hypot,
    if_then_else,
    indexdiv,
    indexmod,
    ir_builder,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    max,  # noqa: A004
    max_value,
    min,  # noqa: A004
    min_value,
    nearbyint,
    popcount,
    power,
    prod,
    round,  # noqa: A004
    rsqrt,
    sigmoid,
    sin,
    sinh,
    sqrt,
    sum,  # noqa: A004
    tan,
    tanh,
    trunc,
    truncdiv,
    truncmod,
    var,
)

PrimExpr = te.ScalarLike
"""The class of all values and indices."""

pow = power  # noqa: A001


def likely(cond: Any) -> Any:
    """The condition itself: which of two ways is taken more often nobody needs to say."""
    return cond


class stmt_functor:  # noqa: N801  a module of TVM
    """How TVM walks over statements."""

    @staticmethod
    def post_order_visit(stmt: Any, fvisit: Callable[[Any], Any]) -> None:
        """Call a function with every operation of loops, or every value inside a value, those before it that it needs."""
        module = getattr(stmt, "module", stmt)
        if isinstance(module, te.ScalarLike):
            for value in te.values_in(module):
                fvisit(value)
            return
        for op in module.walk(reverse=True):
            fvisit(op)
