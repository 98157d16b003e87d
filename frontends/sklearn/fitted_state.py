"""What an estimator is at a moment, to compare with what it is later: programs made of it are right so long."""

from __future__ import annotations

import marshal
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, cast

import numpy as np

PLAIN = (str, bytes, int, float, bool, type(None))
"""Types whose values do not change."""


@dataclass(frozen=True)
class _Array:
    """An array at a moment. What is held keeps the objects in it alive, of which the content says where they are."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    content: bytes
    held: Any = field(compare=False)


@dataclass(frozen=True)
class _Object:
    """An object of which nothing is known but which one it is."""

    identity: int
    held: Any = field(compare=False)


def state_of(value: Any) -> object:
    """What compares equal to what it was before unless a value, or something in it, has changed since."""
    kind = type(cast("object", value))
    if issubclass(kind, PLAIN):
        return kind, repr(value)
    if issubclass(kind, np.ndarray):
        return _Array(value.dtype, value.shape, value.tobytes(), value.copy() if value.dtype == object else None)
    if issubclass(kind, list | tuple):
        return tuple(map(state_of, value))
    if issubclass(kind, dict):
        return tuple((key, state_of(inner)) for key, inner in value.items())
    if issubclass(kind, FunctionType):
        return _Object(id(value), value), read_by(value)
    if hasattr(kind, "get_params"):
        return kind, state_of(vars(value))
    return _Object(id(value), value)


def read_by(function: FunctionType) -> tuple[Any, ...]:
    """The code of a function, and what the names stand for that it reads from around it."""
    names = function.__code__.co_names
    around = [function.__globals__[name] for name in names if name in function.__globals__]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return marshal.dumps(function.__code__), *(
        (type(value), repr(value)) if isinstance(value, PLAIN) else id(value) for value in (*around, *cells)
    )
