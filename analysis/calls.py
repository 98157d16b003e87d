"""Which functions call which."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.func import CallOp, FuncOp

from tilework.dialects.loop import InvokeOp


def called_by(function: FuncOp) -> list[str]:
    """The names of the functions that a function calls, one for each call."""
    calls = [op for op in function.walk() if isinstance(op, CallOp | InvokeOp)]
    return [call.callee.root_reference.data for call in calls]


def reachable(name: str, functions: Mapping[str, FuncOp]) -> list[str]:
    """The functions that a function calls, by way of others too, in the order in which they are found."""
    found: dict[str, None] = {}
    pending = [name]
    while pending:
        for callee in called_by(functions[pending.pop()]):
            if callee in functions and callee not in found:
                found[callee] = None
                pending.append(callee)
    return list(found)


def is_recursive(name: str, functions: Mapping[str, FuncOp]) -> bool:
    """Whether a function calls itself, by way of others too."""
    return name in reachable(name, functions)
