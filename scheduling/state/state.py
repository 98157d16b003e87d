"""Stages, axes, and how axes arose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from xdsl.ir import Operation, SSAValue

from tilework.algebra.index_expr import Expr, Key, const
from tilework.dialects.loop import THREADS, Kind
from tilework.dialects.schedule import SplitOp, Tail
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.memory_scopes import rank_of
from tilework.dialects.te import (
    ComputeOp,
    ExternOp,
    IntrinsicOp,
    KernelOp,
    ReadOp,
    ReturnOp,
    ScanOp,
    enclosing_compute,
    stages_of,
)
from tilework.scheduling.open_knobs import NO_OPEN_KNOBS, OpenKnobs


@dataclass(frozen=True)
class Prefetch:
    """A tensor, how many iterations ahead it is asked for, whether evenly, and the operation that says so."""

    tensor: SSAValue
    offset: int
    spread: bool
    op: Operation


@dataclass(eq=False)
class Axis:
    """An axis of a stage, compared by identity. `extent` is that of the whole stage, for root axes only.

    The iterations of an `ordered` one run one after another: it is time. `storing` is the one thread that stores, where
    a reduction is shared among threads; `pragmas` those given, by key. Of a `masked` one, only some lanes may load. A
    tensorized one becomes an `intrinsic`, with all inside.
    """

    name: str
    stage: Stage
    reduce: bool
    extent: Expr | None = None
    kind: Kind = Kind.SERIAL
    partition: bool = False
    masked: bool = False
    intrinsic: IntrinsicOp | None = None
    annotation: Operation | None = None
    ordered: bool = False
    storing: int | None = None
    pragmas: dict[str, Expr] = field(default_factory=dict[str, Expr])
    prefetches: list[Prefetch] = field(default_factory=list[Prefetch])

    @property
    def use(self) -> str:
        """What an annotated axis is."""
        return self.kind if self.intrinsic is None else "tensorized"

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
    factor: Expr | None
    nparts: Expr | None
    tail: Tail
    op: SplitOp


@dataclass(eq=False)
class Fuse:
    """The fused axis runs through the parents, the last fastest."""

    parents: tuple[Axis, ...]
    fused: Axis


@dataclass(eq=False)
class Singleton:
    """An axis that comes from none: its iterations, one unless they are threads, all do the same."""

    axis: Axis
    extent: Expr = const(1)


Relation: TypeAlias = Split | Fuse | Singleton


@dataclass(eq=False)
class Stage:
    """A compute and how to run it.

    `attach` is the consumer's axis that it is computed at, `after` the producer's axis whose iterations it follows;
    both None at the root. A reduction sets its elements before `init_at`, by default its outermost reduce axis.
    `order_op` is the last reorder. `alignment` gives strides of the buffer as multiples plus offsets. A stage that is
    part of every step of a `scan` is computed in that one; `kept` if it makes one of the scan's results. The outermost
    leaves of a scan may be threads `launched` around it.
    """

    compute: ComputeOp | ScanOp | ExternOp
    spatial: list[Axis] = field(default_factory=list[Axis])
    reduction: list[Axis] = field(default_factory=list[Axis])
    leaves: list[Axis] = field(default_factory=list[Axis])
    relations: list[Relation] = field(default_factory=list[Relation])
    attach: Axis | None = None
    attach_op: Operation | None = None
    after: Axis | None = None
    order_op: Operation | None = None
    init_at: Axis | None = None
    init_op: Operation | None = None
    scope: str | None = None
    scope_op: Operation | None = None
    alignment: dict[Axis, tuple[int, int]] = field(default_factory=dict[Axis, tuple[int, int]])
    alignment_op: Operation | None = None
    double_buffer: Operation | None = None
    scan: Stage | None = None
    kept: bool = False
    launched: list[Axis] = field(default_factory=list[Axis])

    @property
    def name(self) -> str:
        return self.compute.stage.data

    @property
    def body(self) -> ComputeOp:
        """The compute, of a stage that is neither scan nor extern."""
        assert isinstance(self.compute, ComputeOp)
        return self.compute

    @property
    def is_output(self) -> bool:
        """Whether the kernel returns a tensor of the stage."""
        return any(isinstance(use.operation, ReturnOp) for result in self.compute.results for use in result.uses)

    @property
    def place(self) -> Axis | None:
        """The axis of another stage that this one is computed in."""
        return self.attach or self.after

    @property
    def roots(self) -> list[Axis]:
        """The axes of the compute, the spatial ones first."""
        return [*self.spatial, *self.reduction]

    @property
    def init_place(self) -> int:
        """The number of leaves around the nest that sets a reduction's elements."""
        first = next((i for i, a in enumerate(self.leaves) if a.reduce), len(self.leaves))
        return first if self.init_at is None else min(first, self.leaves.index(self.init_at))

    def padded(self) -> dict[Axis, Split]:
        """The splits with tail pad, by the axis split."""
        splits = (r for r in self.relations if isinstance(r, Split))
        return {s.parent: s for s in splits if s.tail is Tail.PAD}

    def nest(self, marked: Axis | None = None) -> str:
        """The loops of this stage, one a line, for messages; an arrow points at the marked one."""
        lines = [
            f"{'  ' * depth}for {a.name}{' (reduce)' if a.reduce else ''}"
            f"{'' if a.kind is Kind.SERIAL else f' {a.kind}'}{'  <-- here' if a is marked else ''}"
            for depth, a in enumerate(self.leaves)
        ]
        return "\n".join([f"{self.name}:", *("  " + line for line in lines)])


class ScheduleState:
    """The stages of a kernel in program order, as the schedule leaves them; with `only`, those and no others.

    `symbols` are the kernel's, and those of the knobs that are open.
    """

    def __init__(
        self,
        kernel: KernelOp,
        only: Sequence[ComputeOp | ScanOp | ExternOp] | None = None,
        knobs: OpenKnobs = NO_OPEN_KNOBS,
    ):
        self.kernel = kernel
        self.knobs = knobs
        self.symbols = (*kernel.symbols, *knobs.symbols)
        staged = stages_of(kernel) if only is None else only
        self.stages = {op.stage.data: _default_stage(op) for op in staged}
        self.of_result: dict[SSAValue, Stage] = {
            result: s for s in self.stages.values() for result in s.compute.results
        }
        self.positions = {stage: i for i, stage in enumerate(self.stages.values())}
        for scan in staged:
            if isinstance(scan, ScanOp):
                self._mark_steps(scan)

    @property
    def symbol_ranges(self) -> dict[Key, tuple[int, int | None]]:
        """The least and the greatest value of every symbol; sizes are 0 or more."""
        return {**dict.fromkeys(self.kernel.symbols, (0, None)), **self.knobs.ranges}

    def _mark_steps(self, scan: ScanOp) -> None:
        for compute in scan.steps:
            stage = self.stages[compute.stage.data]
            stage.scan = self.stages[scan.stage.data]
            stage.kept = any(result in (*scan.updates, *scan.outputs) for result in compute.results)

    def place_steps(self) -> None:
        """Compute the steps of scans that the schedule put nowhere at the innermost axis of time."""
        for stage in self.stages.values():
            if stage.scan is not None and stage.place is None:
                stage.attach = stage.scan.leaves[-1]

    def consumers(self, stage: Stage) -> list[tuple[Stage, ReadOp]]:
        """Every read of the stage's tensors, with the stage that reads, in the order of these."""
        uses = [use for result in stage.compute.results for use in result.uses]
        reads = [use.operation for use in reversed(uses) if isinstance(use.operation, ReadOp)]
        found = [(self._stage_around(read), read) for read in reads]
        return sorted(found, key=lambda reader: self.positions[reader[0]])

    def _stage_around(self, read: ReadOp) -> Stage:
        compute = enclosing_compute(read)
        assert compute is not None
        return self.stages[compute.stage.data]

    def producers(self, stage: Stage) -> list[Stage]:
        """The stages that the stage reads, each once."""
        whole = stage.compute.inputs if isinstance(stage.compute, ExternOp) else ()
        found = (self.of_result.get(t) for t in (*(read.tensor for read in stage.compute.reads), *whole))
        return [p for p in dict.fromkeys(found) if p is not None]

    def attach_path(self, stage: Stage) -> list[Axis]:
        """The axes around the stage, outermost first, through the stages it is computed in."""
        if stage.place is None:
            return []
        around = stage.place.stage
        at = around.leaves.index(stage.place)
        return [*self.attach_path(around), *around.leaves[: at + 1]]

    def scope_of(self, stage: Stage) -> str:
        """Where the stage's buffer lives; by default as near to its threads as the axes around it tell."""
        if stage.scope is not None:
            return stage.scope
        if stage.attach is None:
            return "global"
        kinds = {a.kind for a in self.attach_path(stage)} & set(THREADS)
        return "shared" if kinds and all(_thread_rank(k) == 0 for k in kinds) else "local"

    def is_shared_along(self, stage: Stage, axis: Axis) -> bool:
        """Whether the threads of an axis around the stage share its buffer, so that it holds what all of them need."""
        if axis.kind not in THREADS:
            return False
        scope = self.scope_of(stage).partition(".")[0]
        return rank_of(scope) <= _thread_rank(axis.kind) or (scope == "warp" and axis.kind is Kind.THREAD_X)


def leaves_of(stage: Stage, axis: Axis) -> list[Axis]:
    """The leaves that an axis has become; itself where it is one."""
    for relation in stage.relations:
        if isinstance(relation, Fuse) and axis in relation.parents:
            return leaves_of(stage, relation.fused)
        if isinstance(relation, Split) and relation.parent is axis:
            return [*leaves_of(stage, relation.outer), *leaves_of(stage, relation.inner)]
    return [axis]


def refuse(op: Operation | None, stage: Stage, message: str, axis: Axis | None = None) -> NoReturn:
    """Raise the error of a schedule operation, with the stage's nest as a note, an axis marked in it."""
    raise CompileError(message, op, ((f"the loop nest as it stands:\n{stage.nest(axis)}", None),))


def listed(axes: Iterable[Axis]) -> str:
    """Axes by name, for messages."""
    return ", ".join(f"'{a}'" for a in axes)


def _thread_rank(kind: Kind) -> int:
    return 0 if kind.startswith("blockIdx") else 1


def _default_stage(compute: ComputeOp | ScanOp | ExternOp) -> Stage:
    stage = Stage(compute)
    stage.spatial = [Axis(n, stage, False, e) for n, e in compute.spatial]
    stage.reduction = [Axis(n, stage, True, e) for n, e in compute.reduction]
    stage.leaves = stage.roots
    if isinstance(compute, ScanOp):
        stage.leaves[0].ordered = True
    return stage
