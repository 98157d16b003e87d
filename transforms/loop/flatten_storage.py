"""Give every buffer one dimension."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, VectorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.accesses import buffer_dims, element_count, element_strides, memref_type
from tilework.analysis.domains import Scope, kernel_scope, walk_scoped
from tilework.dialects.loop import ApplyOp, KernelOp, LoadOp, StoreOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.transforms.base import TileworkPass
from tilework.transforms.loop.rewriting import set_access


def _legal(op: Operation) -> str | None:
    if isinstance(op, LoadOp | StoreOp) and len(op.indices) != 1:
        return f"an access with {len(op.indices)} subscripts"
    return None


@dataclass(frozen=True)
class FlattenStorage(TileworkPass):
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

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration or op.body.block.first_op is None:
            return
        flattener = _Flattener(op.body.block.first_op)
        for inner, scope in walk_scoped(op.body.block, kernel_scope(op)):
            if isinstance(inner, LoadOp | StoreOp):
                flattener.access(inner, scope)
        for buffer in flattener.flat:
            if isinstance(buffer.owner, memref.AllocaOp):
                buffer.owner.detach()
                buffer.owner.erase()


@dataclass
class _Flattener:
    """Flat buffers and the strides that they had, by original buffer. `top` is the kernel's first operation."""

    top: Operation
    flat: dict[SSAValue, tuple[SSAValue, tuple[Expr, ...]]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, tuple[Expr, ...]]]
    )

    def access(self, op: LoadOp | StoreOp, scope: Scope) -> None:
        """Make one access one-dimensional."""
        if _is_flat(op.memref.type):
            return
        if op.memref not in self.flat:
            self.flat[op.memref] = self._flatten(op.memref, op)
        buffer, strides = self.flat[op.memref]
        position = sum((e * s for e, s in zip(op.exprs, strides, strict=True)), const(0))
        if strides[-1:] != (const(1),) and _is_vector(op):
            raise CompileError("vector access to a buffer whose last dimension is strided", op)
        first, count = op.lane_first, op.lane_count
        op.operands[op.operands.index(op.memref)] = buffer
        set_access(op, [scope.domain.simplify(position)], first=first, count=count)

    def _flatten(self, buffer: SSAValue, op: Operation) -> tuple[SSAValue, tuple[Expr, ...]]:
        dims = buffer_dims(buffer)
        strides = element_strides(buffer.type, dims, op)
        size = element_count(dims, strides)
        if isinstance(buffer, BlockArgument):
            flat = self._view(buffer, size)
        elif isinstance(buffer.owner, memref.AllocaOp):
            flat = self._allocate(buffer.owner, size)
        else:
            raise CompileError("access to a view that is not one-dimensional: expected an argument or an alloca", op)
        flat.name_hint = buffer.name_hint
        return flat, strides

    def _view(self, buffer: BlockArgument, size: Expr) -> SSAValue:
        block = self.top.parent_block()
        assert block is not None
        extent: SSAValue | int | None = size.constant
        if extent is None:
            apply = ApplyOp(size)
            block.insert_op_before(apply, self.top)
            extent = apply.result
        type_ = _flat_type(buffer.type, size)
        view = memref.ReinterpretCastOp.from_dynamic(buffer, [0], [extent], [1], type_)
        block.insert_op_before(view, self.top)
        return view.result

    def _allocate(self, old: memref.AllocaOp, size: Expr) -> SSAValue:
        new = memref.AllocaOp(
            operands=[[], []],
            result_types=[_flat_type(old.memref.type, size)],
            properties={"alignment": old.alignment},
        )
        copy_location(new, old)
        block = old.parent_block()
        assert block is not None
        block.insert_op_before(new, old)
        return new.memref


def _is_flat(type_: Attribute) -> bool:
    return memref_type(type_).get_num_dims() == 1 and element_strides(type_, (const(0),)) == (1,)


def _flat_type(type_: Attribute, size: Expr) -> MemRefType[Attribute]:
    old = memref_type(type_)
    extent = DYNAMIC_INDEX if size.constant is None else size.constant
    return MemRefType(old.element_type, [extent], memory_space=old.memory_space)


def _is_vector(op: LoadOp | StoreOp) -> bool:
    accessed = op.value if isinstance(op, StoreOp) else op.result
    return isinstance(accessed.type, VectorType)
