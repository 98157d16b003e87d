"""The folders are layers: each may import those below it and none above, inside functions too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import ROOT

ORDER = (
    *(
        "algebra",
        "plugins",
        "targets",
        "dialects",
        "analysis",
        "interpreters",
        "runtime",
        "scheduling",
        "rules",
        "transforms",
    ),
    *("lowering", "backends", "driver", "frontends", "tuning", "tilework", "compat", "tools"),
)
"""The layers, lowest first. `tilework` is the public API: `from tilework import te` imports it."""
FILES = sorted(file for layer in ORDER for file in (ROOT / layer).rglob("*.py"))


def place_of(file: Path) -> str:
    """A file as its path in the repository."""
    return str(file.relative_to(ROOT))


def imported_layers(source: str) -> Iterator[tuple[int, str]]:
    """(line, layer) of everything of ours that `source` imports, by statement or by `import_module`."""
    for node in ast.walk(ast.parse(source)):
        for name in imported_names(node):
            if name == "tilework" or name.startswith("tilework."):
                first = name.removeprefix("tilework").lstrip(".").partition(".")[0]
                yield node.lineno, first if first in ORDER else "tilework"


def imported_names(node: ast.AST) -> list[str]:
    """The modules, and the members of modules, that one node of a syntax tree imports."""
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0, names=names):
            return [f"{module}.{alias.name}" for alias in names]
        case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name)), *_]):
            return [name]
        case _:
            return []


def out_of_order(source: str, layer: str) -> list[str]:
    """What is wrong with the imports of a file of `layer`."""
    allowed = ORDER[: ORDER.index(layer) + 1]
    return [f"line {line}: {layer} imports {name}" for line, name in imported_layers(source) if name not in allowed]


@pytest.mark.parametrize("file", FILES, ids=place_of)
def test_imports_point_down(file: Path):
    layer = "tools" if place_of(file) == "tilework/__main__.py" else file.relative_to(ROOT).parts[0]  # the command
    assert out_of_order(file.read_text(encoding="utf-8"), layer) == []


FOUND_BY_FOLDER = tuple(
    f"tilework.{layer}.{folder.parent.name}"
    for layer in ("rules", "backends")
    for folder in ROOT.glob(f"{layer}/*/__init__.py")
    if folder.parent.name != "common"
)
"""Families of rules, algorithms, and back ends: who names one works for no other."""

FOR_ALL = "tilework.rules.algorithms.base"
"""What those who ask for algorithms call them."""

PRINTERS = ("tilework.backends.c_family", "tilework.backends.llvm")
"""What writes C, and LLVM's assembly, for the back ends that take one of these to their machines."""


@pytest.mark.parametrize("file", [f for f in FILES if f.relative_to(ROOT).parts[0] != "tools"], ids=place_of)
def test_families_and_back_ends_are_found_by_folder(file: Path):
    """Only tools may name one, to measure it."""
    own = ".".join(("tilework", *file.relative_to(ROOT).parts[:2]))
    named = {name for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) for name in imported_names(node)}
    printers = PRINTERS if own.startswith("tilework.backends") else ()
    named = {name for name in named if not name.startswith((own, FOR_ALL, *printers))}
    assert [name for name in named if name.startswith(FOUND_BY_FOLDER)] == []


@pytest.mark.parametrize("file", FILES, ids=place_of)
def test_imports_are_absolute(file: Path):
    """`import dialects.graph` would make a second set of operation classes."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert not [node.lineno for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level > 0]
    roots = {name.partition(".")[0] for node in ast.walk(tree) for name in imported_names(node)}
    assert not roots & (set(ORDER) - {"tilework"})


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("from tilework.tools.cli import main", ["line 1: lowering imports tools"]),
        ("import tilework.backends.llvm", ["line 1: lowering imports backends"]),
        ("def f():\n    from tilework import driver", ["line 2: lowering imports driver"]),
        ("import importlib\nimportlib.import_module('tilework.tools')", ["line 2: lowering imports tools"]),
        ("from tilework import te", ["line 1: lowering imports tilework"]),
        ("from tilework.dialects import te\nfrom tilework.transforms.base import TileworkPass", []),
    ],
)
def test_the_check_itself(source: str, wrong: list[str]):
    assert out_of_order(source, "lowering") == wrong
