"""Functions of Python that programs call by name, and those who run the programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilework.algebra.errors import UsageError, did_you_mean

_functions: dict[str, Callable[..., Any]] = {}


def register(name: str, function: Callable[..., Any], override: bool = False) -> None:
    """Let programs call a function of numpy arrays and numbers by a name.

    Raises UsageError for a name that is taken, unless it is overridden.
    """
    if name in _functions and not override:
        raise UsageError(f"there is a function '{name}' already: choose another name, or give override=True")
    _functions[name] = function


def unregister(name: str) -> None:
    """Forget a function. Raises UsageError for a name that none has."""
    function_named(name)
    del _functions[name]


def function_named(name: str) -> Callable[..., Any]:
    """The function of a name. Raises UsageError for a name that none has."""
    if name not in _functions:
        raise UsageError(f"there is no function '{name}': register one by this name{did_you_mean(name, _functions)}")
    return _functions[name]


def function_names() -> list[str]:
    """The names of all functions."""
    return list(_functions)
