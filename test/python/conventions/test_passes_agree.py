"""A pass has one name: its file, its class, what it says and its test agree; and it has a docstring and a test."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest
from places import ROOT
from xdsl.ir import Operation
from xdsl.transforms import get_all_passes

import tilework.lowering
import tilework.transforms
from tilework.driver.pass_options import options_of, pass_text
from tilework.driver.pipeline_text import parse_pipeline
from tilework.driver.registry import all_passes, tilework_passes
from tilework.tools.lit_in_process import run_lines
from tilework.transforms.base import TileworkPass

TEST = ROOT / "test"
PASSES = {name: load() for name, load in tilework_passes().items()}


def modules_that_may_hold_passes() -> Iterator[str]:
    for package in (tilework.lowering, tilework.transforms):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield module.name


def place_of(pass_type: type[TileworkPass]) -> tuple[str, ...]:
    """Where a pass lives: ("transforms", level, file) or ("lowering", file)."""
    return tuple(pass_type.__module__.split(".")[1:])


def disagreements(pass_type: type[TileworkPass]) -> Iterator[str]:
    """What is wrong with the names and the docstring of a pass."""
    folder, *names = place_of(pass_type)
    expected = [part.replace("_", "-") for part in ("-".join(names), names[-1])]
    if pass_type.name not in expected:
        yield f"its file says '{expected[0]}' or '{expected[1]}', the class says '{pass_type.name}'"
    if pass_type.__name__.lower() != names[-1].replace("_", ""):
        yield f"the class {pass_type.__name__} is in {names[-1]}.py"
    if "->" not in (pass_type.__doc__ or ""):
        yield "its docstring has no 'before -> after'"
    if not issubclass(pass_type.anchor, Operation):
        yield "its anchor is no operation"
    if pass_type.name in get_all_passes():
        yield "xDSL has a pass of that name"
    test = TEST.joinpath(folder, *names).with_name(names[-1].replace("_", "-") + ".mlir")
    if not test.exists():
        yield f"it has no test {test.relative_to(TEST)}"
    elif not any(pass_type.name in line for line in run_lines(test)):
        yield f"no RUN line of {test.relative_to(TEST)} names it"


@pytest.mark.parametrize("name", PASSES)
def test_names_docstring_and_test_agree(name: str):
    assert list(disagreements(PASSES[name])) == []


@pytest.mark.parametrize("module_name", list(modules_that_may_hold_passes()))
def test_every_pass_is_registered(module_name: str):
    module = importlib.import_module(module_name)
    passes = [
        value
        for _, value in inspect.getmembers(module, inspect.isclass)
        if issubclass(value, TileworkPass) and value.__module__ == module_name and "name" in vars(value)
    ]
    assert passes == [PASSES[value.name] for value in passes if value.name in PASSES]


@pytest.mark.parametrize("name", PASSES)
def test_options_can_be_written(name: str):
    """Every option has a type that pipeline text can spell, and a pass with its defaults prints and parses back."""
    options = options_of(PASSES[name])
    if all(option.default is not None for option in options):
        text = f"{name}{{{' '.join(f'{option.name}={option.default}' for option in options)}}}"
        (read,) = parse_pipeline(text, all_passes()).steps
        assert read == PASSES[name]()
        assert pass_text(PASSES[name]()) == name


def test_the_check_itself():
    class Wrong(TileworkPass):
        """Says nothing of what it does."""

        name = "cse"

    Wrong.__module__ = "tilework.transforms.graph.other_name"
    assert list(disagreements(Wrong)) == [
        "its file says 'graph-other-name' or 'other-name', the class says 'cse'",
        "the class Wrong is in other_name.py",
        "its docstring has no 'before -> after'",
        "xDSL has a pass of that name",
        "it has no test transforms/graph/other-name.mlir",
    ]
