"""What a file of Python says about tables: its quoted functions and optimized objects, and their rows."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import TileworkError, UsageError
from tilework.frontends.quoted.function import Quoted
from tilework.frontends.sklearn.optimized import Optimized
from tilework.frontends.sklearn.programs import TO_COMPILE, watched
from tilework.transforms.matrix.split_host import FINISH, split_host


@dataclass(frozen=True)
class Stage:
    """A program of a named function or object on its way. `is_compiled`: whether native code is made of it as it is."""

    name: str
    where: str
    module: ModuleOp

    @property
    def is_compiled(self) -> bool:
        """Whether native code is made of it."""
        return self.where == TO_COMPILE


def imported_file(path: Path) -> ModuleType:
    """A file of Python, run as a module: what it does under `__main__` is not done. Raises TileworkError."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise TileworkError(f"cannot read {path}: it is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise TileworkError(f"cannot import {path}: {type(error).__name__}: {error}") from None
    finally:
        sys.path.remove(str(path.parent))
    return module


def stages_of(file: ModuleType, rows: Mapping[str, Any]) -> Iterator[Stage]:
    """The programs of all quoted functions and optimized objects at the top of a file, in its order.

    rows: tables by the names of parameters, `X` and `y` for objects; where there is none, the file's own variable of
    that name serves. Raises UsageError where neither is there, and where nothing in the file becomes a program.
    """
    found = {name: value for name, value in vars(file).items() if isinstance(value, Quoted | Optimized)}
    if not found:
        raise UsageError(f"{file.__file__} has no quoted function and no optimized object at its top")
    for name, value in found.items():
        if isinstance(value, Quoted):
            tables = [_table(file, rows, name, parameter) for parameter in value.parameters]
            yield Stage(name, "imported", value.program(*tables))
            module = value.program(*tables, optimize=True)
            yield Stage(name, "optimize-bags", module.clone())
            finish = split_host(module)
            yield Stage(name, TO_COMPILE, module)
            if finish is not None:
                yield Stage(name, FINISH, finish)
        else:
            yield from _stages_of_fit(
                name, value, _table(file, rows, name, "X"), rows.get("y", getattr(file, "y", None))
            )


def _stages_of_fit(name: str, value: Optimized, x: Any, y: Any) -> Iterator[Stage]:
    """The programs of a fit, and of what it makes of the rows where it transforms them."""
    stages: list[Stage] = []
    fresh = value.unfitted()
    with watched(lambda where, module: stages.append(Stage(name, where, module.clone()))):
        fresh.fit(x, y)
        if hasattr(fresh.fitted, "transform"):
            fresh.transform(x)
    if not stages:
        raise UsageError(f"{name}: {fresh.explain()}")
    yield from stages


def _table(file: ModuleType, rows: Mapping[str, Any], name: str, parameter: str) -> Any:
    if parameter in rows:
        return rows[parameter]
    found = getattr(file, parameter, None)
    if found is None or not hasattr(found, "shape"):
        raise UsageError(f"{name} takes {parameter}, which {file.__file__} does not have: give --rows {parameter}=FILE")
    return found
