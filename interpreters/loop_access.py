"""Loads and stores of the loop interpreter.

Values are arrays with one dimension for every axis and a last one for the lanes of vectors, of size one where they
do not depend on it. An access that is affine in the axes is a strided view of the memory; where it reaches outside
under a mask, and for all others, elements are gathered and scattered one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Compound, Expr, Key, Var, floor_quotient, floor_remainder, joined_sizes
from tilework.dialects.graph.base import Array
from tilework.dialects.loop import LoadOp, StoreOp
from tilework.dialects.loop.bounds import out_of_bounds
from tilework.dialects.scalar_meaning import element_dtype
from tilework.dialects.support.diagnostics import CompileError
from tilework.interpreters.buffers import Buffer, poison

Mask: TypeAlias = Any
"""Where iterations take place: a boolean array over the axes, or None for everywhere."""


class Frame:
    """The state of a run: values by slot, and first index and extent of every axis."""

    def __init__(self, slots: int, rank: int):
        self.values: list[Any] = [None] * slots
        self.first = [0] * rank
        self.extent = [1] * rank


Index: TypeAlias = Callable[[list[Any]], Any]
"""An index expression: from the values of a frame to an integer, or an array of them."""


@dataclass(frozen=True)
class Names:
    """Where values are kept, and which of them are indices of axes, by position."""

    slots: Mapping[SSAValue, int]
    axes: Mapping[SSAValue, int]
    rank: int

    def axis_of(self, key: Key) -> int | None:
        """The position of the axis whose index this is, or None."""
        return self.axes.get(cast(SSAValue, key))

    def index(self, e: Expr) -> Index:
        """Compile an expression over SSA values."""
        return eval(f"lambda v: {self._source(e)}", _FUNCTIONS)

    def _source(self, e: Expr) -> str:
        parts = [str(e.offset)] if e.offset or not e.terms else []
        for atom, c in e.terms:
            parts.append(f"{c} * {self._atom(atom)}" if c != 1 else self._atom(atom))
        return " + ".join(parts)

    def _atom(self, atom: Var | Compound) -> str:
        if isinstance(atom, Var):
            return f"v[{self.slots[cast(SSAValue, atom.key)]}]"
        args = [f"({self._source(a)})" for a in atom.args]
        if atom.kind == "product":
            return f"({' * '.join(args)})"
        if atom.kind in ("floordiv", "mod") and atom.args[1].constant:
            return f"({(' // ' if atom.kind == 'floordiv' else ' % ').join(args)})"
        return f"_{atom.kind}({', '.join(args)})"


class OrderMatters(Exception):
    """Iterations that were run at once have stored different values to one element."""

    def __init__(self, op: Operation):
        super().__init__(op)
        self.op = op


@dataclass(frozen=True)
class _Subscript:
    """One subscript: as a function; and, if it is affine in the axes, its steps along them and the rest."""

    whole: Index
    rest: Index | None
    steps: tuple[tuple[int, int], ...]


class Access:
    """One load or store, compiled."""

    def __init__(
        self,
        op: LoadOp | StoreOp,
        subscripts: Sequence[Expr],
        touched: Sequence[Expr | None],
        names: Names,
        lead: int,
    ):
        """touched: the first lane that is, and the end. lead: how many axes the buffer's memory has of its own, because
        it is allocated inside them."""
        self.op = op
        self.lead = lead
        self.slot = names.slots[op.memref]
        self.rank = names.rank
        accessed = op.result.type if isinstance(op, LoadOp) else op.value.type
        self._dtype = element_dtype(accessed)
        self.lanes = accessed.get_shape()[0] if isinstance(accessed, VectorType) else 1
        self._first, self._end = (None if e is None else names.index(e) for e in touched)
        otherwise = op.otherwise if isinstance(op, LoadOp) else None
        self._otherwise = None if otherwise is None else names.slots[otherwise]
        last, stride = len(subscripts) - 1, op.lane_stride if self.lanes > 1 else 0
        self._subscripts = [_compile(e, names, stride if i == last else 0) for i, e in enumerate(subscripts)]
        self._affine = all(s.rest is not None for s in self._subscripts)
        self._lane_numbers = np.arange(self.lanes)

    def load(self, frame: Frame, mask: Mask) -> Array:
        """The elements, sharing the memory where they can."""
        buffer: Buffer = frame.values[self.slot]
        mask = self._lane_mask(frame, mask)
        found = self._box(frame, buffer) if self._affine else None
        if found is not None:
            value = np.ndarray(found[0], buffer.dtype, buffer.storage, found[1], found[2])
        else:
            value = np.asarray(buffer.storage.take(self._positions(frame, buffer, mask)))
        value = value if value.dtype == self._dtype else value.view(self._dtype)
        touched = self._touched(frame)
        if touched is None:
            return value
        rest = poison(self._dtype) if self._otherwise is None else frame.values[self._otherwise]
        return np.where(touched, value, rest)

    def store(self, frame: Frame, mask: Mask, value: Any, *, overlapping: bool = False) -> None:
        """Write the elements where the mask holds. Raises OrderMatters where two `overlapping` values differ."""
        buffer: Buffer = frame.values[self.slot]
        mask = self._lane_mask(frame, mask)
        if buffer.dtype != self._dtype:
            value = np.asarray(value).view(buffer.dtype)
        found = self._box(frame, buffer) if self._affine and not overlapping else None
        if found is not None and _is_larger(found[0], mask, value):
            found = None  # one of several threads stores
        positions = None if found is not None and buffer.written is None else self._positions(frame, buffer, mask)
        if found is not None:
            view = np.ndarray(found[0], buffer.dtype, buffer.storage, found[1], found[2])
            view[...] = value if mask is None else np.where(mask, value, view)
        else:
            self._scatter(buffer.storage, positions, mask, value)
        if buffer.written is not None:
            self._scatter(buffer.written, positions, mask, True)
        if overlapping and not self._holds(buffer, positions, mask, value):
            raise OrderMatters(self.op)

    def _holds(self, buffer: Buffer, positions: Any, mask: Mask, value: Any) -> bool:
        """Whether every value that was stored is there: none was overwritten by a different one."""
        stored, expected, chosen = np.broadcast_arrays(buffer.storage[positions], value, True if mask is None else mask)
        same = (stored == expected) | ((stored != stored) & (expected != expected))
        return bool((same | ~chosen).all())

    def _scatter(self, storage: Array, positions: Any, mask: Mask, value: Any) -> None:
        where, chosen, values = np.broadcast_arrays(positions, True if mask is None else mask, value)
        storage[where[chosen]] = values[chosen]

    def _lane_mask(self, frame: Frame, mask: Mask) -> Mask:
        lanes = self._touched(frame)
        if lanes is None or lanes.all():
            return mask
        return lanes if mask is None else lanes & mask

    def _touched(self, frame: Frame) -> Array | None:
        """Which lanes are; None for all."""
        below = None if self._end is None else self._lane_numbers < self._end(frame.values)
        if self._first is None:
            return below
        above = self._lane_numbers >= self._first(frame.values)
        return above if below is None else above & below

    def places(self, frame: Frame, mask: Mask) -> tuple[Buffer, Array, Mask]:
        """The buffer, the positions in its storage of the elements that are touched, and where they are touched."""
        buffer: Buffer = frame.values[self.slot]
        mask = self._lane_mask(frame, mask)
        return buffer, self._positions(frame, buffer, mask), mask

    # -- strided views

    def _box(self, frame: Frame, buffer: Buffer) -> tuple[list[int], int, list[int]] | None:
        """Shape, byte offset and byte strides of the view; None where a corner lies outside of the buffer."""
        shape, strides = [1] * (self.rank + 1), [0] * (self.rank + 1)
        offset = buffer.offset
        for axis in range(self.lead):
            shape[axis], strides[axis] = frame.extent[axis], buffer.strides[axis]
        for subscript, size, stride in zip(
            self._subscripts, buffer.shape[self.lead :], buffer.strides[self.lead :], strict=True
        ):
            assert subscript.rest is not None
            low = subscript.rest(frame.values)
            if not isinstance(low, int):
                return None  # a loop variable that is an array: bounds differ from iteration to iteration
            offset += low * stride
            high = low
            for axis, step in subscript.steps:
                extent = self.lanes if axis == self.rank else frame.extent[axis]
                start = 0 if axis == self.rank else frame.first[axis] * step
                offset += start * stride
                reach = start + step * (extent - 1)
                low, high = low + min(start, reach), high + max(start, reach)
                shape[axis] = extent
                strides[axis] += step * stride
            if low < 0 or high >= size:
                return None
        size = buffer.storage.itemsize
        return shape, offset * size, [s * size for s in strides]

    # -- elements one by one

    def _positions(self, frame: Frame, buffer: Buffer, mask: Mask) -> Array:
        """Where in the storage the elements lie; an error where one that is needed lies outside of the buffer."""
        total: Any = buffer.offset
        for axis in range(self.lead):
            total = total + along(axis, self.rank, np.arange(frame.extent[axis])) * buffer.strides[axis]
        for i, subscript in enumerate(self._subscripts):
            size, stride = buffer.shape[self.lead + i], buffer.strides[self.lead + i]
            index = np.asarray(subscript.whole(frame.values))
            for axis, step in subscript.steps:
                if axis == self.rank:
                    index = index + self._lane_numbers * step
            if index.min() < 0 or index.max() >= size:
                self._refuse_outside(i, index, size, mask)
                index = index.clip(0, max(0, size - 1))
            total = total + index * stride
        return np.asarray(total).reshape(self._full_rank(total))

    def _full_rank(self, total: Any) -> tuple[int, ...]:
        shape = np.shape(total)
        return (*[1] * (self.rank + 1 - len(shape)), *shape)

    def _refuse_outside(self, i: int, index: Array, size: int, mask: Mask) -> None:
        outside = (index < 0) | (index >= size)
        if mask is not None:
            index, outside = np.broadcast_arrays(index, outside & mask)
        if not outside.any():
            return
        found = index.reshape(-1)[int(np.argmax(outside))]
        raise CompileError(f"{out_of_bounds(self.op, i, size)}, the subscript is {found}", self.op)


def _compile(e: Expr, names: Names, lane_stride: int) -> _Subscript:
    steps: dict[int, int] = {}
    rest = e
    for atom, c in e.terms:
        axis = names.axis_of(atom.key) if isinstance(atom, Var) else None
        if axis is not None:
            steps[axis] = c
            rest = rest - Expr(((atom, c),), 0)
    affine = all(names.axis_of(key) is None for key in rest.variables())
    if lane_stride:
        steps[names.rank] = lane_stride
    return _Subscript(names.index(e), names.index(rest) if affine else None, tuple(steps.items()))


def along(axis: int, rank: int, values: Array) -> Array:
    """A one-dimensional array along one axis of `rank` axes and lanes."""
    return values.reshape(*[1] * axis, -1, *[1] * (rank - axis))


def _minimum(*values: Any) -> Any:
    return min(values) if all(isinstance(v, int) for v in values) else reduce(np.minimum, values)


def _maximum(*values: Any) -> Any:
    return max(values) if all(isinstance(v, int) for v in values) else reduce(np.maximum, values)


_FUNCTIONS = {
    "_min": _minimum,
    "_max": _maximum,
    "_broadcast": joined_sizes,
    "_floordiv": floor_quotient,
    "_mod": floor_remainder,
}
"""What the source of an index expression calls."""


def _is_larger(shape: Sequence[int], mask: Mask, value: Any) -> bool:
    """Whether what is stored, under a mask, has more elements than the view of this shape that it goes to."""
    chosen = () if mask is None else np.shape(mask)
    return np.broadcast_shapes(chosen, np.shape(value), tuple(shape)) != tuple(shape)
