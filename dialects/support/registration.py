"""Which dialects there are: found by file, imported when first used.

A dialect is a file or folder `dialects/<name>`, or `dialects/isa/<name>` for what one machine's units do, that says
`Dialect("<name>"`; the value is a `Dialect` of that name at the top of the module. A new dialect needs no list.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.ir import Dialect

import tilework.dialects
import tilework.dialects.isa


def tilework_dialects() -> dict[str, Callable[[], Dialect]]:
    """Our own dialects by name, each as a function that imports it."""
    return {name: partial(load_dialect, name) for name in dialect_modules()}


def load_dialect(name: str) -> Dialect:
    """Import our dialect `name`."""
    module = importlib.import_module(dialect_modules()[name])
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
def dialect_modules() -> dict[str, str]:
    """The module of each of our dialects, by the dialect's name."""
    found = {name: f"{package.__name__}.{name}" for package in _PACKAGES for name in _dialects_in(package)}
    return dict(sorted(found.items()))


_PACKAGES = (tilework.dialects, tilework.dialects.isa)


def _dialects_in(package: ModuleType) -> Iterator[str]:
    for folder in map(Path, package.__path__):
        for module in pkgutil.iter_modules([str(folder)]):
            file = folder / module.name / "__init__.py" if module.ispkg else folder / f"{module.name}.py"
            if re.search(rf"\bDialect\(\s*\"{module.name}\"", file.read_text(encoding="utf-8")):
                yield module.name
