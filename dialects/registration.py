"""Which dialects there are: found by file, imported when first used.

A dialect is a file `dialects/<name>.py` that says `Dialect("<name>"`, or a folder `dialects/<name>/`; the value is a
`Dialect` of that name at the top of the module. A new dialect needs no list.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.ir import Dialect

import tilework.dialects


def tilework_dialects() -> dict[str, Callable[[], Dialect]]:
    """Our own dialects by name, each as a function that imports it."""
    return {name: partial(load_dialect, name) for name in _dialect_names()}


def load_dialect(name: str) -> Dialect:
    """Import our dialect `name`."""
    module = importlib.import_module(f"tilework.dialects.{name}")
    found = [value for value in vars(module).values() if isinstance(value, Dialect) and value.name == name]
    if len(found) != 1:
        raise ImportError(f"{module.__name__} must hold one Dialect named '{name}', it holds {len(found)}")
    return found[0]


def make_context(*, allow_unregistered: bool = False) -> Context:
    """A context in which every dialect of ours and of xDSL is registered and none is loaded."""
    context = Context(allow_unregistered=allow_unregistered)
    for name, factory in {**get_all_dialects(), **tilework_dialects()}.items():
        context.register_dialect(name, factory)
    return context


@cache
def _dialect_names() -> list[str]:
    return sorted(
        module.name
        for folder in map(Path, tilework.dialects.__path__)
        for module in pkgutil.iter_modules([str(folder)])
        if module.ispkg or _says_dialect(folder / f"{module.name}.py", module.name)
    )


def _says_dialect(file: Path, name: str) -> bool:
    return re.search(rf"\bDialect\(\s*\"{name}\"", file.read_text(encoding="utf-8")) is not None
