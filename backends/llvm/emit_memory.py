"""Buffers: addresses, loads, stores, local storage, views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.accesses import NEAR, memory_space, strides_of
from tilework.backends.element_types import bytes_of, lanes_of, stored_as
from tilework.backends.llvm.emit_index import index_writer
from tilework.backends.llvm.emit_scalar import splat_of
from tilework.backends.llvm.emitter import Emitter, Handlers
from tilework.backends.llvm.llvm_types import llvm_type, suffix, vector_text
from tilework.backends.local_buffers import bytes_with, check_scope, element_count
from tilework.dialects.loop import BytesOp, LoadOp, PrefetchOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.memory_scopes import is_of_intrinsics


class _Access(NamedTuple):
    """One load or store, decoded. address: the type of the pointer. element: the type in registers; memory, suffix: in
    memory.

    touched: the first lane that is, and the one behind the last; None where all are. padded: of how many lanes these
    are the first, where the machine takes them as a part of so many.
    """

    pointer: str
    address: str
    element: str
    memory: str
    suffix: str
    align: int
    lanes: int | None
    stride: int
    touched: tuple[str, str] | None
    padded: int | None

    @property
    def type(self) -> str:
        return vector_text(self.element, self.lanes)

    @property
    def memory_type(self) -> str:
        return vector_text(self.memory, self.lanes)


# -- addresses


def _decode(e: Emitter, op: LoadOp | StoreOp, accessed: Attribute) -> _Access:
    buffer = cast("MemRefType[Attribute]", op.memref.type)
    element = buffer.element_type
    stored = stored_as(element, op)
    memory = llvm_type(stored, op)
    writer = index_writer(e, op)
    strides, indices = strides_of(op.memref, op), op.indices.data
    linear = sum((i * s for i, s in zip(indices, strides, strict=True)), const(0))
    pointer, address = e.get(op.memref), e.address(op.memref)
    index = writer.expr(linear)
    if index != "0":
        # A masked access may begin outside of the buffer, when no lane is active.
        inbounds = "" if (op.first, op.count) != (None, None) else " inbounds"
        pointer = e.text.value(f"getelementptr{inbounds} {memory}, {address} {pointer}, {e.index} {index}")
    lanes = lanes_of(accessed)
    first, count = (None if bound is None else writer.expr(bound.data[0]) for bound in (op.first, op.count))
    touched = None if first is None and count is None else (first or "0", count or str(lanes))
    stride = 1 if lanes is None else _lane_stride(op, strides[-1])
    return _Access(
        pointer,
        address,
        llvm_type(element),
        memory,
        suffix(stored),
        bytes_of(stored, op),
        lanes,
        stride,
        touched,
        None if lanes is None or stride != 1 else _padded(e, op, lanes, bytes_of(stored, op)),
    )


def _padded(e: Emitter, op: LoadOp | StoreOp, lanes: int, element_bytes: int) -> int | None:
    """The next power of two where that is a vector of which a part can be taken.

    Not of registers: LLVM keeps in them only what is accessed without masks.
    """
    whole = 1 << (lanes - 1).bit_length()
    fits = whole != lanes and whole * element_bytes * 8 <= e.module.target.partial_bits
    return whole if fits and memory_space(op.memref) != "register" else None


def _lane_stride(op: LoadOp | StoreOp, last: Expr) -> int:
    step = last.constant
    if step is None:
        raise CompileError(f"a vector access to {op.memref.type} needs a constant stride of the last dimension", op)
    return op.lane_stride * step


# -- loads and stores


def _load(e: Emitter, op: LoadOp) -> None:
    a, hint = _decode(e, op, op.result.type), op.result.name_hint
    if a.lanes is None:
        text = e.text.value(f"load {a.memory}, {a.address} {a.pointer}, align {a.align}", hint)
    elif a.stride == 0:
        scalar = e.text.value(f"load {a.memory}, {a.address} {a.pointer}, align {a.align}")
        text = splat_of(e, scalar, a.memory, a.lanes)
    elif a.touched is not None:
        text = _load_touched(e, op, a, a.lanes, a.touched)
    elif a.padded is not None:
        text = _load_part(e, a, a.lanes, a.padded)
    elif a.stride == 1:
        text = e.text.value(f"load {a.memory_type}, {a.address} {a.pointer}, align {a.align}", hint)
    elif abs(a.stride) <= NEAR:
        text = _load_near(e, a, a.lanes)
    else:
        text = "poison"
        for lane, pointer in enumerate(_lane_pointers(e, a)):
            scalar = e.text.value(f"load {a.memory}, {a.address} {pointer}, align {a.align}")
            text = e.text.value(f"insertelement {a.memory_type} {text}, {a.memory} {scalar}, i64 {lane}")
    if a.memory != a.element:
        text = e.text.value(f"trunc {a.memory_type} {text} to {a.type}")
    e.set(op.result, text)


def _store(e: Emitter, op: StoreOp) -> None:
    a = _decode(e, op, op.value.type)
    text = e.get(op.value)
    if a.memory != a.element:
        text = e.text.value(f"zext {a.type} {text} to {a.memory_type}")
    if a.lanes is not None and a.padded is not None and a.touched is None:
        _store_part(e, a, a.lanes, a.padded, text)
    elif a.lanes is None or (a.stride == 1 and a.touched is None):
        e.text.line(f"store {a.memory_type} {text}, {a.address} {a.pointer}, align {a.align}")
    elif a.stride == 0:
        raise CompileError("a store of a vector with stride 0 would write one element many times", op)
    elif a.touched is not None:
        _store_touched(e, a, a.lanes, a.touched, text)
    else:
        for lane, pointer in enumerate(_lane_pointers(e, a)):
            scalar = e.text.value(f"extractelement {a.memory_type} {text}, i64 {lane}")
            e.text.line(f"store {a.memory} {scalar}, {a.address} {pointer}, align {a.align}")


def _load_part(e: Emitter, a: _Access, lanes: int, padded: int) -> str:
    """The first lanes of a whole vector under a constant mask; LLVM computes with the whole one then."""
    whole, name = vector_text(a.memory, padded), f"@llvm.masked.load.v{padded}{a.suffix}.p0"
    pointer, mask = f"ptr align {a.align} {a.pointer}", _first_lanes(lanes, padded)
    loaded = e.text.value(f"call {whole} {name}({pointer}, {mask}, {whole} poison)")
    return _first_part(e, whole, loaded, lanes)


def _store_part(e: Emitter, a: _Access, lanes: int, padded: int, text: str) -> None:
    operands = f"{a.memory_type} {text}, {a.memory_type} poison"
    value = e.text.value(f"shufflevector {operands}, {_lane_numbers(range(lanes), padded)}")
    whole, name = vector_text(a.memory, padded), f"@llvm.masked.store.v{padded}{a.suffix}.p0"
    pointer, mask = f"ptr align {a.align} {a.pointer}", _first_lanes(lanes, padded)
    e.text.line(f"call void {name}({whole} {value}, {pointer}, {mask})")


def _first_lanes(lanes: int, padded: int) -> str:
    return f"<{padded} x i1> <{', '.join(f'i1 {int(lane < lanes)}' for lane in range(padded))}>"


def _lane_numbers(picked: Sequence[int | None], length: int) -> str:
    """The mask of a shuffle that picks these lanes, the others being free."""
    numbers = ["poison" if lane is None else str(lane) for lane in (*picked, *[None] * (length - len(picked)))]
    return f"<{length} x i32> <{', '.join(f'i32 {number}' for number in numbers)}>"


def _load_near(
    e: Emitter, a: _Access, lanes: int, touched: tuple[str, str] | None = None, rest: str | None = None
) -> str:
    """Lanes a few elements apart: load all between the first and the last as whole vectors, and pick.

    Nothing outside is read: the last vector ends where the last lane is, and overlaps the one before. Where some lanes
    are not touched, what lies before the first that is and behind the last is `rest`, a scalar.
    """
    first = min(0, a.stride * (lanes - 1))
    span = abs(a.stride) * (lanes - 1) + 1
    whole = min(1 << (lanes - 1).bit_length(), span)
    starts = [min(i * whole, span - whole) for i in range(-(-span // whole))]
    positions = [a.stride * lane - first for lane in range(lanes)]
    type_ = vector_text(a.memory, whole)
    text, below = "poison", 0
    for start in starts:
        pointer = e.text.value(f"getelementptr inbounds {a.memory}, ptr {a.pointer}, i64 {first + start}")
        if touched is None:
            loaded = e.text.value(f"load {type_}, ptr {pointer}, align {a.align}")
        else:
            mask = _mask(e, whole, whole, _scaled(e, touched, a.stride, start))
            loaded = _load_between(e, a._replace(pointer=pointer, stride=1), whole, mask, rest)
        picks = [lane if at < below else whole + at - start for lane, at in enumerate(positions)]
        numbers = _lane_numbers([pick if pick < 2 * whole else None for pick in picks], whole)
        text = e.text.value(f"shufflevector {type_} {text}, {type_} {loaded}, {numbers}")
        below = start + whole
    return text if whole == lanes else _first_part(e, type_, text, lanes)


def _first_part(e: Emitter, type_: str, vector: str, lanes: int) -> str:
    return e.text.value(f"shufflevector {type_} {vector}, {type_} poison, {_lane_numbers(range(lanes), lanes)}")


def _lane_pointers(e: Emitter, a: _Access) -> list[str]:
    assert a.lanes is not None
    step = f"getelementptr inbounds {a.memory}, {a.address} {a.pointer}, i64 "
    return [a.pointer, *(e.text.value(f"{step}{a.stride * lane}") for lane in range(1, a.lanes))]


def _load_touched(e: Emitter, op: LoadOp, a: _Access, lanes: int, touched: tuple[str, str]) -> str:
    """Lanes that are not touched are what the load says, or zero."""
    rest, hint = None if op.otherwise is None else e.get(op.otherwise), op.result.name_hint
    if rest is not None and a.memory != a.element:
        rest = e.text.value(f"zext {a.element} {rest} to {a.memory}")
    if 1 < a.stride <= NEAR and e.module.target.partial_bits:
        return _load_near(e, a, lanes, touched, rest)
    if a.padded is not None:
        loaded = _load_between(e, a, a.padded, _mask(e, lanes, a.padded, touched), rest)
        return _first_part(e, vector_text(a.memory, a.padded), loaded, lanes)
    return _load_between(e, a, lanes, _mask(e, lanes, lanes, touched), rest, hint)


def _load_between(e: Emitter, a: _Access, lanes: int, mask: str, rest: str | None, hint: str | None = None) -> str:
    """Lanes under a mask, the others being `rest`, a scalar, or zero."""
    name, pointer = ("load", f"ptr align {a.align} {a.pointer}") if a.stride == 1 else ("gather", _pointers(e, a))
    type_, intrinsic = vector_text(a.memory, lanes), f"@llvm.masked.{name}.{_masked_suffix(a, lanes, name)}"
    filled = "zeroinitializer" if rest is None else splat_of(e, rest, a.memory, lanes)
    return e.text.value(f"call {type_} {intrinsic}({pointer}, {mask}, {type_} {filled})", hint)


def _scaled(e: Emitter, touched: tuple[str, str], stride: int, start: int) -> tuple[str, str]:
    """Between which elements, counted from `start`, these lanes lie that are `stride` apart."""
    first, end = (e.text.value(f"mul i64 {lane}, {stride}") for lane in touched)
    return e.text.value(f"sub i64 {first}, {start}"), e.text.value(f"sub i64 {end}, {start + stride - 1}")


def _store_touched(e: Emitter, a: _Access, lanes: int, touched: tuple[str, str], text: str) -> None:
    mask, value = _mask(e, lanes, lanes, touched), f"{a.memory_type} {text}"
    name, pointer = ("store", f"ptr align {a.align} {a.pointer}") if a.stride == 1 else ("scatter", _pointers(e, a))
    e.text.line(f"call void @llvm.masked.{name}.{_masked_suffix(a, lanes, name)}({value}, {pointer}, {mask})")


def _masked_suffix(a: _Access, lanes: int, name: str) -> str:
    return f"v{lanes}{a.suffix}.{'p0' if name in ('load', 'store') else f'v{lanes}p0'}"


def _pointers(e: Emitter, a: _Access) -> str:
    assert a.lanes is not None
    offsets = ", ".join(f"i64 {a.stride * lane}" for lane in range(a.lanes))
    pointers = e.text.value(f"getelementptr {a.memory}, ptr {a.pointer}, <{a.lanes} x i64> <{offsets}>")
    return f"<{a.lanes} x ptr> align {a.align} {pointers}"


def _mask(e: Emitter, lanes: int, whole: int, touched: tuple[str, str]) -> str:
    """A mask of those lanes, of the first `lanes` of `whole`, that lie between two numbers, compared in 32 bits, as
    wide as most elements."""
    value, type_ = e.text.value, f"<{whole} x i32>"
    numbers = f"{type_} <{', '.join(f'i32 {lane}' for lane in range(whole))}>"

    def splat(number: str) -> str:
        least = value(f"call i64 @llvm.smax.i64(i64 {number}, i64 0)")
        clamped = value(f"call i64 @llvm.smin.i64(i64 {least}, i64 {lanes})")
        return splat_of(e, value(f"trunc i64 {clamped} to i32"), "i32", whole)

    first, end = touched
    mask = value(f"icmp slt {numbers}, {splat(end)}")
    if first != "0":
        mask = value(f"and <{whole} x i1> {mask}, {value(f'icmp sge {numbers}, {splat(first)}')}")
    return f"<{whole} x i1> {mask}"


def _prefetch(e: Emitter, op: PrefetchOp) -> None:
    """Ask for what will be read; the address may lie outside of the buffer."""
    memory = llvm_type(stored_as(cast("MemRefType[Attribute]", op.memref.type).element_type, op), op)
    linear = sum((i * s for i, s in zip(op.indices.data, strides_of(op.memref, op), strict=True)), const(0))
    index = index_writer(e, op).expr(linear)
    pointer = e.text.value(f"getelementptr {memory}, ptr {e.get(op.memref)}, i64 {index}")
    e.text.line(f"call void @llvm.prefetch.p0(ptr {pointer}, i32 0, i32 {op.locality.value.data}, i32 1)")


# -- storage and views


def _alloca(e: Emitter, op: memref.AllocaOp) -> None:
    """Write an alloca in the entry block: one in a loop would grow the stack, and only one in the entry becomes
    registers."""
    check_scope(op)
    if is_of_intrinsics(memory_space(op.memref)):
        return  # what is in it are registers, which instructions name
    elements = element_count(op)
    e.scope.alloca_bytes = bytes_with(op, e.scope.alloca_bytes, e.name)
    element = llvm_type(stored_as(op.memref.type.element_type, op))
    e.set(op.memref, e.text.entry(f"alloca [{elements} x {element}], align 64", op.memref.name_hint or "local"))


def _reinterpret_cast(e: Emitter, op: memref.ReinterpretCastOp) -> None:
    """The same memory; only an offset moves the pointer."""
    (offset,) = op.static_offsets.get_values()
    source = e.get(op.source)
    index = e.get(op.offsets[0]) if offset == DYNAMIC_INDEX else str(offset)
    if index == "0":
        e.set(op.result, source)
        return
    element = cast("MemRefType[Attribute]", op.source.type).element_type
    memory = llvm_type(stored_as(element, op), op)
    e.scope.noalias.discard(source)  # from here on there are two ways to the memory
    e.define(op.result, f"getelementptr inbounds {memory}, {e.address(op.source)} {source}, {e.index} {index}")


def _cast(e: Emitter, op: memref.CastOp | BytesOp) -> None:
    e.set(op.results[0], e.get(op.source))


MEMORY_HANDLERS: Handlers = {
    LoadOp: _load,
    StoreOp: _store,
    PrefetchOp: _prefetch,
    memref.AllocaOp: _alloca,
    memref.ReinterpretCastOp: _reinterpret_cast,
    memref.CastOp: _cast,
    BytesOp: _cast,
}
