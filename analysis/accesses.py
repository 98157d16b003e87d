"""Which buffers a kernel's loads and stores reach, and how these lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr, StridedLayoutAttr, StringAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.loop import BytesOp, KernelOp, LoadOp, PrefetchOp, StoreOp, WordsOp
from tilework.dialects.support.diagnostics import CompileError

VIEWS = (memref.ReinterpretCastOp, memref.SubviewOp, memref.CastOp, memref.ViewOp, BytesOp, WordsOp)

NEAR = 4
"""Up to which distance between lanes whole vectors are loaded and most of them thrown away."""


def memref_type(type_: Attribute) -> MemRefType[Attribute]:
    """A type that is known to be a memref."""
    assert isinstance(type_, MemRefType), f"{type_} is not a memref"
    return cast("MemRefType[Attribute]", type_)


def offset_of(type_: Attribute) -> int:
    """How many elements behind the beginning of its memory a buffer starts, as its type says."""
    layout = memref_type(type_).layout
    offset = layout.get_offset() if isinstance(layout, StridedLayoutAttr) else 0
    assert offset is not None, "the offset of a part is known when it is compiled"
    return offset


def root_buffer(buffer: SSAValue) -> SSAValue:
    """The argument or allocation that a buffer is a view of."""
    while isinstance(buffer.owner, VIEWS):
        buffer = buffer.owner.source
    return buffer


def accesses(kernel: KernelOp) -> dict[SSAValue, list[LoadOp | StoreOp]]:
    """The loads and stores of every buffer of a kernel, views counted with what they view, in program order."""
    found: dict[SSAValue, list[LoadOp | StoreOp]] = {}
    for op in kernel.body.walk():
        if isinstance(op, LoadOp | StoreOp):
            found.setdefault(root_buffer(op.memref), []).append(op)
    return found


def memory_space(buffer: SSAValue) -> str | None:
    """The name of the memory a buffer lies in, "register" or "local" for instance; None for the host's."""
    space = memref_type(buffer.type).memory_space
    return space.data if isinstance(space, StringAttr) else None


def buffer_dims(buffer: SSAValue) -> tuple[Expr, ...]:
    """The dimensions of a kernel's argument or of a buffer of static shape, over SSA values."""
    if isinstance(buffer, BlockArgument) and isinstance(kernel := buffer.block.parent_op(), KernelOp):
        return kernel.dims_of(buffer)
    return tuple(map(const, memref_type(buffer.type).get_shape()))


def row_major_strides(dims: Sequence[Expr]) -> tuple[Expr, ...]:
    """How many elements apart neighbours along each dimension of a buffer without gaps lie."""
    return tuple(product(dims[i + 1 :]) for i in range(len(dims)))


def element_strides(type_: Attribute, dims: Sequence[Expr], op: Operation | None = None) -> tuple[Expr, ...]:
    """How many elements apart neighbours along each dimension lie; raises CompileError for a layout without strides."""
    layout = memref_type(type_).layout
    if isinstance(layout, NoneAttr):
        return row_major_strides(dims)
    strides = layout.get_strides() if isinstance(layout, StridedLayoutAttr) else None
    if strides is None or None in strides:
        raise CompileError(f"{type_} has no static strides: expected a row-major or a strided<[..]> layout", op)
    return tuple(const(s) for s in strides if s is not None)


def strides_of(buffer: SSAValue, op: Operation | None = None) -> tuple[Expr, ...]:
    """The distance between neighbours along each dimension, in elements; expressions over SSA values.

    Raises CompileError, about `op`, where a kernel does not say them.
    """
    type_ = memref_type(buffer.type)
    if not isinstance(buffer, BlockArgument) and DYNAMIC_INDEX in type_.get_shape()[1:]:
        raise CompileError(f"the extents of a view of type {type_} are not known: run loop-flatten-storage before", op)
    return element_strides(type_, buffer_dims(buffer), op)


def element_position(op: LoadOp | StoreOp | PrefetchOp) -> Expr:
    """How many elements behind the first of its buffer the one accessed lies."""
    strides = element_strides(op.memref.type, buffer_dims(op.memref), op)
    return sum((e * s for e, s in zip(op.exprs, strides, strict=True)), const(0))


def element_count(dims: Sequence[Expr], strides: Sequence[Expr]) -> Expr:
    """How many elements a buffer spans from its first to its last."""
    if strides == row_major_strides(dims):
        return product(dims)
    return sum(((d - 1) * s for d, s in zip(dims, strides, strict=True)), const(1))
