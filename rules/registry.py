"""The rules of a target family, found in its folder, and the plans that they make, one for each kernel; and algorithms,
found in theirs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from functools import cache
from inspect import isabstract, isclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, cast

from tilework.analysis.kernel_content import content_of_kernel
from tilework.dialects.support.diagnostics import CompileError, TileworkError
from tilework.dialects.te import KernelOp
from tilework.dialects.te.intrinsics import copy_with_declarations
from tilework.plugins.packages import Folder, by_name, folders_of
from tilework.rules.algorithms.base import Algorithm
from tilework.rules.base import Plan, ScheduleRule
from tilework.targets import Target

MOST_PLANS = 32
"""So many plans are kept, those made last: each holds a copy of its kernel."""


class Chosen(NamedTuple):
    """The rule for a kernel, and its plan."""

    rule: ScheduleRule[Any]
    plan: Plan[Any]


class Ranked(Protocol):
    """What is asked in an order: the highest benefit first."""

    BENEFIT: ClassVar[int]


Kind = TypeVar("Kind", bound=Ranked)


def rules_for(family: str) -> tuple[ScheduleRule[Any], ...]:
    """All rules in `rules/<family>/` of the tree and of plugins, the highest benefit first, then by name."""
    return cast("tuple[ScheduleRule[Any], ...]", ranked_in(f"rules/{family}", ScheduleRule))


def ranked_in(folder: str, kind: type[Kind]) -> tuple[Kind, ...]:
    """One of each class of a kind in a folder of the tree and of plugins, the highest benefit first, then by name."""
    return _ranked_in(folders_of(folder), kind)


def algorithms() -> Mapping[str, type[Algorithm]]:
    """The algorithms in `rules/algorithms/` of the tree and of plugins, by the names of their classes."""
    return _algorithms_in(folders_of("rules/algorithms"))


@cache
def _ranked_in(folders: tuple[Folder, ...], kind: type[Any]) -> tuple[Any, ...]:
    return tuple(sorted((found() for found in classes_in(folders, kind)), key=_order))


@cache
def _algorithms_in(folders: tuple[Folder, ...]) -> Mapping[str, type[Algorithm]]:
    named = ((algorithm.__name__, algorithm) for algorithm in classes_in(folders, Algorithm))
    return by_name("algorithms", sorted(named, key=_first), lambda algorithm: algorithm.__module__)


def classes_in(folders: tuple[Folder, ...], base: type[Any]) -> Iterator[Any]:
    """The classes of a kind that the files of folders define, but for the kind itself.

    Raises TileworkError for one that lacks a method.
    """
    for module in (folder.load(name) for folder in folders for name in folder.modules()):
        for member in vars(module).values():
            if not isclass(member) or not issubclass(member, base) or member is base:
                continue
            if member.__module__ == module.__name__:
                if isabstract(member):
                    lacking = ", ".join(sorted(getattr(member, "__abstractmethods__", ())))
                    what = f"{module.__name__}.{member.__name__} is no {base.__name__}"
                    raise TileworkError(f"{what}: it lacks {lacking}")
                yield member


def _first(named: tuple[str, Any]) -> str:
    return named[0]


def _order(rule: Ranked) -> tuple[int, str]:
    return -rule.BENEFIT, type(rule).__name__


def choose_rule(
    kernel: KernelOp, target: Target, parameters: Set[int] = frozenset(), *, given_away: bool = False
) -> Chosen:
    """The rule for a kernel, and its plan, as `find_rule` finds them. Raises CompileError where no rule matches."""
    chosen = find_rule(kernel, target, parameters, given_away=given_away)
    if chosen is None:
        raise CompileError(f"no schedule rule for @{kernel.sym_name.data}", kernel)
    return chosen


def find_rule(
    kernel: KernelOp, target: Target, parameters: Set[int] = frozenset(), *, given_away: bool = False
) -> Chosen | None:
    """The most beneficial rule that matches the kernel, with its plan, or None; of kernels of the same text the first
    is asked about.

    parameters: the arguments, by number, that may get other layouts. given_away: whether nobody uses or changes the
    kernel any more, so that the plan needs no copy of it.
    """
    rules = rules_for(target.family)
    key = rules, content_of_kernel(kernel), target, frozenset(parameters)
    if key not in _known:
        own = kernel if given_away else copy_with_declarations(kernel)
        _known[key] = _choose(own, target, parameters, rules)
        if len(_known) > MOST_PLANS:
            del _known[next(iter(_known))]
    return _known[key]


def plan_for(kernel: KernelOp, target: Target, parameters: Set[int] = frozenset()) -> Plan[Any]:
    """The plan of the rule that `choose_rule` finds."""
    return choose_rule(kernel, target, parameters).plan


_known: dict[Hashable, Chosen | None] = {}
"""The key of a plan says which rules there are, what the kernel computes, for which target, with which parameters."""


def _choose(
    kernel: KernelOp, target: Target, parameters: Set[int], rules: Sequence[ScheduleRule[Any]]
) -> Chosen | None:
    for rule in rules:
        plan = rule.match(kernel, target, parameters)
        if plan is not None:
            return Chosen(rule, plan)
    return None
