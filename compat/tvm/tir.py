"""What programs of te use of TVM's `tir`: values and indices are those of te."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilework import te
from tilework.te import (
    power,
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
