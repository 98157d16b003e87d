"""Operations on tiles in the loop interpreter.

As values are, tiles are arrays with one dimension for every axis and one for the lanes of vectors, here of size one;
rows and columns follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph.base import Array
from tilework.dialects.isa.amx import COLUMNS, PAIR, ROWS, Tile, TileMulFOp, TileOp, TileStoreOp, TileZeroOp
from tilework.dialects.loop.bounds import where
from tilework.dialects.support.diagnostics import CompileError
from tilework.interpreters.buffers import Buffer
from tilework.interpreters.loop_access import Frame, Mask, Names, along

Step: TypeAlias = Callable[[Frame, Mask], None]


def tile_step(op: TileOp, positions: list[Expr], names: Names, leads: list[int]) -> Step:
    """What an operation on tiles does. leads: of how many axes each buffer has memory of its own."""
    tiles = [TileAccess(op, *parts, names) for parts in zip(op.tiles, positions, leads, strict=True)]

    def zero(frame: Frame, mask: Mask) -> None:
        [to] = tiles
        to.store(frame, mask, np.float32(0))

    def multiply(frame: Frame, mask: Mask) -> None:
        to, a, b = tiles
        before, rows, pairs = (tile.load(frame, mask) for tile in (to, a, b))
        to.store(frame, mask, before + rows.astype(np.float32) @ _unpaired(pairs.astype(np.float32)))

    def store(frame: Frame, mask: Mask) -> None:
        source, to = tiles
        to.store(frame, mask, source.load(frame, mask))

    match op:
        case TileZeroOp():
            return zero
        case TileMulFOp():
            return multiply
        case TileStoreOp():
            return store
        case _:
            raise CompileError(f"the interpreter does not know '{op.name}'", op)


def _unpaired(pairs: Array) -> Array:
    """Rows that hold two neighbours of each column as twice as many rows."""
    split = pairs.reshape(*pairs.shape[:-1], COLUMNS, PAIR)
    return np.moveaxis(split, -1, -2).reshape(*pairs.shape[:-2], PAIR * ROWS, COLUMNS)


class TileAccess:
    """A tile, as one operation reads or writes it."""

    def __init__(self, op: TileOp, tile: Tile, position: Expr, lead: int, names: Names):
        self.op = op
        self.name = tile.memref.name_hint or "?"
        self.slot = names.slots[tile.memref]
        self.lead = lead
        self.rank = names.rank
        self._start = names.index(position)
        self._elements = np.arange(ROWS)[:, None] * tile.stride + np.arange(tile.form.columns)

    def load(self, frame: Frame, mask: Mask) -> Array:
        """The elements, a copy."""
        buffer: Buffer = frame.values[self.slot]
        return buffer.storage[self._positions(frame, buffer, mask)]

    def store(self, frame: Frame, mask: Mask, value: Any) -> None:
        """Write the elements where the mask holds."""
        buffer: Buffer = frame.values[self.slot]
        chosen = True if mask is None else np.asarray(mask)[..., None, None]
        places, values, chosen = np.broadcast_arrays(self._positions(frame, buffer, mask), value, chosen)
        buffer.storage[places[chosen]] = values[chosen]
        if buffer.written is not None:
            buffer.written[places[chosen]] = True

    def _positions(self, frame: Frame, buffer: Buffer, mask: Mask) -> Array:
        """Where in the storage the elements lie; an error where one that is needed lies outside of the buffer."""
        index = np.asarray(self._start(frame.values))
        index = index.reshape(*[1] * (self.rank + 1 - index.ndim), *index.shape)
        last, size = int(self._elements[-1, -1]), buffer.shape[self.lead]
        outside = (index < 0) | (index + last >= size)
        if (outside if mask is None else outside & mask).any():
            raise CompileError(
                f"{where(self.op)}: a tile of %{self.name} out of bounds: the buffer has {size} elements, it spans "
                f"{last + 1} from one of {np.unique(index[outside]).tolist()} on",
                self.op,
            )
        total: Any = np.where(outside, 0, index) * buffer.strides[self.lead] + buffer.offset
        for axis in range(self.lead):
            total = total + along(axis, self.rank, np.arange(frame.extent[axis])) * buffer.strides[axis]
        return total[..., None, None] + self._elements * buffer.strides[self.lead]
