"""What a schedule says of a kernel: stages, their axes, how the axes arose, where each stage is computed.

`read_schedule` replays a `schedule.sequence` over the axis-relation graph. Refusals are `CompileError`s at the schedule
operation; they name stage, axis and reason and show the loop nest as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.loop import Kind
from tilework.dialects.schedule import (
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    FuseOp,
    ParallelOp,
    ReorderOp,
    SequenceOp,
    SetScopeOp,
    SplitOp,
    StageOp,
    Tail,
    UnrollOp,
    VectorizeOp,
)
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp


@dataclass(eq=False)
class Axis:
    """An axis of a stage, compared by identity. `extent` is that of the whole stage, for root axes only."""

    name: str
    stage: Stage
    reduce: bool
    extent: Expr | None = None
    kind: Kind = Kind.SERIAL
    partition: bool = False
    annotation: Operation | None = None

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Axis({self.stage.name}.{self.name})"


@dataclass(eq=False)
class Split:
    """parent = outer * factor + inner; with `nparts`, the factor follows from the extent."""

    parent: Axis
    outer: Axis
    inner: Axis
    factor: int | None
    nparts: int | None
    tail: Tail
    op: SplitOp


@dataclass(eq=False)
class Fuse:
    """The fused axis runs through the parents, the last fastest."""

    parents: tuple[Axis, ...]
    fused: Axis


Relation: TypeAlias = Split | Fuse


@dataclass(eq=False)
class Stage:
    """A compute and how to run it. `attach` is the consumer's axis it is computed at; None for the root."""

    compute: ComputeOp
    spatial: list[Axis] = field(default_factory=list[Axis])
    reduction: list[Axis] = field(default_factory=list[Axis])
    leaves: list[Axis] = field(default_factory=list[Axis])
    relations: list[Relation] = field(default_factory=list[Relation])
    attach: Axis | None = None
    attach_op: Operation | None = None
    scope: str | None = None

    @property
    def name(self) -> str:
        return self.compute.stage.data

    def nest(self) -> str:
        """The loops of this stage, one a line, for messages."""
        lines = [
            f"{'  ' * depth}for {a.name}{' (reduce)' if a.reduce else ''}"
            f"{'' if a.kind is Kind.SERIAL else f' {a.kind}'}"
            for depth, a in enumerate(self.leaves)
        ]
        return "\n".join([f"{self.name}:", *("  " + line for line in lines)])


class ScheduleState:
    """The stages of a kernel in program order, as the schedule leaves them."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.stages = {c.stage.data: _default_stage(c) for c in kernel.computes}
        self.of_result: dict[SSAValue, Stage] = {s.compute.result: s for s in self.stages.values()}

    @property
    def outputs(self) -> list[Stage]:
        """The stages whose tensors the kernel returns."""
        return [self.of_result[v] for v in self.kernel.results_returned]

    def consumers(self, stage: Stage) -> list[tuple[Stage, ReadOp]]:
        """Every read of the stage's tensor, with the stage that reads."""
        return [
            (other, read)
            for other in self.stages.values()
            for read in other.compute.reads
            if read.tensor is stage.compute.result
        ]

    def attach_path(self, stage: Stage) -> list[Axis]:
        """The axes around the stage, outermost first, through the stages it is computed in."""
        if stage.attach is None:
            return []
        consumer = stage.attach.stage
        at = consumer.leaves.index(stage.attach)
        return [*self.attach_path(consumer), *consumer.leaves[: at + 1]]


def read_schedule(kernel: KernelOp, sequence: SequenceOp | None) -> ScheduleState:
    """Replay the sequence over the kernel; without one every stage is at the root, in its own order.

    Raises CompileError for what is not a schedule of this kernel.
    """
    reader = _Reader(ScheduleState(kernel))
    if sequence is not None:
        for op in sequence.body.block.ops:
            reader.apply(op)
    reader.check_attachments()
    return reader.state


def leaves_of(stage: Stage, axis: Axis) -> list[Axis]:
    """The leaves that an axis has become; itself where it is one."""
    for relation in stage.relations:
        if isinstance(relation, Fuse) and axis in relation.parents:
            return leaves_of(stage, relation.fused)
        if isinstance(relation, Split) and relation.parent is axis:
            return [*leaves_of(stage, relation.outer), *leaves_of(stage, relation.inner)]
    return [axis]


def _default_stage(compute: ComputeOp) -> Stage:
    stage = Stage(compute)
    stage.spatial = [Axis(n, stage, False, e) for n, e in compute.spatial]
    stage.reduction = [Axis(n, stage, True, e) for n, e in compute.reduction]
    stage.leaves = [*stage.spatial, *stage.reduction]
    return stage


def refuse(op: Operation | None, stage: Stage, message: str) -> NoReturn:
    """Raise the error of a schedule operation, with the stage's nest as a note."""
    raise CompileError(message, op, ((f"the loop nest as it stands:\n{stage.nest()}", None),))


class _Reader:
    def __init__(self, state: ScheduleState):
        self.state = state
        self.axes: dict[SSAValue, Axis] = {}
        self.handles: dict[SSAValue, Stage] = {}

    def apply(self, op: Operation) -> None:
        match op:
            case StageOp():
                self.stage(op)
            case SplitOp():
                self.split(op)
            case FuseOp():
                self.fuse(op)
            case ReorderOp():
                self.reorder(op)
            case VectorizeOp() | ParallelOp() | UnrollOp():
                self.annotate(op)
            case ComputeAtOp():
                stage = self.handles[op.stage]
                stage.attach, stage.attach_op = self.axes[op.axis], op
            case SetScopeOp():
                self.handles[op.stage].scope = op.scope.data
            case CacheWriteOp() | ComputeInlineOp():
                raise CompileError(f"{op.name} rewrites the kernel: run schedule-apply-dataflow first", op)
            case _:
                raise CompileError(f"{op.name} is not a schedule primitive", op)

    def stage(self, op: StageOp) -> None:
        name = op.stage.data
        stage = self.state.stages.get(name)
        if stage is None:
            known = ", ".join(self.state.stages)
            raise CompileError(
                f"kernel @{self.state.kernel.sym_name.data} has no stage '{name}'; its stages are {known}", op
            )
        names = [a.data for a in op.axis_names]
        roots = [*stage.spatial, *stage.reduction]
        if names != [a.name for a in roots]:
            refuse(op, stage, f"stage '{name}' has axes [{', '.join(map(str, roots))}], not [{', '.join(names)}]")
        if stage in self.handles.values():
            refuse(op, stage, f"stage '{name}' has a handle already")
        self.handles[op.handle] = stage
        self.axes.update(zip(op.axes, roots, strict=True))

    def leaf(self, op: Operation, value: SSAValue) -> Axis:
        axis = self.axes[value]
        if axis not in axis.stage.leaves:
            refuse(op, axis.stage, f"axis '{axis}' of stage '{axis.stage.name}' is not a leaf: it was split or fused")
        return axis

    def split(self, op: SplitOp) -> None:
        axis = self.leaf(op, op.axis)
        stage = axis.stage
        self.check_plain(op, axis)
        tail = op.tail.data
        if axis.reduce and tail is Tail.SHIFT:
            refuse(
                op,
                stage,
                f"axis '{axis}' of stage '{stage.name}' is a reduction: tail shift would count elements twice; "
                "use guard, partition or mask",
            )
        outer = Axis(f"{axis.name}.outer", stage, axis.reduce, partition=tail is Tail.PARTITION)
        inner = Axis(f"{axis.name}.inner", stage, axis.reduce)
        at = stage.leaves.index(axis)
        stage.leaves[at : at + 1] = [outer, inner]
        factor = None if op.factor is None else op.factor.value.data
        nparts = None if op.nparts is None else op.nparts.value.data
        stage.relations.append(Split(axis, outer, inner, factor, nparts, tail, op))
        self.axes[op.outer], self.axes[op.inner] = outer, inner

    def fuse(self, op: FuseOp) -> None:
        axes = tuple(self.leaf(op, v) for v in op.axes)
        stage = self.common_stage(op, axes)
        for axis in axes:
            self.check_plain(op, axis)
        if len({a.reduce for a in axes}) > 1:
            refuse(op, stage, f"cannot fuse spatial with reduce axes of stage '{stage.name}': {_listed(axes)}")
        at = stage.leaves.index(axes[0])
        if stage.leaves[at : at + len(axes)] != list(axes):
            message = f"axes {_listed(axes)} of stage '{stage.name}' are not adjacent in this order; reorder first"
            refuse(op, stage, message)
        fused = Axis(".".join(a.name for a in axes), stage, axes[0].reduce)
        stage.leaves[at : at + len(axes)] = [fused]
        stage.relations.append(Fuse(axes, fused))
        self.axes[op.fused] = fused

    def reorder(self, op: ReorderOp) -> None:
        axes = [self.leaf(op, v) for v in op.axes]
        stage = self.common_stage(op, axes)
        places = sorted(stage.leaves.index(a) for a in axes)
        for place, axis in zip(places, axes, strict=True):
            stage.leaves[place] = axis

    def annotate(self, op: VectorizeOp | ParallelOp | UnrollOp) -> None:
        axis = self.leaf(op, op.axis)
        kind = {VectorizeOp: Kind.VECTORIZED, ParallelOp: Kind.PARALLEL, UnrollOp: Kind.UNROLLED}[type(op)]
        self.check_plain(op, axis)
        if axis.reduce and kind is not Kind.UNROLLED:
            refuse(
                op,
                axis.stage,
                f"axis '{axis}' of stage '{axis.stage.name}' is a reduction and cannot be {kind}: "
                "its iterations write the same element",
            )
        axis.kind, axis.annotation = kind, op

    def check_plain(self, op: Operation, axis: Axis) -> None:
        if axis.annotation is not None:
            refuse(op, axis.stage, f"axis '{axis}' of stage '{axis.stage.name}' is already {axis.kind}")

    def common_stage(self, op: Operation, axes: Sequence[Axis]) -> Stage:
        stages = list(dict.fromkeys(a.stage for a in axes))
        if len(stages) > 1:
            refuse(op, stages[0], f"the axes belong to stages {' and '.join(repr(s.name) for s in stages)}")
        return stages[0]

    # -- where stages are computed

    def check_attachments(self) -> None:
        outputs = self.state.outputs
        order = list(self.state.stages.values())
        for stage in order:
            if stage.attach is None:
                self.check_root(stage)
                continue
            consumer, op = stage.attach.stage, stage.attach_op
            if stage in outputs:
                refuse(op, stage, f"stage '{stage.name}' is an output of the kernel: it is computed at the root")
            if order.index(consumer) <= order.index(stage):
                refuse(
                    op, consumer, f"stage '{stage.name}' is computed at '{consumer.name}', which does not consume it"
                )
            if stage.attach not in consumer.leaves:
                refuse(
                    op,
                    consumer,
                    f"stage '{stage.name}' is computed at axis '{stage.attach}' of stage '{consumer.name}', "
                    "which is not a leaf: it was split or fused",
                )
            inside = consumer.leaves[: consumer.leaves.index(stage.attach) + 1]
            vectorized = next((a for a in inside if a.kind is Kind.VECTORIZED), None)
            if vectorized is not None:
                message = f"stage '{stage.name}' cannot be computed inside the vectorized axis '{vectorized}'"
                refuse(op, consumer, message)
        for stage in self.state.stages.values():
            self.check_consumers(stage)

    def check_root(self, stage: Stage) -> None:
        if stage.scope == "register" and stage not in self.state.outputs:
            message = f"stage '{stage.name}' of scope register is at the root; compute it at a consumer's axis"
            refuse(None, stage, message)

    def check_consumers(self, stage: Stage) -> None:
        """Every consumer must lie below the axis that the stage is computed at."""
        if stage.attach is None:
            return
        for consumer, _ in self.state.consumers(stage):
            if consumer is not stage.attach.stage and stage.attach not in self.state.attach_path(consumer):
                refuse(
                    stage.attach_op,
                    stage.attach.stage,
                    f"stage '{stage.name}' is computed at axis '{stage.attach}' of stage '{stage.attach.stage.name}', "
                    f"but its consumer '{consumer.name}' is not computed there",
                )


def _listed(axes: Iterable[Axis]) -> str:
    return ", ".join(f"'{a}'" for a in axes)
