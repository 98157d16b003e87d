"""Buffers: loads, stores, local storage, views."""

from __future__ import annotations

from typing import NamedTuple, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.accesses import memory_space, strides_of
from tilework.backends.c_family.emit_index import index_writer, use_index_function
from tilework.backends.c_family.emitter import Emitter, Handlers
from tilework.backends.c_family.forms import Form
from tilework.backends.element_types import is_boolean, lanes_of, stored_as
from tilework.backends.local_buffers import bytes_with, check_scope, element_count
from tilework.dialects.loop import BytesOp, LoadOp, PrefetchOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.memory_scopes import is_of_intrinsics, untagged


class _Access(NamedTuple):
    """One load or store, decoded. position: of its first element, in elements. form: what lies in memory.

    lanes: how many of the form's the program has; stride: how many elements they are apart. touched: the first lane
    that is, and the one behind the last; None where all are.
    """

    buffer: str
    position: str
    form: Form
    lanes: int
    stride: int
    touched: tuple[str, str] | None

    @property
    def place(self) -> str:
        """The address of the first element."""
        return f"{self.buffer}[{self.position}]"


# -- places


def _decode(e: Emitter, op: LoadOp | StoreOp, accessed: SSAValue) -> _Access:
    _refuse_half_bytes(op)
    writer = index_writer(e, op)
    strides = strides_of(op.memref, op)
    position = _position(op, strides)
    lanes = lanes_of(accessed.type)
    first, count = (None if bound is None else writer.expr(bound.data[0]) for bound in (op.first, op.count))
    return _Access(
        e.get(op.memref),
        writer.expr(position),
        Form(e.memory_kind(op.memref), e.form(accessed).lanes),
        lanes or 1,
        1 if lanes is None else _lane_stride(op, strides[-1]),
        None if first is None and count is None else (first or "0", count or str(lanes)),
    )


def _refuse_half_bytes(op: LoadOp | StoreOp | PrefetchOp) -> None:
    stored_as(cast("MemRefType[Attribute]", op.memref.type).element_type, op)


def _position(op: LoadOp | StoreOp | PrefetchOp, strides: tuple[Expr, ...]) -> Expr:
    return sum((i * s for i, s in zip(op.indices.data, strides, strict=True)), const(0))


def _lane_stride(op: LoadOp | StoreOp, last: Expr) -> int:
    step = last.constant
    if step is None:
        raise CompileError(f"a vector access to {op.memref.type} needs a constant stride of the last dimension", op)
    return op.lane_stride * step


def _lane_places(e: Emitter, op: LoadOp | StoreOp, a: _Access) -> list[str]:
    """The elements of the lanes, from a pointer to the first of them."""
    first = e.variable(e.pointer(op.memref), f"&{a.place}", f"{a.buffer}_at")
    return [f"{first}[{lane * a.stride}]" for lane in range(a.lanes)]


# -- loads


def _load(e: Emitter, op: LoadOp) -> None:
    a = _decode(e, op, op.result)
    text = _loaded(e, op, a)
    if not is_boolean(op.result.type) and not e.is_mask(op.result):
        e.define(op.result, text)
    elif a.form.lanes is None:
        e.define(op.result, f"{text} != 0")
    else:
        e.define(op.result, f"{e.value(a.form, text)} != 0", a.form)


def _loaded(e: Emitter, op: LoadOp, a: _Access) -> str:
    if a.form.lanes is None:
        return a.place
    if a.stride == 0:
        return e.vectors.splat(e.file, a.form, a.place)
    if a.touched is not None:
        return _load_touched(e, op, a)
    if a.stride == 1:
        return e.vectors.loaded(e.file, a.form, a.place, a.lanes)
    return e.vectors.lanes(e.file, a.form, _lane_places(e, op, a))


def _load_touched(e: Emitter, op: LoadOp, a: _Access) -> str:
    """Lanes that are not touched are what the load says, or zero."""
    assert a.touched is not None
    name, rest = f"load_some_{a.lanes}_{a.form.suffix}", "0" if op.otherwise is None else e.get(op.otherwise)

    def write() -> str:
        element, type_ = e.type_of(a.form.scalar), e.type_of(a.form)
        for function in ("index_min", "index_max"):
            use_index_function(e, function)
        whole = e.vectors.loaded(e.file, a.form, "x[at]", a.lanes)
        parameters = f"const {element} *x, int64_t at, int64_t stride, int64_t first, int64_t end, {element} rest"
        return f"""\
/* Of {a.lanes} lanes those from `first` up to `end`; the others are `rest`. Only what is loaded is looked at. */
{e.spelling.helper} {type_} {name}({parameters}) {{
  if (first <= 0 && end >= {a.lanes} && stride == 1) return {whole};
  {type_} v = {e.vectors.splat(e.file, a.form, "rest")};
  for (int64_t lane = index_max(first, 0); lane < index_min(end, {a.lanes}); ++lane) {{
    {e.vectors.lane("v", "lane")} = x[at + stride * lane];
  }}
  return v;
}}
"""

    e.file.define_once(name, write)
    return f"{name}({a.buffer}, {a.position}, {a.stride}, {a.touched[0]}, {a.touched[1]}, {rest})"


# -- stores


def _store(e: Emitter, op: StoreOp) -> None:
    a = _decode(e, op, op.value)
    value = _stored(e, op, a)
    if a.form.lanes is None:
        e.text.line(f"{a.place} = {value};")
    elif a.stride == 0:
        raise CompileError("a store of a vector with stride 0 would write one element many times", op)
    elif a.touched is not None:
        _store_touched(e, a, value)
    elif a.stride == 1:
        e.text.line(e.vectors.stored(e.file, a.form, a.place, value, a.lanes))
    else:
        for lane, place in enumerate(_lane_places(e, op, a)):
            e.text.line(f"{place} = {e.vectors.lane(value, lane)};")


def _stored(e: Emitter, op: StoreOp, a: _Access) -> str:
    """The value as it lies in memory; that of a vector is a variable."""
    if e.is_mask(op.value):
        return e.value(a.form, f"-{e.mask(op.value, a.form)}")
    value = e.get(op.value)
    return value if a.form.lanes is None or value.isidentifier() else e.value(a.form, value)


def _store_touched(e: Emitter, a: _Access, value: str) -> None:
    assert a.touched is not None
    name = f"store_some_{a.lanes}_{a.form.suffix}"

    def write() -> str:
        element, type_ = e.type_of(a.form.scalar), e.type_of(a.form)
        for function in ("index_min", "index_max"):
            use_index_function(e, function)
        parameters = f"{element} *x, int64_t at, int64_t stride, int64_t first, int64_t end, {type_} v"
        return f"""\
/* Of {a.lanes} lanes, store those from `first` up to `end`. */
{e.spelling.helper} void {name}({parameters}) {{
  if (first <= 0 && end >= {a.lanes} && stride == 1) {{
    {e.vectors.stored(e.file, a.form, "x[at]", "v", a.lanes)}
    return;
  }}
  for (int64_t lane = index_max(first, 0); lane < index_min(end, {a.lanes}); ++lane) {{
    x[at + stride * lane] = {e.vectors.lane("v", "lane")};
  }}
}}
"""

    e.file.define_once(name, write)
    first, end = a.touched
    e.text.line(f"{name}({a.buffer}, {a.position}, {a.stride}, {first}, {end}, {value});")


def _prefetch(e: Emitter, op: PrefetchOp) -> None:
    """Ask for what will be read; the address may lie outside of the buffer."""
    _refuse_half_bytes(op)
    position = index_writer(e, op).expr(_position(op, strides_of(op.memref, op)))
    prefetch = e.spelling.builtin.format("prefetch")
    e.text.line(f"{prefetch}({e.get(op.memref)} + ({position}), 0, {op.locality.value.data});")


# -- storage and views


def _alloca(e: Emitter, op: memref.AllocaOp) -> None:
    check_scope(op)
    if is_of_intrinsics(memory_space(op.memref)):
        return  # what is in it are registers, which instructions name
    e.scope.local_bytes = bytes_with(op, e.scope.local_bytes, e.name)
    declare_buffer(e, op)


def declare_buffer(e: Emitter, op: memref.AllocaOp) -> None:
    """Append the declaration of a buffer of a function. Raises CompileError where its size is not known."""
    space = e.spelling.spaces.get(untagged(memory_space(op.memref)), "")
    element = e.spelling.scalars[e.memory_kind(op.memref)]
    name = e.text.fresh(op.memref.name_hint or "local")
    count = max(element_count(op), 1)
    e.text.line(e.spelling.local.format(type=f"{space}{element}", name=name, count=count), name)
    e.set(op.memref, name)


def _reinterpret_cast(e: Emitter, op: memref.ReinterpretCastOp) -> None:
    """The same memory; only an offset moves the pointer."""
    (offset,) = op.static_offsets.get_values()
    source = e.get(op.source)
    index = e.get(op.offsets[0]) if offset == DYNAMIC_INDEX else str(offset)
    _same_buffer(e, op.result, op.source)
    if index == "0":
        e.set(op.result, source)
        return
    e.scope.alone.discard(source)  # from here on there are two ways to the memory
    e.define(op.result, f"&{source}[{index}]")


def _cast(e: Emitter, op: memref.CastOp | BytesOp) -> None:
    _same_buffer(e, op.results[0], op.source)
    e.set(op.results[0], e.get(op.source))


def _same_buffer(e: Emitter, view: SSAValue, source: SSAValue) -> None:
    if source in e.read_only:
        e.read_only.add(view)


MEMORY_HANDLERS: Handlers = {
    LoadOp: _load,
    StoreOp: _store,
    PrefetchOp: _prefetch,
    memref.AllocaOp: _alloca,
    memref.ReinterpretCastOp: _reinterpret_cast,
    memref.CastOp: _cast,
    BytesOp: _cast,
}
