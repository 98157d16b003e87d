"""What a model of symbolic sizes needs of them, beyond the shapes of its inputs: that windows fit, that sizes exist."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr
from tilework.algebra.predicate import at_least
from tilework.analysis.parameters import PREPARE
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.pooling import AveragePoolOp, MaxPoolOp
from tilework.dialects.shapes import dims_of

_WINDOWS = (ConvOp, MaxPoolOp, AveragePoolOp)


def required_extents(module: ModuleOp) -> dict[Expr, str]:
    """Expressions over symbols that must be at least 0, as not all sizes make them, and what it is about otherwise.

    A window fits at least once; no tensor has a negative size.
    """
    found: dict[Expr, str] = {}
    for function in module.ops:
        if not isinstance(function, FuncOp) or function.sym_name.data == PREPARE:
            continue
        for op in function.walk():
            if isinstance(op, GraphOp):
                _require(op, found)
    return found


def _require(op: GraphOp, found: dict[Expr, str]) -> None:
    least = 1 if isinstance(op, _WINDOWS) else 0
    for result in op.results:
        for axis, dim in enumerate(dims_of(result.type)):
            needed = dim - least if axis > 1 else dim
            domain = Domain({key: (0, None) for key in dim.variables()})
            if not dim.is_constant and domain.proves(at_least(needed, 0)) is not True:
                reason = "the window does not fit into the image" if least and axis > 1 else "the input is too small"
                found.setdefault(needed, f"dimension {axis} of the result of {op.label} would be {dim}: {reason}")
