"""Where the tensors of a host function lie: in buffers of their own, in outputs, in parts of others' buffers."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, StridedLayoutAttr, UnitAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.accesses import offset_of, row_major_strides
from tilework.analysis.post_dominators import VIEW
from tilework.analysis.program_targets import HOST
from tilework.analysis.tensor_devices import device_of_tensor
from tilework.analysis.views import behind_reshapes
from tilework.dialects import loop
from tilework.dialects.graph.control import ControlOp
from tilework.dialects.graph.iteration import WhileOp
from tilework.dialects.graph.layout import WordsOp
from tilework.dialects.graph.movement import ConcatOp, SliceOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.structure import CopyOp, FusedOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.lowering.host.shapes import HostShapes, memref_type, space_of
from tilework.transforms.graph.te_kernels import Layout


@dataclass(frozen=True)
class InOutput:
    """The tensor is made in the buffer of output `index`, which has equally many elements."""

    index: int


@dataclass(frozen=True)
class InConcat:
    """The tensor is made in its part of the buffer of `concat`, whose operand `index` it is."""

    concat: ConcatOp
    index: int


@dataclass(frozen=True)
class _Moving:
    """A part of the buffer `whole` of which only the running program knows where it begins: a step's element.

    The offset, over symbols and loop variables, counts from where the memory of `whole` begins.
    """

    whole: SSAValue
    offset: Expr
    strides: Sequence[Expr]
    dims: Sequence[Expr]


Placement: TypeAlias = InOutput | InConcat


@dataclass(frozen=True)
class Plan:
    """Where tensors are made that get no buffer of their own, and what is copied: (tensor, index of the output)."""

    placements: Mapping[SSAValue, Placement]
    copies: Sequence[tuple[SSAValue, int]]


def plan_placements(ops: Sequence[Operation], returned: Sequence[SSAValue], late: Container[SSAValue] = ()) -> Plan:
    """Let kernels write into concatenations and outputs directly, wherever nothing else claims the tensor.

    late: outputs whose memory is there only when they are made, and are copied. Raises CompileError for a concatenation
    marked as a view one of whose operands cannot be made in its part.
    """
    placements: dict[SSAValue, Placement] = {}
    for op in ops:
        if not (isinstance(op, ConcatOp) and VIEW in op.attributes):
            continue
        for i, operand in enumerate(map(behind_reshapes, op.operands)):
            if operand in placements or not is_made_here(operand):
                raise CompileError(f"operand {i} of a concatenation marked as a view cannot be made inside of it", op)
            placements[operand] = InConcat(op, i)
    copies: list[tuple[SSAValue, int]] = []
    for index, value in enumerate(returned):
        source = behind_reshapes(value)
        if source in placements or not is_made_here(source) or value in late:
            copies.append((value, index))
        else:
            placements[source] = InOutput(index)
    return Plan(placements, copies)


def is_made_here(value: SSAValue) -> bool:
    """Whether kernels of this function write the tensor, and so can be told where."""
    made = value.owner
    if isinstance(made, WhileOp) and value in made.new_sequences:
        return False  # in a buffer for as many elements as there may be
    is_in_parts = isinstance(made, ConcatOp) and VIEW in made.attributes
    return is_in_parts or isinstance(made, FusedOp | ControlOp | CopyOp | CallOp)


class HostBuffers:
    """The buffers of a function's tensors, made when first asked for."""

    def __init__(
        self,
        at: Builder,
        shapes: HostShapes,
        outputs: Sequence[SSAValue],
        plan: Plan,
        moving: dict[SSAValue, _Moving] | None = None,
    ):
        self._at = at
        self._shapes = shapes
        self._outputs = outputs
        self._plan = plan
        self._buffers: dict[SSAValue, SSAValue] = {}
        self._moving = {} if moving is None else moving
        """The operations that move each buffer, those of the blocks around too."""

    def inside(self, at: Builder, shapes: HostShapes, outputs: Sequence[SSAValue], plan: Plan) -> HostBuffers:
        """Those of a graph inside of a loop, or of one side of a choice."""
        return HostBuffers(at, shapes, outputs, plan, self._moving)

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
            whole = self._buffers[tensor]
            self.put(part, self._reshaped(self._part(whole, place), part, place.concat.dims(place.index), place.concat))
            tensor = part
        return self._buffers[tensor]

    def _whole(self, tensor: SSAValue) -> SSAValue:
        place = self._plan.placements.get(tensor)
        if isinstance(place, InOutput):
            return self._reshaped(self._outputs[place.index], tensor)
        return self._allocated(tensor)

    def _allocated(self, tensor: SSAValue) -> SSAValue:
        return self.allocate(tensor.type, device_of_tensor(tensor))

    def allocate(self, tensor: Attribute, device: str = HOST) -> SSAValue:
        """A new buffer for a tensor of that type."""
        sizes = self._shapes.dynamic_sizes(dims_of(tensor))
        type_ = memref_type(tensor, space=space_of(device))
        return self._at.insert(memref.AllocOp(sizes, [], type_)).memref

    def put_beginning(self, tensor: SSAValue, whole: SSAValue) -> None:
        """Say that a tensor is what a buffer without gaps begins with."""
        dims, sizes = dims_of(tensor.type), self._shapes.sizes
        type_ = memref_type(tensor.type)
        strides = sizes(row_major_strides(dims))
        self.put(
            tensor,
            self._at.insert(memref.ReinterpretCastOp.from_dynamic(whole, [0], sizes(dims), strides, type_)).result,
        )

    def _part(self, whole: SSAValue, place: InConcat) -> SSAValue:
        concat, axis = place.concat, place.concat.axis.value.data
        dims = concat.dims(place.index)
        offsets = [const(0)] * len(dims)
        offsets[axis] = sum((concat.dims(i)[axis] for i in range(place.index)), const(0))
        return self._subview(whole, dims_of(concat.result.type), offsets, dims, [1] * len(dims), concat)

    def whole(self, tensor: SSAValue) -> SSAValue:
        """The buffer of a tensor, or a copy of it where it is a part of another that has gaps."""
        buffer = self.of(tensor)
        return self.copied(tensor) if _has_gaps(buffer) else buffer

    def whole_to_fill(self, tensor: SSAValue) -> SSAValue:
        """The buffer of a tensor that is not made yet, or another one, to copy from, where it is a part with gaps."""
        buffer = self.of(tensor)
        return self.allocate(tensor.type) if _has_gaps(buffer) else buffer

    def copied(self, tensor: SSAValue) -> SSAValue:
        """A copy of a tensor, in a buffer of its own."""
        copy = self._allocated(tensor)
        self._at.insert(memref.CopyOp(self.of(tensor), copy))
        return copy

    def copy_between_devices(self, source: SSAValue, result: SSAValue) -> None:
        """Copy a whole tensor to where it is on another device; what is a part of a buffer, by a copy without gaps."""
        if _has_gaps(from_ := self.of(source)):
            from_ = self.copied(source)
        to = last = self.of(result)
        if _has_gaps(to):
            to = self._allocated(result)
        self._at.insert(memref.CopyOp(from_, to))
        if to is not last:
            self._at.insert(memref.CopyOp(to, last))

    def copy_outputs(self) -> None:
        """Copy the tensors that are outputs and made elsewhere to where the outputs are."""
        for value, index in self._plan.copies:
            self._at.insert(memref.CopyOp(self.of(value), self._outputs[index]))

    def element(self, sequence: SSAValue, step: Expr, at: Builder, shapes: HostShapes) -> SSAValue:
        """The part of a sequence's buffer that is its element at `step`, a view made at `at`."""
        return self.element_of(self.of(sequence), dims_of(sequence.type), step, at, shapes)

    def element_of(
        self, whole: SSAValue, dims: Sequence[Expr], step: Expr, at: Builder, shapes: HostShapes
    ) -> SSAValue:
        """The same of a buffer of these dimensions."""
        assert isa(whole.type, MemRefType)
        place = self._moving.get(whole) or _Moving(whole, *_layout(whole.type, dims), dims)
        offset = place.offset + step * place.strides[0]
        return self._moved(_Moving(place.whole, offset, place.strides[1:], dims[1:]), at, shapes)

    def layout_for_kernel(self, tensor: SSAValue) -> Layout:
        """The layout for a kernel, which gets a pointer to the first element. Strides of axes of extent 1 are moot."""
        buffer, dims = self.of(tensor), dims_of(tensor.type)
        assert isa(buffer.type, MemRefType)
        layout, place = buffer.type.layout, self._moving.get(buffer)
        if not isinstance(layout, StridedLayoutAttr):
            return UnitAttr()
        strides = _layout(buffer.type, dims)[1] if place is None else place.strides
        if are_gapless(dims, strides):
            return UnitAttr()
        return StridedLayoutAttr(layout.strides)

    def alias_reshape(self, op: ReshapeOp) -> None:
        """The result lies where the operand does."""
        self.put(op.result, self._reshaped(self.of(op.input), op.result, op.dims(0), op))

    def alias_slice(self, op: SliceOp) -> None:
        """The result is a part of the operand."""
        kept, dims = op.ranges(), dims_of(op.result.type)
        offsets = [const(kept[axis].start if axis in kept else 0) for axis in range(len(dims))]
        steps = [kept[axis].step if axis in kept else 1 for axis in range(len(dims))]
        if min(steps, default=1) < 1:
            raise CompileError("a slice that walks backwards is no view", op)
        self.put(op.result, self._subview(self.of(op.input), op.dims(0), offsets, dims, steps, op))

    def alias_words(self, op: WordsOp) -> None:
        """The result lies where the operand does; words that do not begin at every fourth byte, in a copy."""
        buffer = self.of(op.input)
        try:
            view = loop.WordsOp(buffer)
        except VerifyException:
            view = loop.WordsOp(self.copied(op.input))
        self.put(op.result, self._at.insert(view).result)

    def _reshaped(
        self, buffer: SSAValue, tensor: SSAValue, before: Sequence[Expr] = (), op: Operation | None = None
    ) -> SSAValue:
        """A buffer as one of the dimensions of `tensor`; where it is a part of another, its own were `before`."""
        assert isa(buffer.type, MemRefType)
        dims, layout = dims_of(tensor.type), None
        space = buffer.type.memory_space
        if buffer.type == memref_type(tensor.type, space=space) or before == dims:
            return buffer
        place = self._moving.get(buffer)
        if place is not None:
            if tuple(place.dims) == dims:
                return buffer
            strides = _under_other_dims(place.dims, place.strides, dims, op)
            return self._moved(_Moving(place.whole, place.offset, strides, dims), self._at, self._shapes)
        strides = row_major_strides(dims)
        if isinstance(buffer.type.layout, StridedLayoutAttr):
            strides = _under_other_dims(before, _layout(buffer.type, before)[1], dims, op)
            layout = StridedLayoutAttr([s.constant for s in strides], buffer.type.layout.offset)
        sizes, offset = self._shapes.sizes, offset_of(buffer.type)
        type_ = memref_type(tensor.type, layout, space)
        cast = memref.ReinterpretCastOp.from_dynamic(buffer, [offset], sizes(dims), sizes(strides), type_)
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
        place = self._moving.get(buffer)
        start, strides = _layout(buffer.type, whole) if place is None else (place.offset, place.strides)
        start = sum((o * s for o, s in zip(offsets, strides, strict=True)), start)
        strides = [s * step for s, step in zip(strides, steps, strict=True)]
        if place is not None:
            return self._moved(_Moving(place.whole, start, strides, dims), self._at, self._shapes)
        if start.constant is None or any(s.constant is None for s in strides):
            raise CompileError("the offset and strides of a view must be known when it is compiled", op)
        layout = StridedLayoutAttr([s.constant for s in strides], start.constant)
        sizes = self._shapes.sizes
        view = memref.SubviewOp.get(
            buffer, sizes(offsets), sizes(dims), steps, memref_type(tensor_type(dims, buffer.type.element_type), layout)
        )
        return self._at.insert(view).result

    def _moved(self, place: _Moving, at: Builder, shapes: HostShapes) -> SSAValue:
        """The view of a part that moves, made at `at`."""
        assert isa(place.whole.type, MemRefType)
        layout = StridedLayoutAttr([s.constant for s in place.strides], None)
        type_ = memref_type(tensor_type(place.dims, place.whole.type.element_type), layout)
        offset, sizes, strides = shapes.value(place.offset), shapes.sizes(place.dims), shapes.sizes(place.strides)
        view = at.insert(memref.ReinterpretCastOp.from_dynamic(place.whole, [offset], sizes, strides, type_)).result
        self._moving[view] = place
        return view


def _has_gaps(buffer: SSAValue) -> bool:
    """Whether a buffer may be a part of another, between whose rows there is more."""
    return isa(buffer.type, MemRefType) and isinstance(buffer.type.layout, StridedLayoutAttr)


def _under_other_dims(
    before: Sequence[Expr], strides: Sequence[Expr], after: Sequence[Expr], op: Operation | None
) -> Sequence[Expr]:
    """The strides of a part of a buffer under other dimensions."""
    found = reshaped_strides(before, strides, after)
    if found is None:
        raise CompileError("a part of another tensor's buffer cannot be reshaped in place", op)
    return found


def reshaped_strides(before: Sequence[Expr], strides: Sequence[Expr], after: Sequence[Expr]) -> list[Expr] | None:
    """The strides of a buffer under other dimensions; None where there are gaps inside what becomes one axis.

    before = [N, 4, 3, 5], strides = [120, 30, 5, 1], after = [N, 4, 15]: [120, 30, 1]. None, too, where there are gaps
    anywhere and what follows the dimensions that are the same is not constant.
    """
    if are_gapless(before, strides):
        return list(row_major_strides(after))
    same = next(
        (i for i, (b, a) in enumerate(zip(before, after, strict=False)) if b != a), min(len(before), len(after))
    )
    if not all(e.is_constant for e in (*before[same:], *strides[same:], *after[same:])):
        return None
    axes = [(d.offset, s.offset) for d, s in zip(before[same:], strides[same:], strict=True) if d != 1]
    found: list[Expr] = []
    for dim in reversed(after[same:]):
        stride = _next_stride(axes, dim.offset)
        if stride is None:
            return None
        found.insert(0, const(stride))
    return [*strides[:same], *found]


def are_gapless(dims: Sequence[Expr], strides: Sequence[Expr]) -> bool:
    """Whether elements follow each other without gaps. Strides of axes of extent 1 are moot."""
    return all(d == 1 or s == g for d, s, g in zip(dims, strides, row_major_strides(dims), strict=True))


def _next_stride(axes: list[tuple[int, int]], wanted: int) -> int | None:
    """Take the last `wanted` elements off axes of (size, stride); how far they are apart, if that is one number."""
    count, stride = 1, 1
    while count < wanted:
        if not axes:
            return None
        size, step = axes.pop()
        if count == 1:
            stride = step
        if step != stride * count:
            return None
        if wanted % (count * size) and (count * size) % wanted:
            return None
        if count * size > wanted:  # the rest is the next axis's
            axes.append((count * size // wanted, stride * wanted))
        count = min(count * size, wanted)
    return stride


def _layout(buffer: MemRefType[Attribute], dims: Sequence[Expr]) -> tuple[Expr, Sequence[Expr]]:
    """The offset and the strides of a buffer of these dimensions."""
    layout = buffer.layout
    if not isinstance(layout, StridedLayoutAttr):
        return const(0), row_major_strides(dims)
    known = [s for s in (layout.get_offset(), *layout.get_strides()) if s is not None]
    assert len(known) == len(dims) + 1, "buffers whose offset is not known are among those that move"
    return const(known[0]), [const(s) for s in known[1:]]
