"""Which symbols operators of a graph function bind, and which its inputs tell."""

from __future__ import annotations

from collections.abc import Mapping, Set

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tilework.algebra.index_expr import Expr, Key
from tilework.dialects.graph.iteration import WhileOp
from tilework.dialects.graph.size import SizeOp
from tilework.dialects.support.shapes import dims_of


def symbol_binders(function: FuncOp) -> Mapping[Key, SizeOp | WhileOp]:
    """The operators of a function, those in bodies too, that bind symbols, by these, in the order of the text."""
    found = [op for op in function.walk() if isinstance(op, SizeOp | WhileOp)]
    return {op.bound_symbol: op for op in found if op.bound_symbol is not None}


def is_unbounded(size: Expr, binders: Mapping[Key, SizeOp | WhileOp]) -> bool:
    """Whether nothing says how large a size is at most, which depends on these symbols and on inputs."""
    limits = [binders[key].most for key in size.variables() if key in binders]
    return any(limit is None or is_unbounded(limit, binders) for limit in limits)


def told_by_inputs(op: Operation) -> Set[Key]:
    """The symbols that the inputs of the function around an operation tell."""
    function = op
    while not isinstance(function, FuncOp):
        parent = function.parent_op()
        assert parent is not None, f"{op.name} is in no function"
        function = parent
    return {key for argument in function.args for d in dims_of(argument.type) for key in d.variables()}
