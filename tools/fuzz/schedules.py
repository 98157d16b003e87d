"""Random schedules, legal and not: whatever the primitives allow to write down."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.dialects.schedule import SequenceOp, Tail
from tilework.dialects.schedule_builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import KernelOp
from tilework.tools.fuzz.draw import Draw

FACTORS = (2, 3, 4, 5, 8, 16)


CARELESS = 5
"""Of a hundred choices so many ignore what a schedule may do, so that refusals are tested too."""


class _Stage:
    """A handle, the axes that are leaves, those that are annotated, and whether the stage is an output."""

    def __init__(self, handle: StageHandle, is_output: bool):
        self.handle = handle
        self.leaves = list(handle.axes.values())
        self.annotated: set[SSAValue] = set()
        self.is_output = is_output

    def plain(self, draw: Draw) -> list[SSAValue]:
        """Leaves that may still be split, fused or annotated."""
        return self.leaves if draw.chance(CARELESS) else [a for a in self.leaves if a not in self.annotated]


def random_schedule(kernel: KernelOp, draw: Draw) -> SequenceOp:
    """A sequence of up to a dozen primitives."""
    s = ScheduleBuilder(kernel)
    stages: list[_Stage] = []
    for compute in kernel.computes:
        is_output = any(result in kernel.results_returned for result in compute.results)
        stage = _Stage(s.stage(compute.stage.data), is_output)
        if draw.chance(15):
            cache = s.cache_write(stage.handle, draw.choice(("local", "register", "global")))
            stages.append(_Stage(cache, False))
            stage.leaves = stage.leaves[: len(compute.spatial)]
        elif draw.chance(20) and (draw.chance(CARELESS) or not (is_output or compute.reduction)):
            s.compute_inline(stage.handle)
            continue
        stages.append(stage)
    primitives = (_split, _split, _fuse, _reorder, _annotate, _annotate, _compute_at, _compute_at)
    for _ in range(draw.choice((0, 2, 4, 6, 8, 12))):
        if stages:
            draw.choice(primitives)(s, draw, stages)
    return s.finish()


def _split(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    axes = stage.plain(draw)
    if not axes:
        return
    axis = draw.choice(axes)
    outer, inner = s.split(axis, draw.choice(FACTORS), draw.choice(tuple(Tail)))
    _replace(stage, [axis], [outer, inner])


def _fuse(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    plain = stage.plain(draw)
    pairs = [[a, b] for a, b in zip(stage.leaves, stage.leaves[1:], strict=False) if a in plain and b in plain]
    if pairs:
        axes = draw.choice(pairs)
        _replace(stage, axes, [s.fuse(axes)])


def _replace(stage: _Stage, old: list[SSAValue], new: list[SSAValue]) -> None:
    at = stage.leaves.index(old[0])
    stage.leaves[at : at + len(old)] = new


def _reorder(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    axes = list(stage.leaves)
    order: list[SSAValue] = []
    while axes:
        axis = draw.choice(axes)
        axes.remove(axis)
        order.append(axis)
    if order:
        s.reorder(order)
        stage.leaves = order


def _annotate(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    stage = draw.choice(stages)
    axes = stage.plain(draw)
    if not axes:
        return
    axis = draw.choice([*axes, axes[-1]])
    stage.annotated.add(axis)
    draw.choice((s.vectorize, s.unroll, s.parallel))(axis)


def _compute_at(s: ScheduleBuilder, draw: Draw, stages: list[_Stage]) -> None:
    inner = [i for i, stage in enumerate(stages[:-1]) if draw.chance(CARELESS) or not stage.is_output]
    if not inner:
        return
    producer = draw.choice(inner)
    consumer = draw.choice(stages[producer + 1 :])
    if consumer.leaves:
        scope = draw.choice(("local", "local", "register"))
        s.compute_at(stages[producer].handle, draw.choice(consumer.leaves), scope)
