"""Every rule and algorithm has a FileCheck test of its own, in which it is the one that is chosen."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

from tilework.rules import registry
from tilework.rules.algorithms.base import Algorithm
from tilework.rules.base import ScheduleRule
from tilework.rules.gpu.launch import LaunchRule
from tilework.rules.registry import Chosen, algorithms, ranked_in, rules_for
from tilework.tools.opt_tool import main

ROOT = ROOT / "test" / "rules"
FAMILIES = ("cpu", "gpu", "vdla")
DISPATCHERS = ("by_launch",)
"""Rules that only ask others, each of which has its test."""


def file_name(module: str) -> str:
    return module.rpartition(".")[2].replace("_", "-") + ".mlir"


def rules() -> list[tuple[str, type[ScheduleRule[Any] | LaunchRule]]]:
    found = [(family, type(rule)) for family in FAMILIES for rule in rules_for(family)]
    found += [("gpu", type(rule)) for rule in ranked_in("rules/gpu/launches", LaunchRule)]
    return [(family, rule) for family, rule in found if not rule.__module__.endswith(DISPATCHERS)]


def run_first_line(file: Path) -> None:
    """Run opt-tool as the first RUN line of a test says."""
    line = next(line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("// RUN: opt-tool"))
    command = line.removeprefix("// RUN: opt-tool ").partition(" | ")[0]
    assert main(shlex.split(command.replace("%s", str(file)))) == 0


@pytest.mark.parametrize(("family", "rule"), rules(), ids=lambda value: getattr(value, "__name__", value))
def test_a_rule_is_chosen_in_its_test(
    family: str, rule: type[ScheduleRule[Any] | LaunchRule], monkeypatch: pytest.MonkeyPatch
):
    chosen: set[type] = set()

    class Noted(Chosen):
        def __new__(cls, rule: ScheduleRule[Any], plan: Any) -> Chosen:
            chosen.add(type(rule))
            return Chosen(rule, plan)

    def noted(self: Any, launch: Any, target: Any) -> Any:
        schedule = match(self, launch, target)
        if schedule is not None:
            chosen.add(rule)
        return schedule

    monkeypatch.setattr(registry, "Chosen", Noted)
    if issubclass(rule, LaunchRule):
        match = rule.match
        monkeypatch.setattr(rule, "match", noted)
    run_first_line(ROOT / family / file_name(rule.__module__))
    assert rule in chosen


@pytest.mark.parametrize("algorithm", algorithms().values(), ids=lambda algorithm: algorithm.__name__)
def test_an_algorithm_is_chosen_in_its_test(algorithm: type[Algorithm], monkeypatch: pytest.MonkeyPatch):
    used: set[type] = set()
    multiply = algorithm.multiply

    def noted(self: Algorithm, product: Any, transformed: Any) -> Any:
        used.add(type(self))
        return multiply(self, product, transformed)

    monkeypatch.setattr(algorithm, "multiply", noted)
    run_first_line(ROOT / "algorithms" / file_name(algorithm.__module__))
    assert algorithm in used
