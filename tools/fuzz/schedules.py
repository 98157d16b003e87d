"""Random schedules, legal and not: whatever the primitives allow to write down, in any order."""

from __future__ import annotations

from functools import partial

from xdsl.ir import SSAValue

from tilework.dialects.schedule import SequenceOp, Tail
from tilework.dialects.te import IntrinsicOp, KernelOp
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.rewrites import (
    FACTORS,
    draw_cache_read,
    draw_cache_write,
    draw_inline,
    draw_order,
    draw_pad,
    draw_reindex,
    draw_rfactor,
    draw_take_back,
)
from tilework.tools.fuzz.stages import Drawn, DrawnStage
from tilework.tools.fuzz.units import draw_tensorize, draw_virtual_threads

THREADS = ("blockIdx.x", "threadIdx.x", "threadIdx.x", "threadIdx.y", "vthread")


def random_schedule(kernel: KernelOp, draw: Draw, seed: int) -> tuple[SequenceOp, list[IntrinsicOp]]:
    """A sequence of up to about twenty primitives, and the intrinsics that it names.

    The last of them often tensorize: what comes behind may change how often loops run.
    """
    d = Drawn(kernel, draw, seed)
    last = draw.choice((0, 1, 2, 3))
    for _ in range(draw.choice((0, 2, 4, 8, 12) if last else (0, 2, 4, 6, 8, 12, 16))):
        draw.choice(PRIMITIVES)(d)
    for _ in range(last):
        draw.choice(LAST)(d)
    return d.s.finish(), d.intrinsics


def _any(d: Drawn) -> DrawnStage | None:
    """A stage with axes of its own."""
    stages = [stage for stage in d.stages if stage.is_compute or stage.is_scan]
    return d.draw.choice(stages) if stages else None


# -- axes


def _split(d: Drawn) -> None:
    stage = _any(d)
    axes = [] if stage is None else stage.plain(d.draw)
    if stage is None or not axes:
        return
    axis = d.draw.choice(axes)
    number = d.draw.choice(FACTORS)
    tails = [t for t in Tail if d.careless() or stage.may_have(t, axis)]
    tail = d.draw.choice((Tail.GUARD, d.draw.choice(tails or [Tail.GUARD])))
    if d.draw.chance(20):
        outer, inner = d.s.split(axis, nparts=number, tail=tail)
    else:
        outer, inner = d.s.split(axis, number, tail)
    stage.replace([axis], [outer, inner])


def _fuse(d: Drawn) -> None:
    stage = _any(d)
    if stage is None:
        return
    plain = stage.plain(d.draw)
    pairs = [[a, b] for a, b in zip(stage.leaves, stage.leaves[1:], strict=False) if a in plain and b in plain]
    if not d.careless():
        pairs = [[a, b] for a, b in pairs if (a in stage.reduce) == (b in stage.reduce)]
    if pairs:
        axes = d.draw.choice(pairs)
        stage.replace(axes, [d.s.fuse(axes)])


def _singleton(d: Drawn) -> None:
    stage = _any(d)
    if stage is None:
        return
    axis = d.s.singleton(stage.handle)
    stage.leaves.insert(0, axis)
    stage.singletons.add(axis)
    stage.names[axis] = "singleton"


def _reorder(d: Drawn) -> None:
    stage = _any(d)
    if stage is not None:
        draw_order(d, stage, stage.leaves if d.draw.chance(70) else stage.spatial)


def _annotate(d: Drawn) -> None:
    stage = _any(d)
    axes = [] if stage is None else stage.plain(d.draw)
    if stage is None or not axes:
        return
    axis = d.draw.choice([*axes, axes[-1]])
    stage.annotated.add(axis)
    any_kind = axis not in stage.reduce or d.careless()
    spatial = (d.s.vectorize, partial(d.s.vectorize, masked=True), d.s.unroll, d.s.parallel)
    d.draw.choice(spatial if any_kind else (d.s.unroll,))(axis)


def _bind(d: Drawn) -> None:
    """A third of the times only: a kernel with threads of a device is interpreted, but not compiled."""
    if not d.draw.chance(33):
        return
    for _ in range(d.draw.choice((1, 2, 3))):
        stage = _any(d)
        if stage is None:
            return
        axes = [a for a in stage.plain(d.draw) if a not in stage.reduce or d.careless()]
        if axes:
            axis = d.draw.choice(axes)
            stage.annotated.add(axis)
            d.s.bind(axis, d.draw.choice(THREADS))
        if stage.is_placed:
            d.s.set_scope(stage.handle, d.draw.choice(("shared", "warp", "local", "global")))


def _env_threads(d: Drawn) -> None:
    """Threads around a scan; seldom around another stage."""
    stages = [s for s in d.stages if s.is_scan or (s.is_compute and d.draw.chance(1))]
    if stages:
        d.s.env_threads(d.draw.choice(stages).handle, d.draw.choice(THREADS), d.draw.choice(FACTORS))


def _pragma(d: Drawn) -> None:
    stage = _any(d)
    if stage is not None and stage.leaves:
        axis = d.draw.choice(stage.leaves)
        stage.annotated.add(axis)
        d.s.pragma(axis, "auto_unroll_max_step", d.draw.choice((0, 4, 16)))


# -- places and storage


def _compute_at(d: Drawn) -> None:
    """A stage in one that reads it, or seldom in any behind it."""
    stages = [s for s in d.stages if s.is_compute and (d.careless() or d.readers(s))]
    if not stages:
        return
    producer = d.draw.choice(stages)
    behind = d.order[d.order.index(producer) + 1 :]
    readers = [s for s in (behind if d.careless() else d.readers(producer)) if s.leaves]
    if not readers:
        return
    consumer = d.draw.choice(readers)
    axes = consumer.leaves if d.careless() else _outside_lanes(consumer)
    if axes:
        axis = d.draw.choice(axes)
        d.s.compute_at(producer.handle, axis, d.draw.choice(("local", "local", "register")))
        consumer.places.add(axis)
        producer.is_placed = True
        if d.draw.chance(5):
            d.s.compute_root(producer.handle)


def _outside_lanes(stage: DrawnStage) -> list[SSAValue]:
    """The leaves outside the first one that is annotated: lanes hold no other stages."""
    first = next((i for i, axis in enumerate(stage.leaves) if axis in stage.annotated), len(stage.leaves))
    return stage.leaves[: max(first, 1)]


def _reverse_compute_at(d: Drawn) -> None:
    """A stage in one that it reads."""
    pairs = [(p, s) for s in d.stages if s.is_compute for p in s.reads if p in d.stages]
    if not pairs:
        return
    producer, consumer = d.draw.choice(pairs)
    assert isinstance(producer, DrawnStage)
    leaves = [a for a in producer.leaves if d.careless() or (a not in producer.reduce and not producer.is_placed)]
    if leaves:
        axis = d.draw.choice(leaves)
        d.s.reverse_compute_at(consumer.handle, axis)
        producer.places.add(axis)


def _decompose_reduction(d: Drawn) -> None:
    stages = [s for s in d.computes if s.leaves and (s.reduce or d.careless())]
    if stages:
        stage = d.draw.choice(stages)
        last = len(stage.leaves) - 1
        first = next((i for i, a in enumerate(stage.leaves) if a in stage.reduce), last)
        axis = d.draw.choice(stage.leaves[: first + 1])
        d.s.decompose_reduction(stage.handle, axis)
        stage.annotated.add(axis)


def _storage_align(d: Drawn) -> None:
    placed = [s for s in d.stages if s.roots and (s.is_placed or d.careless())]
    if placed:
        d.s.storage_align(d.draw.choice(d.draw.choice(placed).roots), d.draw.choice(FACTORS), d.draw.choice((0, 1, 3)))


def _double_buffer(d: Drawn) -> None:
    placed = [s for s in d.stages if s.is_placed or d.careless()]
    if placed:
        d.s.double_buffer(d.draw.choice(placed).handle)


def _prefetch(d: Drawn) -> None:
    stages = [s for s in d.stages if s.leaves and s.reads]
    if stages:
        stage = d.draw.choice(stages)
        axis = d.draw.choice(stage.leaves)
        d.s.prefetch(d.handle_of(d.draw.choice(stage.reads)), axis, d.draw.choice((1, 2)))


def _set_scope(d: Drawn) -> None:
    placed = [s for s in d.stages if s.is_placed or d.careless()]
    if placed:
        d.s.set_scope(d.draw.choice(placed).handle, d.draw.choice(("local", "global", "register")))


def _group(d: Drawn) -> None:
    """Stages between an input and an output, placed in what reads the output."""
    outputs = [s for s in d.computes if not s.is_output and d.readers(s)]
    if not outputs:
        return
    output = d.draw.choice(outputs)
    consumer = d.draw.choice(d.readers(output))
    inputs = [d.handle_of(source) for source in output.reads if d.draw.chance(50)]
    group = d.s.create_group([output.handle], inputs, d.draw.chance(50))
    axes = _outside_lanes(consumer)
    if axes:
        axis = d.draw.choice(axes)
        d.s.group_compute_at(group, axis)
        consumer.places.add(axis)


PRIMITIVES = (
    *(_split, _split, _fuse, _reorder, _annotate, _annotate, _compute_at, _compute_at, _compute_at),
    *(draw_cache_write, draw_cache_write, draw_rfactor, draw_rfactor, draw_cache_read, draw_cache_read),
    *(draw_reindex, draw_reindex),
    *(draw_inline, draw_inline, draw_pad, draw_take_back),
    *(_singleton, _reverse_compute_at, _decompose_reduction, _storage_align, _group, _pragma),
    *(_double_buffer, _prefetch, _bind, _set_scope, _env_threads, draw_tensorize, draw_virtual_threads),
)

LAST = (draw_tensorize, draw_tensorize, draw_tensorize, draw_virtual_threads)
