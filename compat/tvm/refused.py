"""Names of TVM that there are, so that programs find them, and that say when they are used what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from tilework.algebra.errors import UsageError


class NotSupported(UsageError, NotImplementedError):
    """A program uses what TVM has and Tilework has not."""


def refused(name: str, instead: str) -> Callable[..., Any]:
    """What stands for something of TVM that is not there; called, it raises NotSupported with name and remedy."""

    def function(*args: object, **options: object) -> NoReturn:
        raise NotSupported(f"tvm.{name} is not supported: {instead}")

    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    vars(function).update(instead=instead, __tvm_name__=f"tvm.{name}")  # a page lists what is refused
    function.__doc__ = f"Not supported: {instead}."
    return function
