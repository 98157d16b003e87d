"""What the SSA values of a sequence stand for, and what primitives ask about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from tilework.dialects.schedule import ArgumentOp, StageOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import stages_of
from tilework.scheduling.state.state import Axis, ScheduleState, Stage, refuse


@dataclass
class Group:
    """Stages that are placed together, and where; `axis` is None for the root."""

    members: list[Stage]
    op: Operation
    axis: Axis | None = None
    place_op: Operation | None = None


@dataclass
class Handles:
    """The stages, axes, arguments and groups by the values that stand for them, and the state so far."""

    state: ScheduleState
    axes: dict[SSAValue, Axis] = field(default_factory=dict[SSAValue, Axis])
    stages: dict[SSAValue, Stage] = field(default_factory=dict[SSAValue, Stage])
    arguments: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    groups: dict[SSAValue, Group] = field(default_factory=dict[SSAValue, Group])
    taken: set[Stage] = field(default_factory=set[Stage])
    """The stages that have a handle."""

    def define_stage(self, op: StageOp) -> None:
        """Enter a stage and its axes."""
        name = op.stage.data
        stage = self.state.stages.get(name)
        if stage is None:
            known = ", ".join(staged.stage.data for staged in stages_of(self.state.kernel))
            raise CompileError(
                f"kernel @{self.state.kernel.sym_name.data} has no stage '{name}'; its stages are {known}", op
            )
        names = [a.data for a in op.axis_names]
        if names != [a.name for a in stage.roots]:
            refuse(
                op,
                stage,
                f"stage '{name}' has axes [{', '.join(map(str, stage.roots))}], not [{', '.join(names)}]; name those",
            )
        if stage in self.taken:
            refuse(op, stage, f"stage '{name}' has a handle already; use that one")
        self.taken.add(stage)
        self.stages[op.handle] = stage
        self.axes.update(zip(op.axes, stage.roots, strict=True))

    def define_argument(self, op: ArgumentOp) -> None:
        """Enter an argument of the kernel."""
        kernel, index = self.state.kernel, op.index.value.data
        arguments = kernel.body.block.args
        if index >= len(arguments):
            message = f"kernel @{kernel.sym_name.data} has no argument {index}; it has {len(arguments)}, from 0 on"
            raise CompileError(message, op)
        self.arguments[op.handle] = arguments[index]

    def stage(self, op: Operation, handle: SSAValue) -> Stage:
        """The stage of a handle."""
        if handle not in self.stages:
            what = "an argument of the kernel" if handle in self.arguments else "a group"
            raise CompileError(f"{op.name} takes a stage, not {what}; use the handle of a compute", op)
        return self.stages[handle]

    def tensors(self, op: Operation, handle: SSAValue) -> Sequence[SSAValue]:
        """The tensors of a stage, or the argument, that a handle stands for."""
        return [self.arguments[handle]] if handle in self.arguments else self.stage(op, handle).compute.results

    def leaf(self, op: Operation, value: SSAValue) -> Axis:
        """The axis of a handle, which must not have been split or fused."""
        axis = self.axes[value]
        if axis not in axis.stage.leaves:
            refuse(
                op,
                axis.stage,
                f"axis '{axis}' of stage '{axis.stage.name}' is not a leaf: it was split or fused; "
                "use one of the axes made from it",
            )
        return axis

    def plain_leaf(self, op: Operation, value: SSAValue) -> Axis:
        """A leaf that has no annotation yet."""
        axis = self.leaf(op, value)
        if axis.annotation is not None:
            refuse(
                op,
                axis.stage,
                f"axis '{axis}' of stage '{axis.stage.name}' is already {axis.use}; schedule an axis before it is "
                "annotated",
                axis,
            )
        return axis

    def common_stage(self, op: Operation, axes: Sequence[Axis]) -> Stage:
        """The stage that all the axes belong to."""
        stages = list(dict.fromkeys(a.stage for a in axes))
        if len(stages) > 1:
            names = " and ".join(repr(s.name) for s in stages)
            refuse(op, stages[0], f"the axes belong to stages {names}; take those of one stage")
        return stages[0]

    def own_axis(self, op: Operation, stage: SSAValue, axis: SSAValue) -> tuple[Stage, Axis]:
        """A stage and a leaf axis of that stage."""
        s, a = self.stage(op, stage), self.leaf(op, axis)
        if a.stage is not s:
            refuse(
                op, s, f"axis '{a}' belongs to stage '{a.stage.name}', not to '{s.name}'; take an axis of '{s.name}'"
            )
        return s, a
