"""Sizes that data decide: outputs have room for as many elements as may be, and begin with those that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from tilework.algebra.index_expr import Expr, const, to_expr
from tilework.algebra.intervals import interval
from tilework.algebra.parse import parse
from tilework.runtime.addresses import Array
from tilework.runtime.shapes import SymbolicShape, Symbols
from tilework.runtime.tensor_spec import Dim, TensorSpec


class BoundSizes:
    """The symbols that the entry writes, and what they are at most; none for most modules."""

    def __init__(self, bound: Mapping[str, Dim], outputs: Sequence[TensorSpec]):
        self.names = tuple(bound)
        self._most = {name: _expr(most) for name, most in bound.items()}
        self._shapes = [SymbolicShape(spec.shape) for spec in outputs]
        self._depends = [any(str(key) in bound for d in spec.shape for key in _expr(d).variables()) for spec in outputs]

    def __bool__(self) -> bool:
        return bool(self.names)

    def depends(self, output: int) -> bool:
        """Whether data decide a size of an output."""
        return self._depends[output]

    def room(self, shape: Sequence[Dim]) -> tuple[Dim, ...]:
        """What sizes are at most, over symbols that inputs tell."""
        ranges = {key: (const(0), most) for key, most in self._most.items()}
        largest = [_expr(dim) for dim in shape]
        for key in reversed(self.names):
            largest = [interval(e, {key: ranges[key]})[1] if key in e.variables() else e for e in largest]
        return tuple(str(e) if e.constant is None else e.constant for e in largest)

    def trimmed(self, outputs: Sequence[Array], symbols: Symbols, written: Sequence[int]) -> list[Array]:
        """The outputs as they are, after a call that wrote these values of the symbols."""
        values = {**symbols, **dict(zip(self.names, written, strict=True))}
        return [
            array if not depends else array.reshape(-1)[: prod(exact)].reshape(exact)
            for array, depends, exact in zip(
                outputs, self._depends, (shape.evaluate(values) for shape in self._shapes), strict=True
            )
        ]


def _expr(dim: Dim) -> Expr:
    return parse(dim) if isinstance(dim, str) else to_expr(dim)
