"""Buffers of the host function: views as pointers, dimensions and strides as numbers, copies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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

from tilework.algebra.c_index import CIndex
from tilework.algebra.c_names import c_name
from tilework.algebra.index_expr import Expr, const
from tilework.analysis.accesses import offset_of
from tilework.analysis.host_symbols import AT_RUN_TIME, NO_MEMORY
from tilework.backends.c_family.c_text import FileText
from tilework.backends.c_family.emit_host_heap import Heap, allocates, checked_size
from tilework.backends.c_family.emit_index import use_index_function
from tilework.backends.c_family.emitter import Emitter, Handlers
from tilework.backends.c_family.forms import Form, memory_kind
from tilework.backends.c_family.halves import plain_number
from tilework.backends.c_family.spelling import Spelling
from tilework.backends.host_signature import HostSignature
from tilework.dialects.loop import WordsOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.runtime.manifest import DeviceKernel


class HostEmitter(Emitter):
    """The state of emitting a host function: what is known of its arguments, and what was met on the way."""

    def __init__(self, file: FileText, spelling: Spelling, handlers: Handlers, name: str, taken: Collection[str]):
        super().__init__(file, spelling, handlers, name, taken)
        self.symbols: dict[str, str] = {}
        """The variable of C that holds each symbol."""
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
        self.device_table = ""
        self.devices: dict[str, int] = {}
        """Device -> its place in the table of devices."""
        self.launched: dict[str, list[DeviceKernel]] = {}
        """Device -> the kernels that it runs, in the order of their numbers."""

    def block(self, block: Block) -> None:
        """Write the operations of a block; memory that they allocate is given back where it ends."""
        is_inside = not isinstance(block.parent_op(), FuncOp)
        mark = self.heap.mark(self) if self.heap is not None and is_inside and allocates(block) else None
        super().block(block)
        if self.heap is not None and mark is not None:
            self.heap.release(self, mark)

    def return_unless(self, condition: str, message: str) -> None:
        """Return the number of a message where a condition does not hold."""
        code = len(self.messages) + 1
        self.messages[code] = message
        leave = f"return {code};" if self.heap is None else f"{{ {self.heap.released()} return {code}; }}"
        self.text.line(f"if (!{condition}) {leave}")

    def dims_text(self, e: Expr) -> str:
        """The value of an expression over the symbols."""
        writer = CIndex(lambda key: self.symbols[str(key)], lambda name: use_index_function(self, name))
        return writer.operand(e)

    def element(self, type_: MemRefType[Attribute]) -> str:
        """The C type of a buffer's elements."""
        return self.spelling.scalars[memory_kind(type_.element_type)]


def _type(value: SSAValue) -> MemRefType[Attribute]:
    return cast("MemRefType[Attribute]", value.type)


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
            strides.append(_times(strides[-1], dim_text(e, buffer, axis)))
        return strides[::-1] if type_.get_num_dims() else []
    assert isinstance(type_.layout, StridedLayoutAttr), type_
    static = type_.layout.get_strides()
    if None not in static:
        return [str(s) for s in static]
    if isinstance(owner, memref.SubviewOp):
        steps = _mixed(e, owner.static_strides, owner.strides)
        return [_times(a, b) for a, b in zip(stride_texts(e, owner.source), steps, strict=True)]
    if isinstance(owner, memref.ReinterpretCastOp):
        return _mixed(e, owner.static_strides, owner.strides)
    raise CompileError(
        f"the strides of a buffer of type {type_} are not known", owner if isinstance(owner, Operation) else None
    )


def _mixed(e: HostEmitter, static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[str]:
    """Numbers that are partly constants, partly operands."""
    operands = iter(dynamic)
    return [e.get(next(operands)) if v == DYNAMIC_INDEX else str(v) for v in static.get_values()]


def _times(a: str, b: str) -> str:
    if "1" in (a, b):
        return b if a == "1" else a
    if a.isdigit() and b.isdigit():
        return str(int(a) * int(b))
    return f"{a} * {b}"


def _moved(pointer: str, offsets: Sequence[tuple[str, str]]) -> str:
    """The pointer moved by the sum of offset * stride elements."""
    return " + ".join([pointer, *(_times(offset, stride) for offset, stride in offsets if offset != "0")])


# -- operations


def _define_view(e: HostEmitter, view: SSAValue, expression: str) -> None:
    """Let a buffer be a pointer; one that is another one needs no variable."""
    if expression.isidentifier():
        e.set(view, expression)
    else:
        e.define(view, expression)


def _dim(e: HostEmitter, op: memref.DimOp) -> None:
    axis = e.get(op.index)
    if not axis.isdigit():
        raise CompileError("memref.dim on the host takes a constant axis", op)
    text = dim_text(e, op.source, int(axis))
    if text.isidentifier() or text.isdigit():
        e.set(op.result, text)
    else:
        e.define(op.result, text)


def _get_global(e: HostEmitter, op: memref.GetGlobalOp) -> None:
    name = op.name_.root_reference.data
    if name in e.constants:
        constant = f"constant_{c_name(name)}"
        e.file.define_once(constant, lambda: _constant_text(e, e.constants[name], constant))
        e.read_only.add(op.memref)
        e.set(op.memref, constant)
        return
    if name not in e.parameters:
        raise CompileError(f"no memref.global @{name} in the module", op)
    e.define(op.memref, f"parameters[{e.parameters[name]}]")


def _constant_text(e: HostEmitter, op: memref.GlobalOp, name: str) -> str:
    """A small constant as data of the file."""
    value, type_ = op.initial_value, op.type
    assert isinstance(value, DenseIntOrFPElementsAttr)
    element, values = type_.element_type, cast("list[float]", value.get_values())
    texts = [e.c.number(Form(memory_kind(element)), plain_number(number, element)) for number in values]
    head = f"static const {e.element(type_)} {name}[] __attribute__((aligned(64)))"
    return f"{head} = {{{', '.join(texts) or '0'}}};\n"


def _view(e: HostEmitter, op: memref.ViewOp) -> None:
    moved = _moved(e.get(op.source), [(e.get(op.byte_shift), "1")])
    _define_view(e, op.result, f"(void *)({moved})")


def _subview(e: HostEmitter, op: memref.SubviewOp) -> None:
    offsets = _mixed(e, op.static_offsets, op.offsets)
    moves = list(zip(offsets, stride_texts(e, op.source), strict=True))
    _keep_read_only(e, op.result, op.source)
    _define_view(e, op.result, _moved(e.get(op.source), moves))


def _reinterpret_cast(e: HostEmitter, op: memref.ReinterpretCastOp) -> None:
    """The offset counts from the beginning of the memory, of which the source may be a later part."""
    (offset,) = _mixed(e, op.static_offsets, op.offsets)
    before = offset_of(op.source.type)
    moves = [(offset, "1"), *([(f"-{before}", "1")] if before else [])]
    _keep_read_only(e, op.result, op.source)
    _define_view(e, op.result, _moved(e.get(op.source), moves))


def _cast(e: HostEmitter, op: memref.CastOp) -> None:
    _keep_read_only(e, op.results[0], op.source)
    e.set(op.results[0], e.get(op.source))


def _words(e: HostEmitter, op: WordsOp) -> None:
    _keep_read_only(e, op.result, op.source)
    e.define(op.result, f"({e.pointer(op.result)}){e.get(op.source)}")


def _keep_read_only(e: HostEmitter, view: SSAValue, source: SSAValue) -> None:
    if source in e.read_only:
        e.read_only.add(view)


def size_text(e: HostEmitter, buffer: SSAValue) -> str:
    """How many bytes a buffer without gaps takes."""
    size = str(Form(e.memory_kind(buffer)).bytes)
    for axis in range(_type(buffer).get_num_dims()):
        size = _times(size, dim_text(e, buffer, axis))
    return size


def copy(e: HostEmitter, op: memref.CopyOp) -> None:
    """Copy what is in the memory of the host."""
    source, target = op.source, op.destination
    if target in e.grown:
        _grow(e, target)
    axes = range(_type(source).get_num_dims())
    if all(isinstance(_type(v).layout, NoneAttr) for v in (source, target)):
        size = size_text(e, source)
        e.text.line(f"{e.spelling.builtin.format('memcpy')}({e.get(target)}, {e.get(source)}, {size});")
        return
    extents = [dim_text(e, source, axis) for axis in axes]
    strides = zip(stride_texts(e, source), stride_texts(e, target), strict=True)
    positions: tuple[list[str], list[str]] = ([], [])
    for extent, steps in zip(extents, strides, strict=True):
        index = e.text.free("c")
        e.text.open(f"for (int64_t {index} = 0; {index} < {extent}; ++{index})", index)
        for position, step in zip(positions, steps, strict=True):
            position.append(_times(index, step))
    read, written = (" + ".join(position) or "0" for position in positions)
    e.text.line(f"{e.get(target)}[{written}] = {e.get(source)}[{read}];")
    for _ in axes:
        e.text.close()


def _load(e: HostEmitter, op: memref.LoadOp) -> None:
    """The one element of a buffer without dimensions."""
    e.define(op.res, f"{e.get(op.memref)}[0]")


def _alloc(e: HostEmitter, op: memref.AllocOp) -> None:
    """Memory for a tensor of which data alone decide the size."""
    if AT_RUN_TIME not in op.attributes or e.heap is None:
        raise CompileError("a temporary without a place in the arena: run loop-plan-memory before", op)
    dynamic = iter(op.dynamic_sizes)
    shape = _type(op.memref).get_shape()
    dims = [e.get(next(dynamic)) if extent == DYNAMIC_INDEX else str(extent) for extent in shape]
    size, is_possible = checked_size(dims, Form(e.memory_kind(op.memref)).bytes)
    e.return_unless(is_possible, NO_MEMORY)
    e.define(op.memref, e.heap.take(size))
    e.return_unless(e.get(op.memref), NO_MEMORY)


def _grow(e: HostEmitter, output: SSAValue) -> None:
    """Allocate an output, which the caller frees."""
    dims = [dim_text(e, output, axis) for axis in range(_type(output).get_num_dims())]
    size, is_possible = checked_size(dims, Form(e.memory_kind(output)).bytes)
    e.return_unless(is_possible, NO_MEMORY)
    slot = f"outputs[{e.grown[output]}]"
    e.text.line(f"{slot} = __builtin_malloc({size} + 1);")  # none of 0 bytes
    e.return_unless(slot, NO_MEMORY)
    e.define(output, slot)


HOST_MEMORY_HANDLERS: Handlers = {
    memref.AllocOp: _alloc,
    memref.DimOp: _dim,
    memref.LoadOp: _load,
    memref.GetGlobalOp: _get_global,
    memref.ViewOp: _view,
    memref.SubviewOp: _subview,
    memref.ReinterpretCastOp: _reinterpret_cast,
    memref.CastOp: _cast,
    WordsOp: _words,
}
