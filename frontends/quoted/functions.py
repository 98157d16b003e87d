"""Functions that quoted functions call: those of Python, math and numpy that are known, whatever they are called."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tilework.frontends.quoted.values import text_of

OF_NUMBERS: Mapping[str, Sequence[object]] = {
    "abs": (abs, math.fabs, np.abs, np.fabs),
    "sqrt": (math.sqrt, np.sqrt),
    "log": (math.log, np.log),
    "log1p": (math.log1p, np.log1p),
    "exp": (math.exp, np.exp),
    "floor": (math.floor, np.floor),
    "ceil": (math.ceil, np.ceil),
    "tanh": (math.tanh, np.tanh),
}
"""Functions of a number, by the names that they are known by."""
OF_TABLES: Mapping[str, Sequence[object]] = {
    "sum": (sum,), "min": (min,), "max": (max,), "len": (len,),
    "solve": (np.linalg.solve,), "eye": (np.eye,),
}  # fmt: skip
"""Functions of tables and of matrices, by the names that they are known by."""
ITS_OWN = ("cross_validate",)
"""Functions that only quoted functions have, by their names, whatever stands in for them where nobody reads them."""
IMPLIED = ("solve", "eye")
"""Functions that need no import."""


class Functions:
    """The functions that a quoted function calls; `more` are others than the above that are known, by their names."""

    def __init__(self, definition: ast.FunctionDef, more: Mapping[str, object]):
        calls = [node for node in ast.walk(definition) if isinstance(node, ast.Call)]
        self._called = {text_of(call.func): parts for call in calls if (parts := _parts(call.func))}
        every = {**OF_NUMBERS, **OF_TABLES, **{name: (function,) for name, function in more.items()}}
        self._known = [(function, name) for name, those in every.items() for function in those]

    def known(self, function: FunctionType, around: Mapping[str, object]) -> dict[str, str]:
        """The names by which functions are known, by what is written; `around` is what names outside stand for."""
        own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
        found = ((text, self._name(parts, around)) for text, parts in self._called.items() if parts[0] not in own)
        return {text: name for text, name in found if name is not None}

    def _name(self, parts: Sequence[str], around: Mapping[str, object]) -> str | None:
        first = parts[0]
        if len(parts) == 1 and (first in ITS_OWN or (first in IMPLIED and first not in around)):
            return first
        meant: Any = around.get(first, getattr(builtins, first, None))
        for part in parts[1:]:
            meant = getattr(meant, part, None) if isinstance(meant, ModuleType) else None
        return next((name for function, name in self._known if function is meant), None)


def called(functions: Mapping[str, str], node: ast.expr) -> str:
    """The name of the function that a call calls; no text for one that is not known."""
    return functions.get(text_of(node), "") if isinstance(node, ast.Name | ast.Attribute) else ""


def _parts(function: ast.expr) -> Sequence[str]:
    """The names in `module.submodule.function`; none for any other expression."""
    match function:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=inner, attr=name) if parts := _parts(inner):
            return [*parts, name]
        case _:
            return []
