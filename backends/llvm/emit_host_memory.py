"""Buffers of the host function: views as pointer arithmetic, dimensions and strides as i64, copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.accesses import offset_of
from tilework.analysis.host_symbols import AT_RUN_TIME, NO_MEMORY
from tilework.backends.element_types import bytes_of, element_of, stored_as
from tilework.backends.host_signature import HostSignature
from tilework.backends.llvm.emit_host_heap import Heap, allocates, checked_size
from tilework.backends.llvm.emit_index import IndexWriter
from tilework.backends.llvm.emitter import Emitter, Handlers
from tilework.backends.llvm.llvm_types import constant, llvm_type
from tilework.backends.llvm.text import ModuleText, global_name
from tilework.dialects.loop import WordsOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.runtime.manifest import DeviceKernel


class HostEmitter(Emitter):
    """The state of emitting a host function: what is known of its arguments, and what was met on the way."""

    def __init__(self, module: ModuleText, handlers: Handlers, name: str):
        super().__init__(module, handlers, name)
        self.symbols: dict[str, str] = {}
        """Symbol -> the text of its value."""
        self.written: dict[str, int] = {}
        """Symbol that the function binds -> its place in the table of symbols."""
        self.argument_dims: dict[SSAValue, Sequence[Expr]] = {}
        self.parameters: dict[str, int] = {}
        """Name of a global -> its place in the table of parameters."""
        self.constants: dict[str, memref.GlobalOp] = {}
        """Globals with a value of their own."""
        self.threads = ""
        self.messages: dict[int, str] = {}
        self.required: list[tuple[SSAValue, str]] = []
        """Truth values that must hold when the function returns, and why the call has failed where one does not."""
        self.heap: Heap | None = None
        """Memory that is allocated while the function runs, where there is any."""
        self.grown: dict[SSAValue, int] = {}
        """Outputs of which data alone decide the size -> their places in the table of outputs."""
        self.invoked: Mapping[str, HostSignature] = {}
        """The functions that the program calls, by name."""
        self.frame_bytes, self.frame_end = const(0), ""
        """How large the temporaries of this function are, and where the room for those of all functions ends."""
        self.calls = 0
        self.devices: dict[str, int] = {}
        """Device -> its place in the table of devices."""
        self.launched: dict[str, list[DeviceKernel]] = {}
        """Device -> the kernels that it runs, in the order of their numbers."""

    def block(self, block: Block) -> None:
        """Write all operations of a block; memory that they allocate is given back where it ends."""
        is_inside = not isinstance(block.parent_op(), FuncOp)
        mark = self.heap.mark(self) if self.heap is not None and is_inside and allocates(block) else None
        super().block(block)
        if self.heap is not None and mark is not None:
            self.heap.release(self, mark)

    def leave(self, code: int | str) -> None:
        """Return that number."""
        if self.heap is not None:
            self.heap.release(self)
        self.text.line(f"ret i32 {code}")

    def return_unless(self, condition: str, message: str) -> None:
        """Return the number of a message where a condition does not hold."""
        code = len(self.messages) + 1
        self.messages[code] = message
        holds, fails = self.text.fresh("holds"), self.text.fresh("fails")
        self.text.branch_if(condition, holds, fails)
        self.text.start(fails)
        self.leave(code)
        self.text.start(holds)

    def dims_text(self, e: Expr) -> str:
        """The value of an expression over the symbols."""
        return IndexWriter(self.text, lambda key: self.symbols[str(key)]).expr(e)


def _type(value: SSAValue) -> MemRefType[Attribute]:
    return cast("MemRefType[Attribute]", value.type)


def _memory_type(value: SSAValue) -> str:
    return llvm_type(stored_as(_type(value).element_type))


# -- dimensions and strides


def dim_text(e: HostEmitter, buffer: SSAValue, axis: int) -> str:
    """One dimension of a buffer."""
    extent = _type(buffer).get_shape()[axis]
    if extent != DYNAMIC_INDEX:
        return str(extent)
    owner = buffer.owner
    match owner:
        case memref.ViewOp():
            dynamic = [i for i, s in enumerate(_type(buffer).get_shape()) if s == DYNAMIC_INDEX]
            return e.get(owner.sizes[dynamic.index(axis)])
        case memref.AllocOp():
            dynamic = [i for i, s in enumerate(_type(buffer).get_shape()) if s == DYNAMIC_INDEX]
            return e.get(owner.dynamic_sizes[dynamic.index(axis)])
        case memref.SubviewOp() | memref.ReinterpretCastOp():
            return _mixed(e, owner.static_sizes, owner.sizes)[axis]
        case memref.CastOp() | WordsOp():  # of words, the last dimension is known
            return dim_text(e, owner.source, axis)
        case _:
            return e.dims_text(e.argument_dims[buffer][axis])


def stride_texts(e: HostEmitter, buffer: SSAValue) -> list[str]:
    """How many elements apart neighbours along each dimension lie."""
    type_, owner = _type(buffer), buffer.owner
    if isinstance(type_.layout, NoneAttr):
        strides = ["1"]
        for axis in reversed(range(1, type_.get_num_dims())):
            strides.append(_times(e, strides[-1], dim_text(e, buffer, axis)))
        return strides[::-1] if type_.get_num_dims() else []
    assert isinstance(type_.layout, StridedLayoutAttr), type_
    static = type_.layout.get_strides()
    if None not in static:
        return [str(s) for s in static]
    if isinstance(owner, memref.SubviewOp):
        steps = _mixed(e, owner.static_strides, owner.strides)
        return [_times(e, a, b) for a, b in zip(stride_texts(e, owner.source), steps, strict=True)]
    if isinstance(owner, memref.ReinterpretCastOp):
        return _mixed(e, owner.static_strides, owner.strides)
    raise CompileError(
        f"the strides of a buffer of type {type_} are not known", owner if isinstance(owner, Operation) else None
    )


def _mixed(e: HostEmitter, static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[str]:
    """Numbers that are partly constants, partly operands."""
    operands = iter(dynamic)
    return [e.get(next(operands)) if v == DYNAMIC_INDEX else str(v) for v in static.get_values()]


def size_text(e: HostEmitter, buffer: SSAValue, op: Operation) -> str:
    """How many bytes a buffer without gaps takes."""
    size = str(bytes_of(stored_as(_type(buffer).element_type), op))
    for axis in range(_type(buffer).get_num_dims()):
        size = _times(e, size, dim_text(e, buffer, axis))
    return size


def _times(e: HostEmitter, a: str, b: str) -> str:
    if "1" in (a, b):
        return b if a == "1" else a
    if a.isdigit() and b.isdigit():
        return str(int(a) * int(b))
    return e.text.value(f"mul nsw i64 {a}, {b}")


def _advanced(e: HostEmitter, pointer: str, element: str, offsets: Sequence[tuple[str, str]]) -> str:
    """The pointer moved by the sum of offset * stride elements."""
    for offset, stride in offsets:
        if offset != "0":
            pointer = e.text.value(f"getelementptr {element}, ptr {pointer}, i64 {_times(e, offset, stride)}")
    return pointer


# -- operations


def _dim(e: HostEmitter, op: memref.DimOp) -> None:
    axis = e.get(op.index)
    if not axis.isdigit():
        raise CompileError("memref.dim on the host takes a constant axis", op)
    e.set(op.result, dim_text(e, op.source, int(axis)))


def _get_global(e: HostEmitter, op: memref.GetGlobalOp) -> None:
    name = op.name_.root_reference.data
    if name in e.constants:
        e.module.define_once(name, lambda: _constant_text(e.constants[name]))
        e.set(op.memref, global_name(name))
        return
    if name not in e.parameters:
        raise CompileError(f"no memref.global @{name} in the module", op)
    slot = e.text.value(f"getelementptr ptr, ptr %parameters, i64 {e.parameters[name]}")
    e.define(op.memref, f"load ptr, ptr {slot}, align 8")


def _constant_text(op: memref.GlobalOp) -> str:
    """A small constant as data of the module."""
    value = op.initial_value
    assert isinstance(value, DenseIntOrFPElementsAttr)
    element = stored_as(element_of(op.type))
    type_ = llvm_type(element, op)
    texts = [f"{type_} {constant(v, element, op)}" for v in cast("list[float]", value.get_values())]
    return (
        f"{global_name(op.sym_name.data)} = private constant [{len(texts)} x {type_}] [{', '.join(texts)}], align 64\n"
    )


def _view(e: HostEmitter, op: memref.ViewOp) -> None:
    e.set(op.result, _advanced(e, e.get(op.source), "i8", [(e.get(op.byte_shift), "1")]))


def _subview(e: HostEmitter, op: memref.SubviewOp) -> None:
    offsets = _mixed(e, op.static_offsets, op.offsets)
    moves = list(zip(offsets, stride_texts(e, op.source), strict=True))
    e.set(op.result, _advanced(e, e.get(op.source), _memory_type(op.source), moves))


def _reinterpret_cast(e: HostEmitter, op: memref.ReinterpretCastOp) -> None:
    """The offset counts from the beginning of the memory, of which the source may be a later part."""
    (offset,) = _mixed(e, op.static_offsets, op.offsets)
    moves = [(offset, "1"), (str(-offset_of(op.source.type)), "1")]
    e.set(op.result, _advanced(e, e.get(op.source), _memory_type(op.source), moves))


def _cast(e: HostEmitter, op: memref.CastOp | WordsOp) -> None:
    e.set(op.results[0], e.get(op.source))


def copy(e: HostEmitter, op: memref.CopyOp) -> None:
    """Copy what is in the memory of the host."""
    source, target = op.source, op.destination
    if target in e.grown:
        _grow(e, target, op)
    axes = range(_type(source).get_num_dims())
    if all(isinstance(_type(v).layout, NoneAttr) for v in (source, target)):
        size = size_text(e, source, op)
        e.text.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {e.get(target)}, ptr {e.get(source)}, i64 {size}, i1 false)")
        return
    extents = [dim_text(e, source, axis) for axis in axes]
    strides = list(zip(stride_texts(e, source), stride_texts(e, target), strict=True))
    _copy_loops(e, _memory_type(source), (e.get(source), e.get(target)), extents, strides)


def _copy_loops(
    e: HostEmitter, type_: str, pointers: tuple[str, str], extents: Sequence[str], strides: Sequence[tuple[str, str]]
) -> None:
    """Loops over the extents, from the outermost; LLVM makes memcpy or vectors of the innermost."""
    text = e.text
    if not extents:
        text.line(f"store {type_} {text.value(f'load {type_}, ptr {pointers[0]}')}, ptr {pointers[1]}")
        return
    index, body, end, before = text.fresh("c"), text.fresh("c.body"), text.fresh("c.end"), text.block
    text.branch_if(text.value(f"icmp slt i64 0, {extents[0]}"), body, end)
    text.start(body)
    phi = text.line_later()
    inner = [_advanced(e, p, type_, [(index, s)]) for p, s in zip(pointers, strides[0], strict=True)]
    _copy_loops(e, type_, (inner[0], inner[1]), extents[1:], strides[1:])
    following = text.value(f"add nsw i64 {index}, 1")
    text.set_line(phi, f"{index} = phi i64 [ 0, %{before} ], [ {following}, %{text.block} ]")
    text.branch_if(text.value(f"icmp slt i64 {following}, {extents[0]}"), body, end)
    text.start(end)


def _load(e: HostEmitter, op: memref.LoadOp) -> None:
    """The one element of a buffer without dimensions; of a truth value, its last bit."""
    type_ = _memory_type(op.memref)
    loaded = e.text.value(f"load {type_}, ptr {e.get(op.memref)}", op.res.name_hint)
    e.set(op.res, loaded if type_ == e.type(op.res) else e.text.value(f"trunc {type_} {loaded} to {e.type(op.res)}"))


def _alloc(e: HostEmitter, op: memref.AllocOp) -> None:
    """Memory for a tensor of which data alone decide the size."""
    if AT_RUN_TIME not in op.attributes or e.heap is None:
        raise CompileError("a temporary without a place in the arena: run loop-plan-memory before", op)
    dynamic = iter(op.dynamic_sizes)
    shape = _type(op.memref).get_shape()
    dims = [e.get(next(dynamic)) if extent == DYNAMIC_INDEX else str(extent) for extent in shape]
    e.set(op.memref, _taken(e, dims, op.memref, op))


def _taken(e: HostEmitter, dims: Sequence[str], buffer: SSAValue, op: Operation) -> str:
    assert e.heap is not None
    size, is_possible = checked_size(e, dims, bytes_of(stored_as(_type(buffer).element_type), op))
    e.return_unless(is_possible, NO_MEMORY)
    taken = e.heap.take(e, size)
    e.return_unless(e.text.value(f"icmp ne ptr {taken}, null"), NO_MEMORY)
    return taken


def _grow(e: HostEmitter, output: SSAValue, op: Operation) -> None:
    """Allocate an output, which the caller frees."""
    dims = [dim_text(e, output, axis) for axis in range(_type(output).get_num_dims())]
    size, is_possible = checked_size(e, dims, bytes_of(stored_as(_type(output).element_type), op))
    e.return_unless(is_possible, NO_MEMORY)
    memory = e.text.value(f"call ptr @malloc(i64 {e.text.value(f'add i64 {size}, 1')})")  # none of 0 bytes
    slot = e.text.value(f"getelementptr ptr, ptr %outputs, i64 {e.grown[output]}")
    e.text.line(f"store ptr {memory}, ptr {slot}, align 8")
    e.return_unless(e.text.value(f"icmp ne ptr {memory}, null"), NO_MEMORY)
    e.set(output, memory)


HOST_MEMORY_HANDLERS: Handlers = {
    memref.AllocOp: _alloc,
    memref.DimOp: _dim,
    memref.LoadOp: _load,
    memref.GetGlobalOp: _get_global,
    memref.ViewOp: _view,
    memref.SubviewOp: _subview,
    memref.ReinterpretCastOp: _reinterpret_cast,
    memref.CastOp: _cast,
    WordsOp: _cast,
}
