"""The `schedule.sequence` that a schedule's methods write, and the handles in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.algebra.errors import UsageError
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.schedule import (
    ArgumentOp,
    ComputeAtOp,
    ComputeInlineOp,
    ComputeRootOp,
    ReverseComputeAtOp,
    SequenceOp,
    StageOp,
)
from tilework.dialects.support.names import identifier
from tilework.dialects.te.intrinsics import library
from tilework.frontends.te.arguments import kind
from tilework.frontends.te.index import IterVar, Name
from tilework.frontends.te.kernel import KernelNames
from tilework.frontends.te.source_location import user_location
from tilework.frontends.te.tensor import StagedOp, Tensor
from tilework.frontends.te.tensor_intrin import TensorIntrin

Made = TypeVar("Made", bound=Operation)


class Primitives:
    """handles: the value of every axis that has one. arguments: the kernel's, in order, as long as none are given.

    attached: the axis at which a stage or a group is computed. inlined: stages that are computed where they are read.
    intrinsics: the program's own, with names.
    """

    def __init__(self, names: KernelNames, arguments: Sequence[Tensor]):
        self.names = names
        self.sequence = SequenceOp("main", Region(Block()))
        self.handles: dict[Name, SSAValue] = {}
        self.attached: dict[SSAValue, Name] = {}
        self.inlined: set[SSAValue] = set()
        self.intrinsics: dict[TensorIntrin, str] = {}
        self._default_arguments = list(arguments)
        self._arguments: dict[Tensor, SSAValue] = {}

    def declare(self, intrinsic: TensorIntrin) -> str:
        """The name that an intrinsic is declared by, beside the kernel."""
        if intrinsic not in self.intrinsics:
            taken = UniqueNames((*self.intrinsics.values(), *library()))
            self.intrinsics[intrinsic] = taken.fresh(identifier(intrinsic.name))
        return self.intrinsics[intrinsic]

    def check_place(self, parent: object, primitive: str) -> None:
        """Raise UsageError unless something can be computed at the axes of what is given, a stage of this schedule."""
        primitives = getattr(parent, "primitives", None)
        if not isinstance(primitives, Primitives):
            raise UsageError(f"{primitive} takes a stage, s[T] of a tensor T, not {kind(parent)}")
        if primitives is not self:
            raise UsageError(f"{primitive} takes a stage of the same schedule; this one is of another")

    def add(self, op: Made) -> Made:
        """Append a primitive, located at the user's line."""
        op.location = user_location()
        self.sequence.body.block.add_op(op)
        return op

    def compute_at(self, handle: SSAValue, axis: IterVar) -> None:
        """Append that a stage or a group is computed at an axis."""
        self.add(ComputeAtOp(handle, self.handles[axis.key]))
        self.attached[handle] = axis.key
        self.inlined.discard(handle)

    def compute_elsewhere(self, op: ComputeRootOp | ComputeInlineOp | ReverseComputeAtOp) -> None:
        """Append that a stage or a group is computed in nests of its own, where it is read, or behind what it reads."""
        self.add(op)
        self.attached.pop(op.stage, None)
        if isinstance(op, ComputeInlineOp):
            self.inlined.add(op.stage)
        else:
            self.inlined.discard(op.stage)

    def move_attached(self, old: IterVar, new: IterVar) -> None:
        """What is computed at an axis that has become another is computed there, as TVM 0.8 has it."""
        for handle in [h for h, key in self.attached.items() if key is old.key]:
            self.compute_at(handle, new)

    def renew_attached(self, old: SSAValue, new: SSAValue) -> None:
        """A stage is computed where it was under its old handle."""
        if old in self.attached:
            self.attached[new] = self.attached.pop(old)
        if old in self.inlined:
            self.inlined.remove(old)
            self.inlined.add(new)

    def stage(self, name: str, op: StagedOp) -> SSAValue:
        """Append the handle of a stage; from now on its axes have theirs."""
        axes = [*op.axis, *op.reduce_axis]
        made = self.add(StageOp(name, self.texts(axes)))
        self.handles.update(zip((a.key for a in axes), made.axes, strict=True))
        return made.handle

    def argument(self, tensor: Tensor) -> SSAValue:
        """The handle of a placeholder, appended where it is first needed."""
        if tensor not in self._arguments:
            position = _position(tensor, self._default_arguments)
            self._arguments[tensor] = self.add(ArgumentOp(position)).handle
        return self._arguments[tensor]

    def texts(self, axes: Sequence[IterVar]) -> list[str]:
        """The names of axes in the text."""
        return [self.names.axes.get(a.key, a.name) for a in axes]

    def _is_about(self, op: Operation, stages: Collection[str]) -> bool:
        """Whether a primitive is about stages that are named. Raises UsageError where it is about another one, too."""
        named = _stages_named(op)
        if named and named.isdisjoint(stages) != (not named.issubset(stages)):
            names = " and ".join(sorted(f"'{name}'" for name in named))
            raise UsageError(f"{op.name} relates stages {names}, between which a function of Python is called")
        return not named.isdisjoint(stages)

    def sequence_for(
        self, kernel: str, arguments: Sequence[Tensor], stages: Collection[str] | None = None
    ) -> SequenceOp:
        """A copy of the sequence for the kernel of that name with these arguments; of these stages, if any are named.

        Raises UsageError for a primitive about one of the stages and another one.
        """
        mapped: dict[SSAValue, SSAValue] = {}
        originals = [op for op in self.sequence.body.block.ops if stages is None or self._is_about(op, stages)]
        copies = [op.clone(mapped) for op in originals]
        for copy, original in zip(copies, originals, strict=True):
            copy.location = original.location
            for new, old in zip(copy.results, original.results, strict=True):
                new.name_hint = old.name_hint
        for tensor, value in self._arguments.items():
            if value not in mapped:
                continue
            op = mapped[value].owner
            assert isinstance(op, ArgumentOp)
            op.index = ArgumentOp(_position(tensor, arguments)).index
        return SequenceOp(kernel, Region(Block(copies)))


def _position(tensor: Tensor, tensors: Sequence[Tensor]) -> int:
    for i, other in enumerate(tensors):
        if other is tensor:
            return i
    raise UsageError(f"'{tensor.name}' is not an argument of the schedule's kernel")


def _stages_named(op: Operation) -> set[str]:
    """The stages whose handles or axes a primitive takes, or whose handle it makes; none for that of an argument."""
    if isinstance(op, StageOp):
        return {op.stage.data}
    return {
        name for operand in op.operands if isinstance(operand.owner, Operation) for name in _stages_named(operand.owner)
    }
