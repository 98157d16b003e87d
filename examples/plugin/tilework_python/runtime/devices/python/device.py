"""How Python source is loaded: it is executed, and a function of it is called with the addresses of arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy


@dataclass(frozen=True)
class Loaded:
    """A function that has been executed into being."""

    entry: Callable[..., None]


class Source:
    """Source that is executed when its function is first called."""

    def __init__(self, text: str, entry: str):
        self._text, self._entry = text, entry

    def code(self) -> Loaded:
        return self._loaded

    @cached_property
    def _loaded(self) -> Loaded:
        names: dict[str, Any] = {"numpy": numpy, "floats": floats}
        exec(self._text, names)
        return Loaded(names[self._entry])


def floats(address: int, count: int) -> numpy.ndarray:
    """The array of f32 at an address."""
    return numpy.ctypeslib.as_array((ctypes.c_float * count).from_address(address))


def link(objects: Sequence[bytes], target: str, entry: str, types: Sequence[Any], result: Any) -> Source:
    """The function `entry` of pieces of source."""
    return Source("\n".join(piece.decode() for piece in objects), entry)
