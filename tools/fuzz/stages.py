"""What a drawn schedule has made of a kernel so far: which stages there are, what each reads, what its axes are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.ir import BlockArgument, SSAValue

from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp, ExternOp, IntrinsicOp, KernelOp, ScanOp, stages_of
from tilework.scheduling.dataflow.handles import stage_names
from tilework.tools.fuzz.draw import Draw

CARELESS = 5
"""How many of a hundred choices ignore what a schedule may do, so that refusals are tested too."""


@dataclass(eq=False)
class DrawnArgument:
    """An argument of the kernel."""

    number: int
    name: str
    rank: int


Source: TypeAlias = "DrawnStage | DrawnArgument"
Staged: TypeAlias = ComputeOp | ScanOp | ExternOp


@dataclass(eq=False)
class DrawnStage:
    """A stage and its axes.

    roots: the axes of its tensor, reduce_roots those that are combined away; leaves: its loops, of which those in
    `reduce` come from the latter, and `singletons` from no axis. annotated: the leaves of which something was asked;
    places: those that other stages are computed at. reads: the stages and arguments that it reads. rank: the number of
    dimensions of its tensors. intrinsic: what it is tensorized as. is_whole: a scan or an extern takes them as a whole.
    is_compute: it is neither of these.
    """

    name: str
    handle: StageHandle
    roots: list[SSAValue]
    reduce_roots: list[SSAValue]
    leaves: list[SSAValue]
    reduce: set[SSAValue]
    reads: list[Source]
    rank: int
    names: dict[SSAValue, str]
    is_output: bool = False
    is_whole: bool = False
    is_compute: bool = True
    is_scan: bool = False
    is_placed: bool = False
    is_inlined: bool = False
    intrinsic: str | None = None
    singletons: set[SSAValue] = field(default_factory=set[SSAValue])
    annotated: set[SSAValue] = field(default_factory=set[SSAValue])
    places: set[SSAValue] = field(default_factory=set[SSAValue])

    @property
    def spatial(self) -> list[SSAValue]:
        """The leaves that are not combined away."""
        return [a for a in self.leaves if a not in self.reduce]

    @property
    def reductions(self) -> list[SSAValue]:
        """The leaves that are combined away."""
        return [a for a in self.leaves if a in self.reduce]

    @property
    def is_relaid(self) -> bool:
        """Whether the spatial axes are others, or in another order, than those of the tensor."""
        return [a for a in self.spatial if a not in self.singletons] != self.roots

    @property
    def is_scheduled(self) -> bool:
        """Whether something was asked of its axes."""
        return self.is_relaid or bool(self.annotated or self.places or self.singletons)

    def plain(self, draw: Draw) -> list[SSAValue]:
        """Leaves that may still be split, fused or annotated."""
        if draw.chance(CARELESS):
            return self.leaves
        return [a for a in self.leaves if a not in self.annotated and a not in self.places]

    def may_have(self, tail: Tail, axis: SSAValue) -> bool:
        """Whether a split of the axis may have that tail."""
        if tail is Tail.PAD:
            return axis in self.roots and not self.is_output
        return tail is not Tail.SHIFT or axis not in self.reduce

    def replace(self, old: list[SSAValue], new: list[SSAValue]) -> None:
        """Put leaves in place of others."""
        at = self.leaves.index(old[0])
        self.leaves[at : at + len(old)] = new
        if old[0] in self.reduce:
            self.reduce.update(new)
        suffixes = ["outer", "inner"] if len(new) == 2 else []
        for axis, suffix in zip(new, suffixes, strict=False):
            self.names[axis] = f"{self.names[old[0]]}.{suffix}"
        if len(new) == 1:
            self.names[new[0]] = ".".join(self.names[a] for a in old)


class Drawn:
    """A schedule being drawn: its builder, the source of choices, and every stage in the order of the program.

    seed: what tells the names of its intrinsics from those of other cases.
    """

    def __init__(self, kernel: KernelOp, draw: Draw, seed: int):
        self.s = ScheduleBuilder(kernel)
        self.draw = draw
        self.seed = seed
        self.intrinsics: list[IntrinsicOp] = []
        self.order: list[DrawnStage] = []
        arguments = enumerate(kernel.body.block.args)
        self._arguments = [DrawnArgument(i, a.name_hint or f"arg{i}", len(dims_of(a.type))) for i, a in arguments]
        self._handles: dict[DrawnArgument, SSAValue] = {}
        self._names = stage_names(kernel)
        made: dict[SSAValue, DrawnStage] = {}
        for staged in stages_of(kernel):
            stage = self._stage_of(kernel, staged, made)
            made.update(dict.fromkeys(staged.results, stage))
            self.order.append(stage)

    @property
    def stages(self) -> list[DrawnStage]:
        """Those that are not inlined."""
        return [stage for stage in self.order if not stage.is_inlined]

    @property
    def computes(self) -> list[DrawnStage]:
        """Those that are not inlined and may be rewritten."""
        return [stage for stage in self.stages if stage.is_compute]

    def careless(self) -> bool:
        """Whether this choice ignores what a schedule may do."""
        return self.draw.chance(CARELESS)

    def readers(self, stage: DrawnStage) -> list[DrawnStage]:
        """The stages that read it, those among them that read it through stages that are inlined."""
        direct = [other for other in self.order if stage in other.reads]
        found = [reader for other in direct for reader in (self.readers(other) if other.is_inlined else [other])]
        return list(dict.fromkeys(found))

    def handle_of(self, source: DrawnStage | DrawnArgument) -> SSAValue:
        """The value that stands for a stage, or for an argument."""
        if isinstance(source, DrawnStage):
            return source.handle.handle
        if source not in self._handles:
            self._handles[source] = self.s.argument(source.number)
        return self._handles[source]

    def add(
        self, before: DrawnStage, handle: StageHandle, name: str, reduction: int, reads: Sequence[Source]
    ) -> DrawnStage:
        """A stage that a primitive has made, in front of another; the last of its axes are a reduction."""
        stage = _stage(handle, self._names.fresh(name), reduction, reads)
        self.order.insert(self.order.index(before), stage)
        return stage

    def _stage_of(self, kernel: KernelOp, staged: Staged, made: Mapping[SSAValue, DrawnStage]) -> DrawnStage:
        tensors = staged.inputs if isinstance(staged, ExternOp) else [read.tensor for read in staged.reads]
        reads = [self._arguments[t.index] if isinstance(t, BlockArgument) else made.get(t) for t in tensors]
        handle = self.s.stage(staged.stage.data)
        stage = _stage(handle, staged.stage.data, len(staged.reduction), [source for source in reads if source])
        users = [use.operation for result in staged.results for use in result.uses]
        stage.is_output = any(result in kernel.results_returned for result in staged.results)
        stage.is_whole = any(isinstance(user, ScanOp | ExternOp) for user in users)
        stage.is_compute = isinstance(staged, ComputeOp)
        stage.is_scan = isinstance(staged, ScanOp)
        stage.rank = len(dims_of(staged.results[0].type))
        return stage


def _stage(handle: StageHandle, name: str, reduction: int, reads: Sequence[Source]) -> DrawnStage:
    axes = list(handle.axes.values())
    rank = len(axes) - reduction
    names = {axis: n for n, axis in handle.axes.items()}
    sources = list(dict.fromkeys(reads))
    return DrawnStage(name, handle, axes[:rank], axes[rank:], list(axes), set(axes[rank:]), sources, rank, names)
