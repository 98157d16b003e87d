"""Give every buffer one dimension."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, VectorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.accesses import buffer_dims, element_count, element_strides, memref_type
from tilework.analysis.domains import Scopes
from tilework.dialects.loop import ApplyOp, KernelOp, LoadOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.transforms.loop.rewriting import set_access
from tilework.transforms.patterns import PatternPass


def _legal(op: Operation) -> str | None:
    if isinstance(op, LoadOp | StoreOp) and len(op.indices) != 1:
        return f"an access with {len(op.indices)} subscripts"
    return None


@dataclass(frozen=True)
class FlattenStorage(PatternPass):
    """Give every buffer one dimension, and every access one subscript: the distance from the first element.

    loop.kernel @k ins(%x: memref<4x8xf32>) ..      %xf = memref.reinterpret_cast %x to offset: [0], sizes: [32],
      %v = loop.load %x[%i, %j]                ->                strides: [1] : memref<4x8xf32> to memref<32xf32>
                                                    %v = loop.load %xf[8 * %i + %j] : memref<32xf32>

    Arguments are viewed flat at the top of the kernel, local buffers are allocated flat.
    Requires row-major or static strided layouts; leaves accesses with one subscript, simplified by the index ranges.
    """

    name = "loop-flatten-storage"
    anchor = KernelOp
    legal_after = staticmethod(_legal)

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, KernelOp)
        top = op.body.block.first_op
        assert top is not None
        return [FlattenAccess(top, Scopes()), EraseUnusedBuffer()]

    def operations(self, op: Operation) -> Iterable[Operation]:
        """Local buffers last, when nothing accesses them but in one dimension."""
        return sorted(super().operations(op), key=lambda inner: isinstance(inner, memref.AllocaOp))


@dataclass(frozen=True)
class FlattenAccess(RewritePattern):
    """An access to x[i, j] is one to x[i * columns + j], x being viewed, or allocated, with one dimension.

    top: the first operation of the kernel, in front of which arguments are viewed. flat: the flat buffers and the
    strides that they had, by original buffer.
    """

    top: Operation
    scopes: Scopes
    flat: dict[SSAValue, tuple[SSAValue, tuple[Expr, ...]]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, tuple[Expr, ...]]]
    )

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp | StoreOp, rewriter: PatternRewriter) -> None:
        old = op.memref
        if _is_flat(old.type):
            return
        if old not in self.flat:
            self.flat[old] = _flattened(old, op, InsertPoint.before(self.top), rewriter)
        buffer, strides = self.flat[old]
        position = sum((e * s for e, s in zip(op.exprs, strides, strict=True)), const(0))
        if strides[-1:] != (const(1),) and _is_vector(op):
            raise CompileError("vector access to a buffer whose last dimension is strided", op)
        first, count = op.lane_first, op.lane_count
        op.operands[op.operands.index(old)] = buffer
        set_access(op, [self.scopes.at(op).domain.simplify(position)], first=first, count=count)
        rewriter.notify_op_modified(op)


class EraseUnusedBuffer(RewritePattern):
    """A local buffer that nothing uses is not allocated."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.AllocaOp, rewriter: PatternRewriter) -> None:
        if op.memref.first_use is None:
            rewriter.erase(op)


def _flattened(
    buffer: SSAValue, op: LoadOp | StoreOp, top: InsertPoint, rewriter: PatternRewriter
) -> tuple[SSAValue, tuple[Expr, ...]]:
    dims = buffer_dims(buffer)
    strides = element_strides(buffer.type, dims, op)
    size = element_count(dims, strides)
    if isinstance(buffer, BlockArgument):
        flat = _view(buffer, size, top, rewriter)
    elif isinstance(buffer.owner, memref.AllocaOp):
        flat = _allocate(buffer.owner, size, rewriter)
    else:
        raise CompileError("access to a view that is not one-dimensional: expected an argument or an alloca", op)
    flat.name_hint = buffer.name_hint
    return flat, strides


def _view(buffer: BlockArgument, size: Expr, top: InsertPoint, rewriter: PatternRewriter) -> SSAValue:
    extent: SSAValue | int | None = size.constant
    if extent is None:
        extent = rewriter.insert(ApplyOp(size), top).result
    view = memref.ReinterpretCastOp.from_dynamic(buffer, [0], [extent], [1], _flat_type(buffer.type, size))
    return rewriter.insert(view, top).result


def _allocate(old: memref.AllocaOp, size: Expr, rewriter: PatternRewriter) -> SSAValue:
    new = memref.AllocaOp(
        operands=[[], []],
        result_types=[_flat_type(old.memref.type, size)],
        properties={"alignment": old.alignment},
        attributes=old.attributes,
    )
    copy_location(new, old)
    return rewriter.insert(new, InsertPoint.before(old)).memref


def _is_flat(type_: Attribute) -> bool:
    return memref_type(type_).get_num_dims() == 1 and element_strides(type_, (const(0),)) == (1,)


def _flat_type(type_: Attribute, size: Expr) -> MemRefType[Attribute]:
    old = memref_type(type_)
    extent = DYNAMIC_INDEX if size.constant is None else size.constant
    return MemRefType(old.element_type, [extent], memory_space=old.memory_space)


def _is_vector(op: LoadOp | StoreOp) -> bool:
    accessed = op.value if isinstance(op, StoreOp) else op.result
    return isinstance(accessed.type, VectorType)
