"""Keep 4-bit integers two to a byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import FunctionType, MemRefType, i8
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilework.analysis.accesses import accesses, element_position, memref_type, root_buffer
from tilework.analysis.packed_stores import check_whole_bytes
from tilework.dialects import arith
from tilework.dialects.loop import BytesOp, KernelOp, LoadOp, PrefetchOp, StoreOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import is_narrow
from tilework.transforms.base import TileworkPass
from tilework.transforms.loop.half_bytes import I4, load_halves, of_width, store_halves


def _legal(op: Operation) -> str | None:
    if isinstance(op, LoadOp | StoreOp | PrefetchOp) and is_narrow(op.memref.type):
        return f"an access to {op.memref.type}"
    return None


@dataclass(frozen=True)
class EmulateNarrowTypes(TileworkPass):
    """Load and store 4-bit integers by the bytes that they lie in.

    loop.for %i = 0 to 9 "i" {                    %b = loop.bytes %x : memref<9xi4> to memref<5xi8>
      %v = loop.load %x[%i] : memref<9xi4>        loop.for %i = 0 to 9 "i" {
                                           ->       %w = loop.load %b[%i floordiv 2] : memref<5xi8>
                                                    %s = arith.shrui %w, 4 * (%i mod 2) : i8
                                                    %v = arith.trunci %s : i8 to i4

    Inputs and outputs have two elements a byte; what is a kernel's own, local buffers and scratch, has one, which
    costs memory but no arithmetic. A vector of an even number of neighbours is bytes unpacked in registers, or, if it
    starts at an even element, packed; one with an even stride is bytes shifted; the others go lane by lane. A store
    reads a byte, replaces half of it and writes it: iterations of a parallel loop must own whole bytes, or the kernel
    is refused, as are threads of devices.
    Requires one-dimensional accesses and vectors (`loop-flatten-storage`, `loop-vectorize`); leaves no access to 4-bit
    integers.
    """

    name = "loop-emulate-narrow-types"
    anchor = KernelOp
    legal_after = staticmethod(_legal)

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        local = [inner.memref for inner in op.body.walk() if isinstance(inner, memref.AllocaOp)]
        if not any(is_narrow(buffer.type) for buffer in (*op.body.block.args, *local)):
            return
        halves = _Halves(op)
        for buffer, uses in accesses(op).items():
            if not is_narrow(buffer.type):
                continue
            if buffer in halves.buffers:
                check_whole_bytes([use for use in uses if isinstance(use, StoreOp)])
            for use in uses:
                halves.access(use) if buffer in halves.buffers else _widen_access(use)
        for prefetch in [inner for inner in op.body.walk() if isinstance(inner, PrefetchOp)]:
            if prefetch.memref in halves.buffers and is_narrow(prefetch.memref.type):
                halves.prefetch(prefetch)
        _widen_own_buffers(op, [*op.scratch, *local])


# -- what the caller sees: two elements to a byte


@dataclass
class _Halves:
    """Inputs and outputs, and the bytes of the views of them that are accessed."""

    kernel: KernelOp
    bytes_of: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    @property
    def buffers(self) -> tuple[SSAValue, ...]:
        return (*self.kernel.inputs, *self.kernel.outputs)

    def access(self, op: LoadOp | StoreOp) -> None:
        """Make an access one to bytes."""
        if op.memref not in self.bytes_of:
            self.bytes_of[op.memref] = self._bytes(op.memref)
        if isinstance(op, LoadOp):
            load_halves(op, self.bytes_of[op.memref])
        else:
            store_halves(op, self.bytes_of[op.memref])

    def prefetch(self, op: PrefetchOp) -> None:
        """Ask for the byte; what nothing loads is not asked for."""
        flat = next((memory for view, memory in self.bytes_of.items() if root_buffer(view) is op.memref), None)
        block = op.parent_block()
        assert block is not None
        if flat is not None:
            new = PrefetchOp(flat, [element_position(op) // 2], op.locality.value.data)
            copy_location(new, op)
            block.insert_op_before(new, op)
        op.detach()
        op.erase()

    def _bytes(self, view: SSAValue) -> SSAValue:
        new = BytesOp(view)
        new.result.name_hint = view.name_hint
        block = self.kernel.body.block
        if isinstance(view.owner, Operation):
            copy_location(new, view.owner)
            block.insert_op_after(new, view.owner)
        else:
            assert block.first_op is not None
            block.insert_op_before(new, block.first_op)
        return new.result


# -- what is a kernel's own: an element a byte


def _widen_access(op: LoadOp | StoreOp) -> None:
    """Access bytes whose low halves count; the buffer's type follows in `_widen`."""
    block = op.parent_block()
    assert block is not None
    if isinstance(op, StoreOp):
        wide = arith.ExtUIOp(op.value, of_width(op.value.type, i8))
        block.insert_op_before(wide, op)
        op.operands[0] = wide.result
        copy_location(wide, op)
        return
    type_ = op.result.type
    loaded = LoadOp(op.memref, op.exprs, of_width(type_, i8), op.lane_stride, op.lane_count)
    narrow = arith.TruncIOp(loaded.result, of_width(type_, I4))
    for new in (loaded, narrow):
        copy_location(new, op)
        block.insert_op_before(new, op)
    narrow.result.name_hint = op.result.name_hint
    op.result.replace_all_uses_with(narrow.result)
    op.detach()
    op.erase()


def _widen_own_buffers(kernel: KernelOp, buffers: Sequence[SSAValue]) -> None:
    for buffer in buffers:
        if is_narrow(buffer.type):
            _widen(buffer)
    types = list(kernel.body.block.arg_types)
    if types != list(kernel.function_type.inputs):
        kernel.function_type = FunctionType.from_lists(types, [])


def _widen(buffer: SSAValue) -> None:
    """Give a buffer and the views of it bytes for elements."""
    old = memref_type(buffer.type)
    new = Rewriter.replace_value_with_new_type(buffer, MemRefType(i8, old.shape, old.layout, old.memory_space))
    for use in list(new.uses):
        if isinstance(use.operation, memref.ReinterpretCastOp):
            _widen(use.operation.result)
