"""The primitives about units of a machine and interleaving, drawn for text: tensorize, and virtual threads."""

from __future__ import annotations

from xdsl.ir import Region, SSAValue

from tilework.dialects.schedule import SequenceOp, Tail
from tilework.tools.fuzz.intrinsics import chosen_leaves, declared_for
from tilework.tools.fuzz.stages import Drawn, DrawnStage
from tilework.tools.fuzz.tiles import Nest, in_drawn_order, nest_of


def draw_tensorize(d: Drawn) -> None:
    """Loops of a stage, or parts of them, go inside and are an intrinsic that is declared for them."""
    stages = [stage for stage in d.computes if stage.leaves and not stage.intrinsic]
    found = in_drawn_order([(stage, _nest(d, stage)) for stage in stages], d.draw)
    if found:
        _tensorize(d, *found[0])


def _tensorize(d: Drawn, stage: DrawnStage, nest: Nest) -> None:
    plain = stage.plain(d.draw)
    free = [i for i, axis in enumerate(stage.leaves) if axis in plain]
    inside: list[SSAValue] = []
    for i, axis, size in [(i, stage.leaves[i], size) for i, size in chosen_leaves(nest, free, d.draw)]:
        if size is not None:
            outer, inner = d.s.split(axis, size, _tail(d, stage, axis, nest.trip(nest.leaves[i]) or 0, size))
            stage.replace([axis], [outer, inner])
            axis = inner
        inside.insert(d.draw.choice(range(len(inside) + 1)), axis)
    if not inside:
        return
    stage.leaves = [*(axis for axis in stage.leaves if axis not in inside), *inside]
    d.s.reorder(stage.leaves)
    inner = _nest(d, stage)
    declared = [] if inner is None else declared_for(inner, len(inside), f"fuzz{d.seed}.n{len(d.intrinsics)}", d.draw)
    if declared:
        d.intrinsics.extend(declared)
        stage.intrinsic = declared[-1].label
        stage.annotated.update(inside)
        d.s.tensorize(inside[0], stage.intrinsic)


def draw_virtual_threads(d: Drawn) -> None:
    """The outer loops of a split, or a loop as it is, are virtual threads."""
    stages = [stage for stage in d.stages if stage.is_compute]
    if not stages:
        return
    stage = d.draw.choice(stages)
    axes = [axis for axis in stage.plain(d.draw) if axis not in stage.reduce or d.careless()]
    if not axes:
        return
    axis = d.draw.choice(axes)
    if d.draw.chance(70):
        outer, inner = d.s.split(axis, nparts=d.draw.choice((2, 2, 3, 4)))
        stage.replace([axis], [outer, inner])
        axis = outer
    if d.draw.chance(40):
        stage.leaves = [axis, *(other for other in stage.leaves if other is not axis)]
        d.s.reorder(stage.leaves)
    stage.annotated.add(axis)
    d.s.bind(axis, "vthread")


def _nest(d: Drawn, stage: DrawnStage) -> Nest | None:
    sequence = SequenceOp(d.s.kernel.sym_name.data, Region(d.s.block))
    try:
        nest = nest_of(d.s.kernel, sequence, d.intrinsics, stage.name)
    finally:
        sequence.body.detach_block(0)
    return nest if nest is not None and len(nest.leaves) == len(stage.leaves) else None


def _tail(d: Drawn, stage: DrawnStage, axis: SSAValue, trip: int, size: int) -> Tail:
    """One that leaves no fewer iterations than an intrinsic has, but by carelessness."""
    if trip % size == 0 or d.careless():
        return Tail.GUARD
    return d.draw.choice([t for t in (Tail.PARTITION, Tail.SHIFT, Tail.PAD) if stage.may_have(t, axis)])
