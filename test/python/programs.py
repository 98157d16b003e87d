"""What tests do to programs again and again: name a target, run a phase, ask a rule for its plan."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.program_targets import HOST, set_targets
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.te import KernelOp
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.phases import run_phase
from tilework.rules.base import Plan, ScheduleRule
from tilework.targets import Target, parse_target


def for_target(module: ModuleOp, target: Target | str = "llvm") -> ModuleOp:
    """The module, which names this target for its host from now on."""
    set_targets(module, {HOST: parse_target(target) if isinstance(target, str) else target})
    return module


def text_for(text: str, target: str = "llvm") -> str:
    """The text of operations in a module that names this target for its host."""
    return f'builtin.module attributes {{tilework.targets = "{target}"}} {{ {text} }}'


def apply_phase(phase: str, module: ModuleOp, instrumentations: Sequence[Instrumentation] = ()) -> None:
    """Run a phase over a module, for this machine where it names no other."""
    if "tilework.targets" not in module.attributes:
        for_target(module)
    run_phase(phase, make_context(), module, instrumentations)


def plan_by(rule: ScheduleRule[Any], kernel: KernelOp, target: Target, parameters: Set[int] = frozenset()) -> Plan[Any]:
    """The plan of one rule for a kernel that it matches."""
    plan = rule.match(kernel, target, parameters)
    assert plan is not None
    return plan


def schedule_by(rule: ScheduleRule[Any], kernel: KernelOp, target: Target) -> SequenceOp:
    """The schedule that one rule writes for a kernel that it matches."""
    return plan_by(rule, kernel, target).schedule(kernel)
