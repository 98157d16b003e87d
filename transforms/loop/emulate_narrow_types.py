"""Keep 4-bit integers two to a byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.dialects.builtin import FunctionType, MemRefType, i8
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.analysis.accesses import accesses, element_position, memref_type, root_buffer
from tilework.analysis.packed_stores import check_whole_bytes
from tilework.dialects import arith
from tilework.dialects.loop import BytesOp, KernelOp, LoadOp, PrefetchOp, StoreOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import is_narrow
from tilework.transforms.loop.half_bytes import I4, load_halves, of_width, store_halves
from tilework.transforms.patterns import PatternPass


def _legal(op: Operation) -> str | None:
    if isinstance(op, LoadOp | StoreOp | PrefetchOp) and is_narrow(op.memref.type):
        return f"an access to {op.memref.type}"
    return None


@dataclass(frozen=True)
class EmulateNarrowTypes(PatternPass):
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

    def operations(self, op: Operation) -> Iterable[Operation]:
        """What is passed in or out, buffer by buffer, then prefetches of that, then what is the kernel's own."""
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return []
        inside = list(super().operations(op))
        local = [inner for inner in inside if isinstance(inner, memref.AllocaOp)]
        if not any(is_narrow(v.type) for v in (*op.body.block.args, *(alloca.memref for alloca in local))):
            return []
        prefetches = [inner for inner in inside if isinstance(inner, PrefetchOp)]
        return [*(use for uses in accesses(op).values() for use in uses), *prefetches, op, *local]

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, KernelOp)
        halves = _Halves(op)
        return [LoadHalves(halves), StoreHalves(halves), PrefetchHalves(halves), WidenScratch(), WidenLocal()]


# -- what the caller sees: two elements to a byte


@dataclass
class _Halves:
    """Inputs and outputs of 4-bit integers, and the bytes of the views of them that are accessed."""

    kernel: KernelOp
    bytes_of: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def __post_init__(self) -> None:
        self.buffers: list[SSAValue] = [v for v in (*self.kernel.inputs, *self.kernel.outputs) if is_narrow(v.type)]
        uses = accesses(self.kernel)
        self.unchecked = {v: [use for use in uses.get(v, ()) if isinstance(use, StoreOp)] for v in self.buffers}

    def has(self, view: SSAValue) -> bool:
        """Whether memory is passed in or out in halves of bytes."""
        return is_narrow(view.type) and root_buffer(view) in self.buffers

    def bytes_for(self, view: SSAValue, rewriter: PatternRewriter) -> SSAValue:
        """The bytes of a buffer, or of a view of one; CompileError if threads may write to one of them together."""
        check_whole_bytes(self.unchecked.pop(root_buffer(view), ()))
        if view not in self.bytes_of:
            self.bytes_of[view] = self._bytes(view, rewriter)
        return self.bytes_of[view]

    def _bytes(self, view: SSAValue, rewriter: PatternRewriter) -> SSAValue:
        new = BytesOp(view)
        new.result.name_hint = view.name_hint
        if isinstance(view.owner, Operation):
            copy_location(new, view.owner)
            return rewriter.insert(new, InsertPoint.after(view.owner)).result
        return rewriter.insert(new, InsertPoint.at_start(self.kernel.body.block)).result


@dataclass(frozen=True)
class LoadHalves(RewritePattern):
    """An element of 4 bits that is passed in or out is loaded as a half of a byte."""

    halves: _Halves

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter) -> None:
        if self.halves.has(op.memref):
            load_halves(op, self.halves.bytes_for(op.memref, rewriter), rewriter)


@dataclass(frozen=True)
class StoreHalves(RewritePattern):
    """An element of 4 bits that is passed in or out is stored as a half of a byte, of which the other half stays."""

    halves: _Halves

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: StoreOp, rewriter: PatternRewriter) -> None:
        if self.halves.has(op.memref):
            store_halves(op, self.halves.bytes_for(op.memref, rewriter), rewriter)


@dataclass(frozen=True)
class PrefetchHalves(RewritePattern):
    """Two elements of 4 bits are asked for by their byte, and what nothing loads is not asked for."""

    halves: _Halves

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: PrefetchOp, rewriter: PatternRewriter) -> None:
        if not self.halves.has(op.memref):
            return
        flat = next((memory for view, memory in self.halves.bytes_of.items() if root_buffer(view) is op.memref), None)
        if flat is None:
            rewriter.erase(op)
            return
        new = PrefetchOp(flat, [element_position(op) // 2], op.locality.value.data)
        copy_location(new, op)
        rewriter.replace(op, new)


# -- what is a kernel's own: an element a byte


class WidenScratch(RewritePattern):
    """Elements of 4 bits of scratch are bytes of which the low half counts."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        narrow = [buffer for buffer in op.scratch if is_narrow(buffer.type)]
        for buffer in narrow:
            _widen(buffer, rewriter)
        if narrow:
            op.function_type = FunctionType.from_lists(list(op.body.block.arg_types), [])


class WidenLocal(RewritePattern):
    """Elements of 4 bits of a local buffer are bytes of which the low half counts."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.AllocaOp, rewriter: PatternRewriter) -> None:
        if is_narrow(op.memref.type):
            _widen(op.memref, rewriter)


def _widen(buffer: SSAValue, rewriter: PatternRewriter) -> None:
    """Give a buffer and the views of it bytes for elements, and let accesses to them convert."""
    for user in [use.operation for use in buffer.uses]:
        match user:
            case memref.ReinterpretCastOp():
                _widen(user.result, rewriter)
            case LoadOp():
                _load_wide(user, rewriter)
            case StoreOp():
                wide = arith.ExtUIOp(user.value, of_width(user.value.type, i8))
                copy_location(wide, user)
                user.operands[0] = rewriter.insert(wide, InsertPoint.before(user)).result
            case _:
                pass
    old = memref_type(buffer.type)
    rewriter.replace_value_with_new_type(buffer, MemRefType(i8, old.shape, old.layout, old.memory_space))


def _load_wide(op: LoadOp, rewriter: PatternRewriter) -> None:
    type_ = op.result.type
    loaded = LoadOp(op.memref, op.exprs, of_width(type_, i8), op.lane_stride, op.lane_count)
    narrow = arith.TruncIOp(loaded.result, of_width(type_, I4))
    copy_location([loaded, narrow], op)
    rewriter.insert([loaded, narrow], InsertPoint.before(op))
    narrow.result.name_hint = op.result.name_hint
    rewriter.replace(op, [], [narrow.result])
