"""Sizes that data decide: outputs have room for as many elements as may be, and begin with those that there are."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from tilework.algebra.index_expr import Expr, const, to_expr
from tilework.algebra.intervals import interval
from tilework.algebra.parse import parse
from tilework.runtime.addresses import Array
from tilework.runtime.shapes import Shape, SymbolicShape, Symbols
from tilework.runtime.tensor_spec import Dim, TensorSpec

Addresses: TypeAlias = "ctypes.Array[ctypes.c_void_p] | Sequence[int]"
"""Where outputs lie that the entry allocated; None, or 0, for others."""


class BoundSizes:
    """The symbols that the entry writes, and what they are at most; none for most modules."""

    def __init__(self, bound: Mapping[str, Dim | None], outputs: Sequence[TensorSpec]):
        self.names = tuple(bound)
        self._most = {name: None if most is None else _expr(most) for name, most in bound.items()}
        self.grown = frozenset(i for i, spec in enumerate(outputs) if self._is_grown(spec))
        """The outputs that the entry allocates."""
        self._shapes = [SymbolicShape(spec.shape) for spec in outputs]
        self._depends = [any(str(key) in bound for d in spec.shape for key in _expr(d).variables()) for spec in outputs]

    def __bool__(self) -> bool:
        return bool(self.names)

    def depends(self, output: int) -> bool:
        """Whether data decide a size of an output."""
        return self._depends[output]

    def _is_grown(self, spec: TensorSpec) -> bool:
        keys = {str(key) for dim in spec.shape for key in _expr(dim).variables()}
        return any(key in keys and most is None for key, most in self._most.items())

    def room(self, spec: TensorSpec) -> tuple[Dim, ...]:
        """What sizes of an output are at most, over symbols that inputs tell; 0 for one that the entry allocates."""
        if self._is_grown(spec):
            return (0,) * len(spec.shape)
        largest = [_expr(dim) for dim in spec.shape]
        for key, most in reversed(self._most.items()):
            if most is not None:
                largest = [interval(e, {key: (const(0), most)})[1] if key in e.variables() else e for e in largest]
        return tuple(str(e) if e.constant is None else e.constant for e in largest)

    def taken(self, outputs: list[Array], places: Addresses, symbols: Symbols, written: Sequence[int]) -> list[Array]:
        """The outputs as they are after a call that wrote these values of the symbols, and left these addresses.

        What the entry allocated is copied and given back.
        """
        values = {**symbols, **dict(zip(self.names, written, strict=True))}
        for i in self.grown:
            array = np.empty(self._shapes[i].evaluate(values), outputs[i].dtype)
            if place := places[i]:
                ctypes.memmove(array.ctypes.data, place, array.nbytes)
            outputs[i] = array
        self.give_back(places)
        return [
            _begun(array, shape.evaluate(values)) if depends else array
            for array, depends, shape in zip(outputs, self._depends, self._shapes, strict=True)
        ]

    def give_back(self, places: Addresses) -> None:
        """Free the outputs that the entry has allocated: in the table, those it has not are null."""
        for i in self.grown:
            if i < len(places) and (place := places[i]):
                _free(place)


def _begun(array: Array, shape: Shape) -> Array:
    """The elements that an array begins with, in a shape of no more of them."""
    if array.shape[1:] == shape[1:]:
        return array[: shape[0]]
    return array.reshape(-1)[: prod(shape)].reshape(shape)


def _expr(dim: Dim) -> Expr:
    return parse(dim) if isinstance(dim, str) else to_expr(dim)


def _free(place: int) -> None:
    """Give back what compiled code took from the C library of this process."""
    free = ctypes.CDLL(None if os.name == "posix" else "msvcrt").free
    free.argtypes = [ctypes.c_void_p]
    free(place)
