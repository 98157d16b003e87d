"""Intrinsics on buffers among loads and stores: what they touch, and which loops will become them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr, StringAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tilework.analysis.accesses import memory_space, memref_type, root_buffer
from tilework.analysis.domains import loops_around
from tilework.dialects.loop import ForOp, IntrinsicOp, StoreOp
from tilework.dialects.loop.annotations import TENSORIZE
from tilework.dialects.loop.buffer_regions import BufferRegion, BufferRegionsOp
from tilework.dialects.support.call_intrinsic import CallIntrinsic
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.memory_scopes import has_no_addresses
from tilework.dialects.support.shapes import element_type
from tilework.dialects.te.intrinsic import IntrinsicOp as Declaration
from tilework.dialects.te.intrinsics import declaration_of


def written_buffers(op: Operation) -> set[SSAValue]:
    """The arguments and allocations that an operation and what it holds write to, views counted with what they view."""
    return {root_buffer(buffer) for inner in op.walk() for buffer in _written_by(inner)}


def _written_by(op: Operation) -> Iterator[SSAValue]:
    match op:
        case StoreOp():
            yield op.memref
        case BufferRegionsOp():
            yield from (part.memref for part in op.buffer_regions if part.form.is_written)
        case _:
            pass


def intrinsic_buffers(op: Operation) -> set[SSAValue]:
    """The arguments and allocations of which intrinsics on buffers in a kernel or a loop read or write a part."""
    return {
        root_buffer(part.memref)
        for inner in op.walk()
        if isinstance(inner, BufferRegionsOp)
        for part in inner.buffer_regions
    }


def require_declared(op: CallIntrinsic | IntrinsicOp | Declaration) -> None:
    """Raise CompileError where an intrinsic is not declared, or is used otherwise than its declaration says."""
    if isinstance(op, Declaration):
        for attribute in (op.reset, op.update):
            if attribute is not None:
                _require_other(op, declaration_of(op, attribute.root_reference.data))
        return
    declaration = declaration_of(op, op.intrinsic)
    if isinstance(op, IntrinsicOp):
        _require_parts(op, declaration)
        return
    given = [element_type(v.type) for v in (*op.arguments, op.result)]
    wanted = [*declaration.function_type.inputs, *declaration.function_type.outputs]
    if given != wanted:
        takes, gives = ", ".join(map(str, wanted[:-1])), wanted[-1]
        raise CompileError(f"@{op.intrinsic} is ({takes}) -> {gives}, on scalars or on vectors of as many lanes", op)
    if len({_lanes(v.type) for v in (*op.arguments, op.result)}) > 1:
        raise CompileError(f"@{op.intrinsic} works lane by lane: all vectors have as many lanes", op)


def _require_other(op: Declaration, other: Declaration) -> None:
    """What resets or updates the result of an intrinsic has a result like it."""
    if other.is_on_scalars or other.wants[-1] != op.wants[-1]:
        message = f"@{other.label} stands in for parts of @{op.label}, and has not a result like it, {op.wants[-1]}"
        raise CompileError(message, op)


def _require_parts(op: IntrinsicOp, declaration: Declaration) -> None:
    if declaration.is_on_scalars:
        raise CompileError(f"@{op.intrinsic} is an intrinsic on scalars, which loop.call_intrinsic calls", op)
    wants = [declaration.wants[-1], *declaration.wants[:-1]]
    shapes = [(tuple(want.get_shape()), want.element_type) for want in wants]
    updates = declaration.accumulates is not None
    if [(p.form.shape, p.form.element) for p in op.buffer_regions] != shapes or updates != (op.updates is not None):
        listed = ", ".join(f"{list(shape)} of {element}" for shape, element in shapes)
        raise CompileError(
            f"@{op.intrinsic} {'updates' if updates else 'writes'} the first of these parts: {listed}", op
        )
    result = root_buffer(op.memrefs[0])
    for i, (part, want) in enumerate(zip(op.buffer_regions, wants, strict=True)):
        _require_place(op, part, want)
        if i and root_buffer(part.memref) is result:
            raise CompileError(f"@{op.intrinsic} reads a buffer that it writes, and intrinsics do not", op)
        wanted = want.memory_space.data if isinstance(want.memory_space, StringAttr) else None
        space = memory_space(part.memref)
        if has_no_addresses(space) if wanted is None else space != wanted:
            what = "is in memory" if wanted is None else f'is of scope "{wanted}"'
            raise CompileError(f"a part of @{op.intrinsic} {what}, not in a buffer of {part.memref.type}", op)


def _require_place(op: IntrinsicOp, part: BufferRegion, want: MemRefType[Attribute]) -> None:
    """Elements are as far apart as the declaration wants, and lie in the buffer as far as that is known."""
    rank = len(part.strides)
    usual = [*[None] * (rank - 1), *[1] * min(rank, 1)]
    strides = list(want.layout.get_strides()) if isinstance(want.layout, StridedLayoutAttr) else usual
    if any(wanted not in (None, stride) for wanted, stride in zip(strides, part.strides, strict=True)):
        listed = ["?" if stride is None else stride for stride in strides]
        raise CompileError(f"a part of @{op.intrinsic} has strides {listed}, not {list(part.strides)}", op)
    at, size = part.position.constant, memref_type(part.memref.type).get_shape()[0]
    if at is not None and size != DYNAMIC_INDEX and not 0 <= at <= at + part.last < size:
        raise CompileError(f"a part from {at} to {at + part.last} is not in a buffer of {size} elements", op)


def _lanes(type_: Attribute) -> tuple[int, ...]:
    return cast("VectorType[Attribute]", type_).get_shape() if isinstance(type_, VectorType) else ()


def is_tensorized(loop: ForOp) -> bool:
    """Whether a loop is to become an intrinsic, or part of one."""
    return any(TENSORIZE in around.attributes for around in (loop, *loops_around(loop)))
