"""Random schedules, legal and not: whatever the primitives allow to write down."""

from __future__ import annotations

from functools import partial

from xdsl.ir import BlockArgument, SSAValue

from tilework.dialects.schedule import SequenceOp, Tail
from tilework.dialects.schedule_builder import ScheduleBuilder, StageHandle
from tilework.dialects.shapes import dims_of
from tilework.dialects.te import ComputeOp, KernelOp, scans_of
from tilework.tools.fuzz.draw import Draw

FACTORS = (2, 3, 4, 5, 8, 16)


THREADS = ("blockIdx.x", "threadIdx.x", "threadIdx.x", "threadIdx.y", "vthread")


CARELESS = 5
"""Of a hundred choices so many ignore what a schedule may do, so that refusals are tested too."""


class _Stage:
    """A handle, the axes that are leaves and their names, those that are annotated, and what the stage is."""

    def __init__(self, handle: StageHandle, is_output: bool, reduction: int):
        self.handle = handle
        self.leaves = list(handle.axes.values())
        self.names = {axis: name for name, axis in handle.axes.items()}
        self.reduce = set(self.leaves[len(self.leaves) - reduction :])
        self.spatial = [a for a in self.leaves if a not in self.reduce]
        self.is_placed = False
        self.annotated: set[SSAValue] = set()
        self.is_output = is_output

    def plain(self, draw: Draw) -> list[SSAValue]:
        """Leaves that may still be split, fused or annotated."""
        return self.leaves if draw.chance(CARELESS) else [a for a in self.leaves if a not in self.annotated]

    def may_have(self, tail: Tail, axis: SSAValue) -> bool:
        """Whether a split of the axis may have that tail."""
        if tail is Tail.PAD:
            return axis in self.spatial and not self.is_output
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


def random_schedule(kernel: KernelOp, draw: Draw) -> SequenceOp:
    """A sequence of up to a dozen primitives."""
    s = ScheduleBuilder(kernel)
    stages: list[_Stage] = []
    handles: dict[SSAValue, SSAValue] = {}
    for compute in kernel.computes:
        stage = _Stage(s.stage(compute.stage.data), _is_output(kernel, compute), len(compute.reduction))
        if draw.chance(10):
            stages += _cache_read(s, draw, compute, stage, handles)
        stages += _rewritten(s, draw, kernel, compute, stage)
        if stages[-1:] == [stage]:
            handles.update({tensor: stage.handle.handle for tensor in compute.results})
    scans = [_Stage(s.stage(scan.stage.data), True, 0) for scan in scans_of(kernel)]
    for scan in scans or stages:
        _env_threads(s, draw, scan, careless=not scans)
    stages += scans
    primitives = (
        *(_split, _split, _fuse, _reorder, _annotate, _annotate, _compute_at, _compute_at),
        *(_singleton, _reverse_compute_at, _decompose_reduction, _storage_align, _group, _pragma),
        *(_double_buffer, _prefetch, _bind),
    )
    for _ in range(draw.choice((0, 2, 4, 6, 8, 12))):
        if stages:
            draw.choice(primitives)(s, draw, stages)
    return s.finish()


def _is_output(kernel: KernelOp, compute: ComputeOp) -> bool:
    return any(result in kernel.results_returned for result in compute.results)


# -- what rewrites te


def _rewritten(s: ScheduleBuilder, draw: Draw, kernel: KernelOp, compute: ComputeOp, stage: _Stage) -> list[_Stage]:
    """The stages that a compute becomes, itself last; none where it is inlined."""
    paddable = [a for a in stage.leaves if a in stage.reduce or not stage.is_output or draw.chance(CARELESS)]
    if draw.chance(10) and paddable:
        s.pad_to_multiple(draw.choice(paddable), draw.choice(FACTORS))
    if draw.chance(15):
        return _cache_write(s, draw, compute, stage)
    if draw.chance(15) and stage.reduce:
        return _rfactor(s, draw, compute, stage)
    if draw.chance(20) and (draw.chance(CARELESS) or not (stage.is_output or compute.reduction)):
        s.compute_inline(stage.handle)
        return []
    return [stage]


def _cache_write(s: ScheduleBuilder, draw: Draw, compute: ComputeOp, stage: _Stage) -> list[_Stage]:
    """A cache, in the layout that the axes of the tensor have become in one case of three."""
    scope = draw.choice(("local", "register", "global"))
    spatial = [name for name, _ in compute.spatial]
    if not draw.chance(33) or not spatial:
        cache = s.cache_write(stage.handle, scope)
        stage.leaves = stage.leaves[: len(spatial)]
        return [_Stage(cache, False, len(compute.reduction)), stage]
    for primitive in (_split_layout, _split_layout, _fuse, _reorder_spatial):
        if draw.chance(60):
            primitive(s, draw, [stage])
    cache = s.cache_write(stage.handle, scope, [stage.names[a] for a in stage.leaves])
    again = _Stage(s.stage_with_axes(compute.stage.data, spatial), stage.is_output, 0)
    return [_Stage(cache, False, len(compute.reduction)), again]


def _split_layout(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    [stage] = stages
    axis = draw.choice([a for a in stage.leaves if a not in stage.reduce])
    stage.replace([axis], list(s.split(axis, draw.choice(FACTORS))))


def _split_reduction(s: ScheduleBuilder, draw: Draw, stage: _Stage) -> None:
    axis = draw.choice([a for a in stage.leaves if a in stage.reduce])
    tail = draw.choice(tuple(Tail)) if draw.chance(CARELESS) else Tail.GUARD
    stage.replace([axis], list(s.split(axis, draw.choice(FACTORS), tail)))


def _rfactor(s: ScheduleBuilder, draw: Draw, compute: ComputeOp, stage: _Stage) -> list[_Stage]:
    for _ in range(draw.choice((1, 1, 2))):
        _split_reduction(s, draw, stage)
    reduce = [a for a in stage.leaves if a in stage.reduce]
    axis = draw.choice(reduce)
    at = draw.choice((0, -1, len(compute.spatial)))
    names = [n for n, _ in compute.spatial]
    names.insert(at if at >= 0 else len(names), stage.names[axis])
    names += [stage.names[a] for a in reduce if a is not axis]
    factored, rest = s.rfactor(stage.handle, axis, names, at)
    stage.leaves = [*(a for a in stage.leaves if a not in stage.reduce), rest]
    stage.reduce = {rest}
    stage.names[rest] = "rest"
    return [_Stage(factored, False, len(reduce) - 1), stage]


def _cache_read(
    s: ScheduleBuilder, draw: Draw, compute: ComputeOp, stage: _Stage, handles: dict[SSAValue, SSAValue]
) -> list[_Stage]:
    """A copy of something that the compute reads: an argument, or a stage that is still there."""
    tensor = draw.choice([read.tensor for read in compute.reads])
    if isinstance(tensor, BlockArgument):
        source = s.argument(tensor.index)
    elif tensor in handles:
        source = handles[tensor]
    else:
        return []
    names = [f"a{i}" for i in range(len(dims_of(tensor.type)))]
    copy = s.cache_read(source, draw.choice(("local", "register", "global")), [stage.handle], names)
    return [_Stage(copy, False, 0)]


# -- axes


def _split(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    axes = stage.plain(draw)
    if not axes:
        return
    axis = draw.choice(axes)
    number = draw.choice(FACTORS)
    tails = [t for t in Tail if draw.chance(CARELESS) or stage.may_have(t, axis)]
    if draw.chance(20):
        outer, inner = s.split(axis, nparts=number, tail=draw.choice(tails))
    else:
        outer, inner = s.split(axis, number, draw.choice(tails))
    stage.replace([axis], [outer, inner])


def _fuse(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    plain = stage.plain(draw)
    pairs = [[a, b] for a, b in zip(stage.leaves, stage.leaves[1:], strict=False) if a in plain and b in plain]
    if pairs:
        axes = draw.choice(pairs)
        stage.replace(axes, [s.fuse(axes)])


def _singleton(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    axis = s.singleton(stage.handle)
    stage.leaves.insert(0, axis)
    stage.names[axis] = "singleton"


def _shuffled(draw: Draw, axes: list[SSAValue]) -> list[SSAValue]:
    axes, order = list(axes), list[SSAValue]()
    while axes:
        axis = draw.choice(axes)
        axes.remove(axis)
        order.append(axis)
    return order


def _reorder(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    if stage.leaves:
        stage.leaves = _shuffled(draw, stage.leaves)
        s.reorder(stage.leaves)


def _reorder_spatial(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    [stage] = stages
    spatial = _shuffled(draw, [a for a in stage.leaves if a not in stage.reduce])
    if spatial:
        s.reorder(spatial)
        stage.leaves = [*spatial, *(a for a in stage.leaves if a in stage.reduce)]


def _annotate(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    axes = stage.plain(draw)
    if not axes:
        return
    axis = draw.choice([*axes, axes[-1]])
    stage.annotated.add(axis)
    any_kind = axis not in stage.reduce or draw.chance(CARELESS)
    spatial = (s.vectorize, partial(s.vectorize, masked=True), s.unroll, s.parallel)
    draw.choice(spatial if any_kind else (s.unroll,))(axis)


def _bind(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    """A third of the times only: a kernel with threads is interpreted, but not compiled."""
    if not draw.chance(33):
        return
    for _ in range(draw.choice((1, 2, 3))):
        stage = draw.choice(stages)
        axes = [a for a in stage.plain(draw) if a not in stage.reduce or draw.chance(CARELESS)]
        if axes:
            axis = draw.choice(axes)
            stage.annotated.add(axis)
            s.bind(axis, draw.choice(THREADS))
        if stage.is_placed:
            s.set_scope(stage.handle, draw.choice(("shared", "warp", "local", "global")))


def _env_threads(s: ScheduleBuilder, draw: Draw, stage: _Stage, careless: bool) -> None:
    """Threads around a scan; seldom around another stage."""
    while draw.chance(CARELESS if careless else 15):
        s.env_threads(stage.handle, draw.choice(THREADS), draw.choice(FACTORS))


def _pragma(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    if stage.leaves:
        s.pragma(draw.choice(stage.leaves), "auto_unroll_max_step", draw.choice((0, 4, 16)))


# -- places and storage


def _compute_at(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    inner = [i for i, stage in enumerate(stages[:-1]) if draw.chance(CARELESS) or not stage.is_output]
    if not inner:
        return
    producer = draw.choice(inner)
    consumer = draw.choice(stages[producer + 1 :])
    if consumer.leaves:
        scope = draw.choice(("local", "local", "register"))
        s.compute_at(stages[producer].handle, draw.choice(consumer.leaves), scope)
        stages[producer].is_placed = True
        if draw.chance(5):
            s.compute_root(stages[producer].handle)


def _reverse_compute_at(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    if len(stages) < 2:
        return
    producer, consumer = stages[-2:]
    leaves = [a for a in producer.leaves if draw.chance(CARELESS) or a not in producer.reduce]
    if leaves:
        s.reverse_compute_at(consumer.handle, draw.choice(leaves))


def _decompose_reduction(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    leaves = list(stage.leaves)
    first = next((i for i, a in enumerate(leaves) if a in stage.reduce), len(leaves) - 1)
    if leaves and (stage.reduce or draw.chance(CARELESS)):
        s.decompose_reduction(stage.handle, draw.choice(leaves[: first + 1]))


def _storage_align(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    placed = [stage for stage in stages if stage.is_placed]
    if not placed and not draw.chance(CARELESS):
        return
    stage = draw.choice(placed or stages)
    if stage.spatial:
        s.storage_align(draw.choice(stage.spatial), draw.choice(FACTORS), draw.choice((0, 1, 3)))


def _double_buffer(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    placed = [stage for stage in stages if stage.is_placed]
    if placed or draw.chance(CARELESS):
        s.double_buffer(draw.choice(placed or stages).handle)


def _prefetch(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    if stage.leaves:
        s.prefetch(s.argument(0), draw.choice(stage.leaves), draw.choice((1, 2)))


def _group(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    """All stages before the last one, placed in it."""
    if len(stages) < 3 or not stages[-1].leaves:
        return
    group = s.create_group([stages[-2].handle], [stages[0].handle.handle], draw.chance(50))
    s.group_compute_at(group, draw.choice(stages[-1].leaves))
