"""Functions by name: `tvm.register_func`, `tvm.get_global_func`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, cast

import numpy as np

from tilework.compat.tvm.runtime.ndarray import NDArray
from tilework.dialects.support import packed_functions


def register_func(
    func_name: str | Callable[..., Any], f: Callable[..., Any] | None = None, override: bool = False
) -> Callable[..., Any]:
    """Let programs call a function of `NDArray`s and numbers by a name; a decorator where the function is not given.

    Without a name it is that of the function. Raises TVMError for a name that is taken, unless it is overridden.
    """
    if callable(func_name):
        return register_func(func_name.__name__, func_name, override)
    if f is None:
        return partial(_registered, func_name, override)
    return _registered(func_name, override, f)


def _registered(name: str, override: bool, f: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(f)
    def on_arrays(*args: Any) -> Any:
        return f(*map(_as_tvms, args))

    packed_functions.register(name, on_arrays, override)
    return f


def _as_tvms(value: Any) -> Any:
    return NDArray(cast("np.ndarray[Any, Any]", value)) if isinstance(value, np.ndarray) else value


def get_global_func(name: str, allow_missing: bool = False) -> Callable[..., Any] | None:
    """The function of a name. Raises TVMError where there is none, unless it may be missing: then it is None."""
    if allow_missing and name not in packed_functions.function_names():
        return None
    found = packed_functions.function_named(name)
    return getattr(found, "__wrapped__", found)


def list_global_func_names() -> list[str]:
    """The names of all functions."""
    return packed_functions.function_names()


def remove_global_func(name: str) -> None:
    """Forget a function."""
    packed_functions.unregister(name)
