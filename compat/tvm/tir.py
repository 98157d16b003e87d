"""What programs of te use of TVM's `tir`: values, indices, functions and statements are those of te."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilework import te
from tilework.compat.tvm.refused import refused
from tilework.te import *  # noqa: F403

PrimExpr = te.ScalarLike
"""The class of all values and indices."""

pow = te.power  # noqa: A001
call_pure_extern = te.call_extern
call_llvm_intrin = refused(
    "tir.call_llvm_intrin", "te has the functions of math; a snippet of te.intrinsic says others"
)
call_llvm_pure_intrin = call_llvm_intrin
PrimFunc = refused("tir.PrimFunc", "TensorIR is not there; a te schedule is lowered by tvm.lower")


def likely(cond: Any) -> Any:
    """The condition itself: which of two ways is taken more often nobody needs to say."""
    return cond


class stmt_functor:  # noqa: N801  a module of TVM
    """How TVM walks over statements."""

    substitute = staticmethod(te.substitute)

    @staticmethod
    def post_order_visit(stmt: Any, fvisit: Callable[[Any], Any]) -> None:
        """Call a function with every operation of loops, or every value inside a value, inner ones first."""
        module = getattr(stmt, "module", stmt)
        if isinstance(module, te.ScalarLike):
            for value in te.values_in(module):
                fvisit(value)
            return
        for region in module.regions:
            for op in [op for block in region.blocks for op in block.ops]:
                stmt_functor.post_order_visit(op, fvisit)
        fvisit(module)
