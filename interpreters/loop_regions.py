"""Intrinsics on parts of buffers in the loop interpreter.

As values are, parts are arrays with one dimension for every axis and one for the lanes of vectors, here of size one;
the dimensions of the part follow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tilework.algebra.index_expr import Expr
from tilework.dialects.graph.base import Array
from tilework.dialects.loop import IntrinsicOp
from tilework.dialects.loop.bounds import where
from tilework.dialects.loop.buffer_regions import BufferRegion
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te.intrinsics import declaration_of
from tilework.interpreters.buffers import Buffer
from tilework.interpreters.intrinsics import run_intrinsic
from tilework.interpreters.loop_access import Frame, Mask, Names, along

Step: TypeAlias = Callable[[Frame, Mask], None]


def region_accesses(op: IntrinsicOp, positions: list[Expr], names: Names, leads: list[int]) -> list[RegionAccess]:
    """The parts of an operation. leads: of how many axes each buffer has memory of its own."""
    return [RegionAccess(op, *of_part, names) for of_part in zip(op.buffer_regions, positions, leads, strict=True)]


def regions_step(op: IntrinsicOp, parts: list[RegionAccess]) -> Step:
    """What an operation on parts of buffers does."""
    result, *arguments = parts
    declaration = declaration_of(op, op.intrinsic)

    def run(frame: Frame, mask: Mask) -> None:
        before = result.load(frame, mask) if op.updates is not None else None
        result.store(frame, mask, run_intrinsic(declaration, before, [a.load(frame, mask) for a in arguments]))

    return run


class RegionAccess:
    """A part, as one operation reads or writes it."""

    def __init__(self, op: IntrinsicOp, part: BufferRegion, position: Expr, lead: int, names: Names):
        self.op = op
        self.name = part.memref.name_hint or "?"
        self.slot = names.slots[part.memref]
        self.lead = lead
        self.rank = names.rank
        self._start = names.index(position)
        axes = np.ix_(*map(np.arange, part.form.shape))
        self._elements: Array = sum((a * s for a, s in zip(axes, part.strides, strict=True)), np.zeros((), np.int64))
        self._last = part.last

    def load(self, frame: Frame, mask: Mask) -> Array:
        """The elements, a copy."""
        buffer: Buffer = frame.values[self.slot]
        return buffer.storage[self._positions(frame, buffer, mask)]

    def store(self, frame: Frame, mask: Mask, value: Any) -> None:
        """Write the elements where the mask holds."""
        buffer: Buffer = frame.values[self.slot]
        chosen = True if mask is None else self._with_elements(np.asarray(mask))
        places, values, chosen = np.broadcast_arrays(self._positions(frame, buffer, mask), value, chosen)
        buffer.storage[places[chosen]] = values[chosen]
        if buffer.written is not None:
            buffer.written[places[chosen]] = True

    def places(self, frame: Frame, mask: Mask) -> tuple[Buffer, Array, Mask]:
        """The buffer, the positions in its storage of the elements that are touched, and where they are touched."""
        buffer: Buffer = frame.values[self.slot]
        return buffer, self._positions(frame, buffer, mask), mask

    def _positions(self, frame: Frame, buffer: Buffer, mask: Mask) -> Array:
        """Where in the storage the elements lie; an error where one that is needed lies outside of the buffer."""
        index = np.asarray(self._start(frame.values))
        index = index.reshape(*[1] * (self.rank + 1 - index.ndim), *index.shape)
        last, size = self._last, buffer.shape[self.lead]
        outside = (index < 0) | (index + last >= size)
        if (outside if mask is None else outside & mask).any():
            raise CompileError(
                f"{where(self.op)}: a part of %{self.name} out of bounds: the buffer has {size} elements, it spans "
                f"{last + 1} from one of {np.unique(index[outside]).tolist()} on",
                self.op,
            )
        total: Any = np.where(outside, 0, index) * buffer.strides[self.lead] + buffer.offset
        for axis in range(self.lead):
            total = total + along(axis, self.rank, np.arange(frame.extent[axis])) * buffer.strides[axis]
        return self._with_elements(total) + self._elements * buffer.strides[self.lead]

    def _with_elements(self, array: Array) -> Array:
        """One number for all elements of the part."""
        return array.reshape(*array.shape, *[1] * self._elements.ndim)
