"""What a model of symbolic sizes needs of them besides the shapes of its inputs: that every window fits."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr
from tilework.algebra.predicate import at_least
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.pooling import AveragePoolOp, MaxPoolOp
from tilework.dialects.shapes import dims_of


def windows_that_must_fit(module: ModuleOp) -> dict[Expr, str]:
    """Expressions over symbols that are at least 0 where the windows of all operators fit, and what to say otherwise.

    Where sizes are constants the operators' verifiers tell; other operators make no size negative that was not.
    """
    found: dict[Expr, str] = {}
    for op in module.walk():
        if not isinstance(op, ConvOp | MaxPoolOp | AveragePoolOp):
            continue
        for axis, dim in list(enumerate(dims_of(op.result.type)))[2:]:
            domain = Domain({key: (0, None) for key in dim.variables()})
            if domain.proves(at_least(dim, 1)) is not True:
                what = f"dimension {axis} of the result of {op.label} would be {dim}"
                found.setdefault(dim - 1, f"{what}: the window does not fit into the image")
    return found
