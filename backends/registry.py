"""Which back ends there are: found by folder, imported when one is asked for."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from inspect import isabstract, isclass
from pathlib import Path

import tilework.backends
from tilework.algebra.errors import UsageError, did_you_mean
from tilework.backends.base import Backend
from tilework.targets import Target


@cache
def backends() -> dict[str, Backend]:
    """All back ends by the kind of target that they serve."""
    found = [_backend_in(name) for name in _folders()]
    return {backend.kind: backend for backend in found}


def backend_for(target: Target) -> Backend:
    """The back end for a target."""
    return backends()[target.name]


def backend_writing(format: str) -> Backend:
    """The back end that writes a format of `opt-tool -t`. Raises UsageError for a format that there is not."""
    known = {name: backend for backend in backends().values() for name in backend.formats}
    if format not in known:
        raise UsageError(
            f"-t {format}: unknown format; the formats are {', '.join(['mlir', *known])}"
            f"{did_you_mean(format, ['mlir', *known])}"
        )
    return known[format]


def _folders() -> list[str]:
    return sorted(
        module.name
        for root in tilework.backends.__path__
        for module in pkgutil.iter_modules([root])
        if module.ispkg and (Path(root) / module.name / "backend.py").exists()
    )


def _backend_in(folder: str) -> Backend:
    module = importlib.import_module(f"tilework.backends.{folder}.backend")
    members = [m for m in vars(module).values() if isclass(m) and issubclass(m, Backend) and not isabstract(m)]
    [backend] = [m for m in members if m.__module__ == module.__name__]
    return backend()
