"""What a value is that a caller gives: an integer, a function of so many arguments."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any, SupportsIndex, cast


def integer_of(value: object) -> int | None:
    """The number of an integer of Python or numpy; None for anything else, bools among it."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return operator.index(cast(SupportsIndex, value))
    except TypeError:  # an array of several
        return None


def takes(function: Callable[..., Any], arguments: int) -> bool:
    """Whether a function can be called with so many arguments, as far as Python knows."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # of a builtin
        return True
    try:
        signature.bind(*range(arguments))
    except TypeError:
        return False
    return True
