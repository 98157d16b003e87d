"""Which passes there are: found by file, imported when first used.

A pass lives in `transforms/<level>/<file>.py` under the name `<level>-<file>` or `<file>`, or in `lowering/<file>.py`
under the name `<file>`, underscores turned into dashes. A file holds a pass if it says `name = "<that name>"`; the
other files there are helpers. The class is the one value in the module with that name. A new pass needs no list.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType

from xdsl.transforms import get_all_passes

import tilework.lowering
import tilework.transforms
from tilework.driver.pipeline_text import PassFactory
from tilework.driver.upstream_passes import Canonicalize
from tilework.transforms.base import TileworkPass


def tilework_passes() -> dict[str, PassFactory]:
    """Our own passes by name, each as a function that imports its class."""
    return {name: partial(load_pass, module, name) for name, module in _pass_files()}


def all_passes() -> dict[str, PassFactory]:
    """Our own passes and xDSL's, of which `canonicalize` has options here."""
    return {**get_all_passes(), "canonicalize": lambda: Canonicalize, **tilework_passes()}


def load_pass(module_name: str, name: str) -> type[TileworkPass]:
    """Import the class of the pass `name` from its module."""
    module = importlib.import_module(module_name)
    found = [value for value in _pass_types(module) if value.name == name]
    if len(found) != 1:
        raise ImportError(f"{module_name} must hold one TileworkPass named '{name}', it holds {len(found)}")
    return found[0]


def _pass_types(module: ModuleType) -> Iterator[type[TileworkPass]]:
    """The passes that `module` itself defines."""
    for _, value in inspect.getmembers(module, inspect.isclass):
        if issubclass(value, TileworkPass) and value.__module__ == module.__name__:
            yield value


@cache
def _pass_files() -> list[tuple[str, str]]:
    """(name of a pass, name of its module) for every file that holds one, sorted by name."""
    found = [*_passes_in(tilework.lowering, prefix="")]
    for level in pkgutil.iter_modules(tilework.transforms.__path__):
        if level.ispkg:
            package = importlib.import_module(f"tilework.transforms.{level.name}")
            found += _passes_in(package, prefix=f"{level.name}-")
    return sorted(found)


def _passes_in(package: ModuleType, prefix: str) -> Iterator[tuple[str, str]]:
    for folder in map(Path, package.__path__):
        for file in sorted(folder.glob("*.py")):
            stem, text = file.stem.replace("_", "-"), file.read_text(encoding="utf-8")
            for name in {f"{prefix}{stem}", stem}:
                if f'    name = "{name}"' in text:
                    yield name, f"{package.__name__}.{file.stem}"
