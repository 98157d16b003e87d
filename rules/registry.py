"""The rules of a target family, found in its folder, most beneficial first."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from inspect import isabstract, isclass

from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import KernelOp
from tilework.rules.base import ScheduleRule
from tilework.targets.target import Target

_FAMILIES = {"llvm": "cpu", "c": "cpu"}
"""The folder that holds the rules of a target."""


@cache
def rules_for(family: str) -> tuple[ScheduleRule, ...]:
    """All rules in `rules/<family>/`, the highest benefit first, then by name."""
    package = importlib.import_module(f"tilework.rules.{family}")
    rules: list[ScheduleRule] = []
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        for member in vars(module).values():
            if not isclass(member) or not issubclass(member, ScheduleRule) or isabstract(member):
                continue
            if member.__module__ == module.__name__:
                rules.append(member())
    return tuple(sorted(rules, key=lambda r: (-r.BENEFIT, type(r).__name__)))


def choose_rule(kernel: KernelOp, target: Target) -> ScheduleRule:
    """The most beneficial rule that matches the kernel."""
    for rule in rules_for(_FAMILIES[target.name]):
        if rule.matches(kernel, target):
            return rule
    raise CompileError(f"no schedule rule for @{kernel.sym_name.data}", kernel)
