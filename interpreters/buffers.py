"""Memory of the loop level: typed views of one-dimensional storage, poisoned until it is written.

A `Buffer` is what a memref is: storage, an offset, a shape and strides in elements. Fresh memory holds NaN (the least
number of an integer type), so that reading before writing shows in the results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, const, var
from tilework.algebra.nibbles import pack, packed_size, unpack
from tilework.dialects.graph.base import Array, is_float
from tilework.dialects.scalar_meaning import element_dtype, integer_limits
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.words import BYTES


@dataclass(frozen=True)
class Buffer:
    """A typed view of `storage`, which is one-dimensional and contiguous. Offset and strides count elements.

    `written`, where there is one, has an element for every element of the storage and becomes True with a store.
    """

    storage: Array
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    written: Array | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type."""
        return self.storage.dtype

    @property
    def array(self) -> Array:
        """The elements as an array that shares the memory."""
        step = self.storage.itemsize
        start = self.storage[self.offset :] if prod(self.shape) else self.storage[:0]
        return as_strided(start, self.shape, [s * step for s in self.strides])

    @property
    def last(self) -> int:
        """The position in the storage of the last element; one before the first for a view of none."""
        if not prod(self.shape):
            return self.offset - 1
        return self.offset + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))

    def view(self, offset: int, shape: Sequence[int], strides: Sequence[int]) -> Buffer:
        """Another view that starts `offset` elements after this one. Raises CompileError where it reaches outside."""
        result = replace(self, offset=self.offset + offset, shape=tuple(shape), strides=tuple(strides))
        if offset < 0 or min(result.strides, default=0) < 0 or result.last > self.last:
            raise CompileError(
                f"a view of {list(shape)} elements, offset {offset}, strides {list(strides)}, "
                f"reaches outside of memory of {list(self.shape)} elements, strides {list(self.strides)}"
            )
        return result

    @property
    def words(self) -> Buffer:
        """The same bytes as words: the last dimension holds four of them for each."""
        memory = self.storage[self.offset : self.last + 1].view("<i4")
        shape = (*self.shape[:-1], self.shape[-1] // BYTES)
        return Buffer(memory, 0, shape, (*(s // BYTES for s in self.strides[:-1]), 1))

    def tracked(self) -> Buffer:
        """The same buffer, with a record of what is stored to it from now on."""
        return replace(self, written=np.zeros(self.storage.shape, dtype=bool))

    @property
    def written_array(self) -> Array:
        """Which elements were stored to."""
        assert self.written is not None, "this buffer keeps no record"
        return replace(self, storage=self.written, written=None).array


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of row-major storage, in elements."""
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))


def allocate(shape: Sequence[int], dtype: np.dtype[Any]) -> Buffer:
    """Make a buffer of fresh memory, which holds poison."""
    return Buffer(np.full(prod(shape), poison(dtype)), 0, tuple(shape), contiguous_strides(shape))


def poison(dtype: np.dtype[Any]) -> Any:
    """What fresh memory of that type holds."""
    if is_float(dtype):
        return dtype.type(np.nan)
    return np.False_ if dtype.kind == "b" else dtype.type(integer_limits(dtype)[0])


def wrap(array: Array) -> Buffer:
    """An array as a buffer that shares its memory, strided or not. Strides must not be negative."""
    step = array.itemsize
    strides = tuple(s // step for s in array.strides)
    if min(strides, default=0) < 0 or any(s % step for s in array.strides):
        raise CompileError(f"memory with strides of {list(array.strides)} bytes is not of whole elements, forwards")
    if not array.size:
        return Buffer(np.empty(0, array.dtype), 0, array.shape, contiguous_strides(array.shape))
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True))
    return Buffer(as_strided(array, (span,), (step,)), 0, array.shape, strides)


def packed(buffer: Buffer) -> Buffer:
    """A copy of a one-dimensional buffer of 4-bit integers, two to a byte."""
    [elements] = buffer.shape
    result = allocate([packed_size(elements)], np.dtype(np.int8))
    pack(buffer.array, result.storage.view(np.uint8))
    return result if buffer.written is None else result.tracked()


def unpack_to(buffer: Buffer, source: Buffer) -> None:
    """Store what `packed` copied and a run has changed since.

    Of a buffer that keeps a record, an element counts as stored to where its byte was and it has changed.
    """
    elements = np.empty(buffer.shape, buffer.dtype)
    unpack(source.storage.view(np.uint8), elements)
    if source.written is not None:
        assert buffer.written is not None
        changed = source.written.repeat(2)[: elements.size] & (elements != buffer.array)
        as_written = replace(buffer, storage=buffer.written).array
        as_written |= changed
    buffer.array[...] = elements


def memref_dtype(type_: Attribute) -> np.dtype[Any]:
    """The numpy type of a memref's elements."""
    assert isa(type_, MemRefType)
    return element_dtype(type_.element_type)


def check_memref(buffer: Buffer, type_: Attribute, what: str) -> None:
    """Raise CompileError, naming `what`, where a buffer is not of that memref type."""
    assert isa(type_, MemRefType)
    shape = type_.get_shape()
    if buffer.dtype != memref_dtype(type_) or len(shape) != len(buffer.shape):
        raise CompileError(f"{what} is {type_}, got memory of {list(buffer.shape)} {buffer.dtype}")
    if any(s not in (DYNAMIC_INDEX, n) for s, n in zip(shape, buffer.shape, strict=True)):
        raise CompileError(f"{what} is {type_}, got memory of {list(buffer.shape)} elements")
    expected = _strides(type_, buffer.shape)
    differ = [n > 1 and e != s for n, e, s in zip(buffer.shape, expected, buffer.strides, strict=True)]
    if any(differ) and prod(buffer.shape):
        raise CompileError(f"{what} is {type_}, got memory of strides {list(buffer.strides)}")


def _strides(type_: MemRefType[Attribute], shape: Sequence[int]) -> Sequence[int]:
    if not isinstance(type_.layout, StridedLayoutAttr):
        return contiguous_strides(shape)
    strides = cast(Sequence[Any], type_.layout.strides)
    return [cast(int, s.data) for s in strides]


@dataclass(frozen=True)
class Overlaps:
    """Buffers that share memory with an earlier one, which that is, and whether all such are the same elements."""

    earlier: Mapping[int, int]
    identical: bool


def overlaps(buffers: Sequence[Buffer]) -> Overlaps:
    """Which of a kernel's buffers (inputs, outputs, scratch) share memory."""
    found: dict[int, int] = {}
    identical = True
    for i, j in combinations(range(len(buffers)), 2):
        a, b = buffers[i].array, buffers[j].array
        if np.may_share_memory(a, b):
            found.setdefault(j, found.get(i, i))
            identical &= a.__array_interface__ == b.__array_interface__
    return Overlaps(found, identical)


def reinterpret_operands(
    op: memref.ReinterpretCastOp | memref.SubviewOp,
) -> tuple[list[Expr], list[Expr], list[Expr]]:
    """Offsets, sizes and strides as index expressions."""

    def merged(static: Any, dynamic: Sequence[SSAValue]) -> list[Expr]:
        rest = iter(dynamic)
        values = cast(Sequence[int], static.get_values())
        return [var(next(rest)) if s == DYNAMIC_INDEX else const(s) for s in values]

    return (
        merged(op.static_offsets, op.offsets),
        merged(op.static_sizes, op.sizes),
        merged(op.static_strides, op.strides),
    )
