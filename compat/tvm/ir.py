"""Modules of functions, and how TVM compares and saves what it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilework import api, te
from tilework.algebra.errors import UsageError, did_you_mean
from tilework.compat.tvm.refused import refused

Array = list
Map = dict
"""TVM's containers are Python's."""


class PrimFunc:
    """A schedule and what the function takes; as text it is its loops. checked: whether subscripts are checked."""

    def __init__(
        self,
        schedule: te.Schedule,
        arguments: Sequence[Any],
        name: str,
        simple_mode: bool = False,
        checked: bool = False,
    ):
        self.schedule = schedule
        self.arguments = list(arguments)
        self.name = name
        self.checked = checked
        self.lowered = api.lower(schedule, self.arguments, name, simple_mode)

    @property
    def params(self) -> list[Any]:
        """What the function takes."""
        return self.arguments

    @property
    def body(self) -> Any:
        """The operations of the loops: an xDSL module."""
        return self.lowered.module

    def __str__(self) -> str:
        return str(self.lowered)


class IRModule:
    """Functions by name."""

    def __init__(self, functions: Mapping[str, PrimFunc] | None = None):
        self.functions = dict(functions or {})

    @staticmethod
    def from_expr(expr: Any) -> Any:
        """The module of a function of relay. Raises TVMError for anything else."""
        from tilework.compat.tvm.relay.expr import Function  # relay imports this
        from tilework.compat.tvm.relay.module import RelayModule

        if not isinstance(expr, Function):
            raise UsageError(f"IRModule.from_expr takes a relay.Function, not a {type(expr).__name__}")
        return RelayModule.of(expr)

    def __getitem__(self, name: str) -> PrimFunc:
        if name not in self.functions:
            raise UsageError(f"the module has no function '{name}'{did_you_mean(name, self.functions)}")
        return self.functions[name]

    def update(self, other: IRModule) -> None:
        """Take the functions of another module, too."""
        self.functions.update(other.functions)

    def astext(self) -> str:
        """The loops of all functions."""
        return "\n".join(map(str, self.functions.values()))

    __str__ = script = astext


def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """Whether two indices are the same, whatever they were made of; of anything else, whether the texts are equal."""
    if isinstance(lhs, te.IndexValue | int) and isinstance(rhs, te.IndexValue | int):
        return te.is_zero(lhs - rhs)
    return str(lhs) == str(rhs)


save_json = refused("ir.save_json", "print(s) writes a schedule as text that opt-tool reads")
load_json = refused("ir.load_json", "opt-tool reads kernels and schedules as text")
