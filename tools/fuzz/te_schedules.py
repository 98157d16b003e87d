"""Random schedules by the methods of the te language, in any order; a call that is refused adds nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tilework.algebra.errors import TileworkError
from tilework.dialects.schedule import Tail
from tilework.frontends import te
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.rewrites import FACTORS, SCOPES
from tilework.tools.fuzz.stages import CARELESS
from tilework.tools.fuzz.te_units import te_tensorize, te_virtual_threads

THREADS = ("blockIdx.x", "threadIdx.x", "vthread", "cthread")


def random_te_schedule(draw: Draw, results: Sequence[te.Tensor], seed: int) -> te.Schedule:
    """A schedule of the results, by up to about twenty calls."""
    calls = Calls(draw, te.create_schedule([tensor.op for tensor in results]), seed)
    last = draw.choice((0, 1, 2, 3))
    for _ in range(draw.choice((0, 2, 4, 8, 12) if last else (0, 2, 4, 6, 8, 12, 16, 20))):
        try:
            draw.choice(PRIMITIVES)(calls)
        except (TileworkError, _Nothing):
            continue
    for _ in range(last):  # at the end, since what comes behind may change how often loops run
        try:
            draw.choice((_tensorize, _tensorize, _tensorize, _virtual_threads))(calls)
        except (TileworkError, _Nothing):
            continue
    return calls.s


class _Nothing(Exception):
    """There is nothing to choose from."""


class Calls:
    """A schedule being made.

    reads: the tensors that each stage reads. inlined: the stages that are; placed: those that were computed at others.
    seed: what tells the names of its intrinsics from those of other cases.
    """

    def __init__(self, draw: Draw, s: te.Schedule, seed: int):
        self.draw = draw
        self.seed = seed
        self.s = s
        self.reads: dict[te.Stage, list[te.Tensor]] = {stage: stage.op.input_tensors for stage in s.stages}
        self.inlined: list[te.Stage] = []
        self.placed: list[te.Stage] = []

    def careless(self) -> bool:
        """Whether this choice ignores what a schedule may do."""
        return self.draw.chance(CARELESS)

    def stage(self, wanted: Callable[[te.Stage], bool]) -> te.Stage:
        """A stage that is so and not inlined, or seldom any."""
        careless = self.careless()
        stages = [s for s in self.s.stages if careless or (s not in self.inlined and wanted(s))]
        return self.one_of(stages)

    def axis(self, stage: te.Stage, reduce: bool | None = None) -> te.IterVar:
        """A leaf of a stage, of one kind perhaps."""
        careless = self.careless()
        axes = [a for a in stage.leaf_iter_vars if careless or reduce is None or a.is_reduce == reduce]
        return self.one_of(axes)

    def one_of(self, options: Sequence[Any]) -> Any:
        """One of the options. Raises _Nothing where there is none."""
        if not options:
            raise _Nothing
        return self.draw.choice(options)

    def readers(self, stage: te.Stage) -> list[te.Stage]:
        """The stages that read a stage, through those that are inlined."""
        direct = [s for s in self.s.stages if any(tensor in stage.origin_op.outputs for tensor in self.reads[s])]
        found = [r for s in direct for r in (self.readers(s) if s in self.inlined else [s])]
        return list(dict.fromkeys(found))

    def made(self, tensor: te.Tensor | list[te.Tensor], reads: Sequence[te.Tensor]) -> te.Stage:
        """The stage of what a primitive returns, which reads these."""
        tensors = [tensor] if isinstance(tensor, te.Tensor) else tensor
        stage = self.s[tensors[0]]
        self.reads[stage] = list(reads)
        return stage

    def place(self, stage: te.Stage, consumer: te.Stage) -> None:
        """Compute a stage at an axis of another, in a scope perhaps."""
        stage.compute_at(consumer, self.axis(consumer))
        self.placed.append(stage)
        self.inlined = [s for s in self.inlined if s is not stage]
        if self.draw.chance(50):
            stage.set_scope(self.draw.choice(SCOPES))


def _is_compute(stage: te.Stage) -> bool:
    return not isinstance(stage.origin_op, te.ScanOp | te.ExternOp)


def _has_axes(stage: te.Stage) -> bool:
    return bool(stage.leaf_iter_vars)


def _is_reduction(stage: te.Stage) -> bool:
    return bool(stage.op.reduce_axis)


# -- axes


def _split(c: Calls) -> None:
    stage, number = c.stage(_has_axes), c.draw.choice(FACTORS)
    axis = c.axis(stage)
    tail = c.draw.choice((Tail.GUARD, Tail.GUARD, c.draw.choice(tuple(Tail))))
    if c.draw.chance(20):
        stage.split(axis, nparts=number, tail=tail)
    else:
        stage.split(axis, number, tail=tail)


def _tile(c: Calls) -> None:
    stage = c.stage(lambda s: len(s.spatial_leaves()) > 1)
    x, y = c.one_of([*zip(stage.spatial_leaves(), stage.spatial_leaves()[1:], strict=False)])
    stage.tile(x, y, c.draw.choice(FACTORS), c.draw.choice(FACTORS))


def _fuse(c: Calls) -> None:
    stage = c.stage(_has_axes)
    pairs = list(zip(stage.leaf_iter_vars, stage.leaf_iter_vars[1:], strict=False))
    stage.fuse(*c.one_of([*pairs, ()] if c.draw.chance(20) else pairs))


def _reorder(c: Calls) -> None:
    stage = c.stage(_has_axes)
    left = list(stage.leaf_iter_vars if c.draw.chance(70) else stage.spatial_leaves())
    order: list[te.IterVar] = []
    while left:
        order.append(left.pop(c.draw.choice(range(len(left)))))
    stage.reorder(*order)


def _annotate(c: Calls) -> None:
    stage = c.stage(_has_axes)
    method = c.draw.choice((stage.vectorize, stage.parallel, stage.unroll))
    method(c.axis(stage, None if method == stage.unroll else False))


def _bind(c: Calls) -> None:
    """A fifth of the times only: a kernel with threads of a device is interpreted, but not compiled."""
    if c.draw.chance(20):
        stage = c.stage(_has_axes)
        stage.bind(c.axis(stage, False), te.thread_axis(c.draw.choice(THREADS)))


def _tensorize(c: Calls) -> None:
    te_tensorize(
        c.draw, c.s, [s for s in c.s.stages if s not in c.inlined and _is_compute(s) and _has_axes(s)], f"fuzz{c.seed}"
    )


def _virtual_threads(c: Calls) -> None:
    stage = c.stage(_has_axes)
    te_virtual_threads(c.draw, stage, c.axis(stage, False))


def _pragma(c: Calls) -> None:
    stage = c.stage(_has_axes)
    stage.pragma(c.axis(stage), "auto_unroll_max_step", c.draw.choice((0, 4, 16)))


# -- places and storage


def _compute_at(c: Calls) -> None:
    stage = c.stage(lambda s: _is_compute(s) and any(map(_has_axes, c.readers(s))))
    readers = c.readers(stage)
    c.place(stage, c.stage(lambda s: s in readers and _has_axes(s)))


def _compute_root(c: Calls) -> None:
    stage = c.draw.choice([*c.inlined, *c.placed, c.s.stages[0]])
    stage.compute_root()
    c.inlined = [s for s in c.inlined if s is not stage]


def _reverse_compute_at(c: Calls) -> None:
    stage = c.stage(_is_compute)
    producer = c.one_of([p for p in c.s.stages if p not in c.inlined and stage in c.readers(p)])
    stage.reverse_compute_at(producer, c.axis(producer, False))


def _compute_inline(c: Calls) -> None:
    stage = c.stage(lambda s: _is_compute(s) and s.leaf_iter_vars == s.op.axis and not s.is_output)
    stage.compute_inline()
    c.inlined.append(stage)


def _decompose_reduction(c: Calls) -> None:
    stage = c.stage(_is_reduction)
    stage.decompose_reduction(c.axis(stage))


def _storage_align(c: Calls) -> None:
    stage = c.stage(lambda s: s in c.placed)
    stage.storage_align(c.one_of(stage.op.axis), c.draw.choice(FACTORS), c.draw.choice((0, 1, 3)))


def _double_buffer(c: Calls) -> None:
    c.stage(lambda s: s in c.placed).double_buffer()


def _prefetch(c: Calls) -> None:
    stage = c.stage(lambda s: bool(c.reads[s]))
    stage.prefetch(c.one_of(c.reads[stage]), c.axis(stage), c.draw.choice((1, 2)))


def _group(c: Calls) -> None:
    output = c.stage(lambda s: _is_compute(s) and not s.is_output and bool(c.readers(s)))
    inputs = [tensor for tensor in c.reads[output] if c.draw.chance(50)]
    group = c.s.create_group(output.origin_op.outputs, inputs, c.draw.chance(50))
    consumer = c.one_of(c.readers(output))
    group.compute_at(consumer, c.axis(consumer))


# -- what rewrites te


def _cache_write(c: Calls) -> None:
    stage = c.stage(_is_compute)
    reads = c.reads[stage]
    cache = c.s.cache_write(stage.origin_op.outputs, c.draw.choice(SCOPES))
    made = c.made(cache, reads)
    c.reads[stage] = made.op.outputs
    if c.draw.chance(50):
        c.place(made, stage)


def _rfactor(c: Calls) -> None:
    stage = c.stage(_is_reduction)
    if len(stage.reduce_leaves()) < 2 or c.draw.chance(50):
        stage.split(c.one_of(stage.reduce_leaves()), c.draw.choice(FACTORS))
    reads = c.reads[stage]
    made = c.made(
        c.s.rfactor(
            stage.origin_op.outputs[0],
            c.one_of(stage.reduce_leaves()),
            c.draw.choice((0, -1, len(stage.op.axis))),
        ),
        reads,
    )
    c.reads[stage] = made.op.outputs
    if c.draw.chance(50):
        c.place(made, stage)


def _cache_read(c: Calls) -> None:
    readers = [s for s in c.s.stages if _is_compute(s) and c.reads[s]]
    first = c.one_of(readers)
    tensor = c.draw.choice(c.reads[first])
    chosen = [s for s in readers if s is first or (tensor in c.reads[s] and c.draw.chance(40))]
    cache = c.s.cache_read(tensor, c.draw.choice(SCOPES), [s.origin_op for s in chosen])
    made = c.made(cache, [tensor])
    for reader in chosen:
        reader_reads = c.reads[reader]
        c.reads[reader] = [cache if t is tensor else t for t in reader_reads]
    if c.draw.chance(50) and first not in c.inlined:
        c.place(made, first)


def _pad(c: Calls) -> None:
    stage = c.stage(_is_compute)
    axes = [a for a in (*stage.op.axis, *stage.op.reduce_axis) if a.is_reduce or not stage.is_output]
    stage.pad_to_multiple(c.one_of(axes), c.draw.choice(FACTORS))


PRIMITIVES: tuple[Callable[[Calls], None], ...] = (
    *(_split, _split, _tile, _fuse, _reorder, _annotate, _annotate, _compute_at, _compute_at, _compute_at),
    *(_cache_write, _cache_write, _rfactor, _rfactor, _rfactor, _cache_read, _cache_read, _compute_inline, _pad),
    *(_compute_root, _compute_inline),
    *(_reverse_compute_at, _decompose_reduction, _storage_align, _group, _pragma, _double_buffer, _prefetch, _bind),
    *(_tensorize, _virtual_threads),
)
