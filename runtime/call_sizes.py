"""What the shapes of a call's inputs decide: the symbols' values, the shapes of the outputs, the scratch memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import pack

from tilework.runtime.shapes import InputShapes, Shape, SymbolicShape, Symbols
from tilework.runtime.tensor_spec import Dim

REMEMBERED = 256
"""For how many combinations of input shapes the sizes are kept: a model mostly sees the same few again."""


@dataclass(frozen=True)
class CallSizes:
    """symbols: by name; symbol_table: the same as a C array of int64.

    outputs: their shapes, or the room for those of which data decide. scratch: the bytes of each scratch buffer.
    """

    symbols: Symbols
    symbol_table: bytes
    outputs: tuple[Shape, ...]
    scratch: tuple[int, ...]


class SizesOfCalls:
    """`of(shapes)`: the sizes of a call with inputs of these shapes, in order.

    outputs: the shape of each, or what its sizes are at most where data decide them (`BoundSizes.room`).
    Raises UsageError for shapes that do not fit each other, the specs or the requirements.
    """

    def __init__(self, inputs: InputShapes, outputs: Sequence[Sequence[Dim]], scratch: Sequence[Dim]):
        self._inputs = inputs
        self._outputs = [SymbolicShape(shape) for shape in outputs]
        self._scratch = SymbolicShape(scratch)
        self.of = lru_cache(REMEMBERED)(self._compute)

    def _compute(self, shapes: tuple[Shape, ...]) -> CallSizes:
        symbols = self._inputs.bind(shapes)
        return CallSizes(
            symbols,
            pack(f"{len(symbols)}q", *symbols.values()),
            tuple(shape.evaluate(symbols) for shape in self._outputs),
            self._scratch.evaluate(symbols),
        )
