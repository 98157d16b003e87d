"""Where the tensors of a host function lie: in buffers of their own, in outputs, in parts of others' buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, StridedLayoutAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.post_dominators import VIEW
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.graph.movement import ConcatOp, SliceOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.shapes import dims_of, tensor_type
from tilework.lowering.host_shapes import HostShapes, memref_type, row_major_strides
from tilework.lowering.te_kernels import Layout


@dataclass(frozen=True)
class InOutput:
    """The tensor is made in the buffer of output `index`, which has equally many elements."""

    index: int


@dataclass(frozen=True)
class InConcat:
    """The tensor is made in its part of the buffer of `concat`, whose operand `index` it is."""

    concat: ConcatOp
    index: int


Placement: TypeAlias = InOutput | InConcat


@dataclass(frozen=True)
class Plan:
    """Where tensors are made that get no buffer of their own, and what is copied: (tensor, index of the output)."""

    placements: Mapping[SSAValue, Placement]
    copies: Sequence[tuple[SSAValue, int]]


def plan_placements(ops: Sequence[Operation], returned: Sequence[SSAValue]) -> Plan:
    """Let kernels write into concatenations and outputs directly, wherever nothing else claims the tensor.

    Raises CompileError for a concatenation marked as a view one of whose operands cannot be made in its part.
    """
    placements: dict[SSAValue, Placement] = {}
    for op in ops:
        if not (isinstance(op, ConcatOp) and VIEW in op.attributes):
            continue
        for i, operand in enumerate(op.operands):
            if operand in placements or not is_made_here(operand):
                raise CompileError(f"operand {i} of a concatenation marked as a view cannot be made inside of it", op)
            placements[operand] = InConcat(op, i)
    copies: list[tuple[SSAValue, int]] = []
    for index, value in enumerate(returned):
        source = value
        while isinstance(source.owner, ReshapeOp) and VIEW in source.owner.attributes:
            source = source.owner.input
        if source in placements or not is_made_here(source):
            copies.append((value, index))
        else:
            placements[source] = InOutput(index)
    return Plan(placements, copies)


def is_made_here(value: SSAValue) -> bool:
    """Whether kernels of this function write the tensor, and so can be told where."""
    made = value.owner
    return isinstance(made, FusedOp) or (isinstance(made, ConcatOp) and VIEW in made.attributes)


class HostBuffers:
    """The buffers of a function's tensors, made when first asked for."""

    def __init__(self, at: Builder, shapes: HostShapes, outputs: Sequence[SSAValue], plan: Plan):
        self._at = at
        self._shapes = shapes
        self._outputs = outputs
        self._plan = plan
        self._buffers: dict[SSAValue, SSAValue] = {}

    def put(self, tensor: SSAValue, buffer: SSAValue) -> None:
        """Say where a tensor lies."""
        self._buffers[tensor] = buffer
        buffer.name_hint = buffer.name_hint or tensor.name_hint

    def of(self, tensor: SSAValue) -> SSAValue:
        """The buffer of a tensor; for one that has none yet, allocated, or part of the buffer that it is planned in."""
        enclosing: list[tuple[SSAValue, InConcat]] = []
        while tensor not in self._buffers and isinstance(place := self._plan.placements.get(tensor), InConcat):
            enclosing.append((tensor, place))
            tensor = place.concat.result
        if tensor not in self._buffers:
            self.put(tensor, self._whole(tensor))
        for part, place in reversed(enclosing):
            self.put(part, self._part(self._buffers[tensor], place))
            tensor = part
        return self._buffers[tensor]

    def _whole(self, tensor: SSAValue) -> SSAValue:
        place = self._plan.placements.get(tensor)
        if isinstance(place, InOutput):
            return self._reshaped(self._outputs[place.index], tensor)
        sizes = self._shapes.dynamic_sizes(dims_of(tensor.type))
        return self._at.insert(memref.AllocOp(sizes, [], memref_type(tensor.type))).memref

    def _part(self, whole: SSAValue, place: InConcat) -> SSAValue:
        concat, axis = place.concat, place.concat.axis.value.data
        dims = concat.dims(place.index)
        offsets = [const(0)] * len(dims)
        offsets[axis] = sum((concat.dims(i)[axis] for i in range(place.index)), const(0))
        return self._subview(whole, dims_of(concat.result.type), offsets, dims, [1] * len(dims), concat)

    def alias_reshape(self, op: ReshapeOp) -> None:
        """The result lies where the operand does."""
        self.put(op.result, self._reshaped(self.of(op.input), op.result, op))

    def alias_slice(self, op: SliceOp) -> None:
        """The result is a part of the operand."""
        kept, dims = op.ranges(), dims_of(op.result.type)
        offsets = [const(kept[axis].start if axis in kept else 0) for axis in range(len(dims))]
        steps = [kept[axis].step if axis in kept else 1 for axis in range(len(dims))]
        if min(steps, default=1) < 1:
            raise CompileError("a slice that walks backwards is no view", op)
        self.put(op.result, self._subview(self.of(op.input), op.dims(0), offsets, dims, steps, op))

    def _reshaped(self, buffer: SSAValue, tensor: SSAValue, op: Operation | None = None) -> SSAValue:
        assert isa(buffer.type, MemRefType)
        if buffer.type == memref_type(tensor.type):
            return buffer
        if isinstance(buffer.type.layout, StridedLayoutAttr):
            raise CompileError("a part of another tensor's buffer cannot be reshaped in place", op)
        dims = dims_of(tensor.type)
        strides = self._shapes.sizes(row_major_strides(dims))
        cast = memref.ReinterpretCastOp.from_dynamic(
            buffer, [0], self._shapes.sizes(dims), strides, memref_type(tensor.type)
        )
        return self._at.insert(cast).result

    def _subview(
        self,
        buffer: SSAValue,
        whole: Sequence[Expr],
        offsets: Sequence[Expr],
        dims: Sequence[Expr],
        steps: Sequence[int],
        op: Operation,
    ) -> SSAValue:
        """The part of `buffer`, which has dimensions `whole`, of dimensions `dims` from `offsets` on in these steps."""
        assert isa(buffer.type, MemRefType)
        start, strides = _layout(buffer.type, whole)
        start = sum((o * s for o, s in zip(offsets, strides, strict=True)), start)
        strides = [s * step for s, step in zip(strides, steps, strict=True)]
        if start.constant is None or any(s.constant is None for s in strides):
            raise CompileError("the offset and strides of a view must be known when it is compiled", op)
        layout = StridedLayoutAttr([s.constant for s in strides], start.constant)
        sizes = self._shapes.sizes
        view = memref.SubviewOp.get(
            buffer, sizes(offsets), sizes(dims), steps, memref_type(tensor_type(dims, buffer.type.element_type), layout)
        )
        return self._at.insert(view).result


def _layout(buffer: MemRefType[Attribute], dims: Sequence[Expr]) -> tuple[Expr, Sequence[Expr]]:
    """The offset and the strides of a buffer of these dimensions."""
    layout = buffer.layout
    if not isinstance(layout, StridedLayoutAttr):
        return const(0), row_major_strides(dims)
    known = [s for s in (layout.get_offset(), *layout.get_strides()) if s is not None]  # none is dynamic: see _subview
    return const(known[0]), [const(s) for s in known[1:]]


def layout_in_kernel(buffer: SSAValue, dims: Sequence[Expr]) -> Layout:
    """The layout for a kernel, which gets a pointer to the first element. Strides of axes of extent 1 are moot."""
    assert isa(buffer.type, MemRefType)
    layout = buffer.type.layout
    if not isinstance(layout, StridedLayoutAttr):
        return UnitAttr()
    strides = layout.get_strides()
    gapless = row_major_strides(dims)
    if all(d == 1 or s == g for d, s, g in zip(dims, strides, gapless, strict=True)):
        return UnitAttr()
    return StridedLayoutAttr(layout.strides)
