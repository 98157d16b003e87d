"""The rules of a target family, found in its folder, most beneficial first."""

from __future__ import annotations

from functools import cache
from inspect import isabstract, isclass
from typing import Any, TypeGuard

from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import KernelOp
from tilework.plugins.packages import Folder, folders_of
from tilework.rules.base import ScheduleRule
from tilework.targets import Target


def rules_for(family: str) -> tuple[ScheduleRule[Any], ...]:
    """All rules in `rules/<family>/` of the tree and of plugins, the highest benefit first, then by name."""
    return _rules_in(folders_of(f"rules/{family}"))


@cache
def _rules_in(folders: tuple[Folder, ...]) -> tuple[ScheduleRule[Any], ...]:
    rules: list[ScheduleRule[Any]] = []
    for module in (folder.load(name) for folder in folders for name in folder.modules()):
        members = [member for member in vars(module).values() if _is_rule(member)]
        rules += [member() for member in members if member.__module__ == module.__name__]
    return tuple(sorted(rules, key=_order))


def _is_rule(member: Any) -> TypeGuard[type[ScheduleRule[Any]]]:
    return not isabstract(member) and isclass(member) and issubclass(member, ScheduleRule)


def _order(rule: ScheduleRule[Any]) -> tuple[int, str]:
    return -rule.BENEFIT, type(rule).__name__


def choose_rule(kernel: KernelOp, target: Target) -> ScheduleRule[Any]:
    """The most beneficial rule that matches the kernel."""
    for rule in rules_for(target.family):
        if rule.matches(kernel, target):
            return rule
    raise CompileError(f"no schedule rule for @{kernel.sym_name.data}", kernel)
