"""Multi-level tiles: blocks, virtual threads, registers; what a block reads is fetched into shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilework.analysis.sizes import bits_of, size_of
from tilework.dialects.schedule import Number
from tilework.dialects.schedule.builder import StageHandle
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp
from tilework.targets import Target
from tilework.targets.gpu.target import GpuTarget
from tilework.tuning.sketches.base import Decision, Limit, SketchRule
from tilework.tuning.sketches.facts import (
    argument_of,
    consumers,
    extent,
    follows,
    is_output,
    long_axes,
    powers,
    reads_by,
)
from tilework.tuning.sketches.gpu.threads import LETTERS, thread_choices
from tilework.tuning.sketches.writer import SketchWriter

MOST_ELEMENTS = 64
"""So many elements of the result a thread has in registers at most."""

LONGEST_STEP = 32
"""So many terms are fetched at a time at most."""


@dataclass(frozen=True)
class TiledReduction(Decision):
    """Compute the stage `reduction` in registers of the threads of `stage`, the same stage where that is an output.

    tiled: the axes along which a block has several threads, the last ones of them neighbours. step: the axis of the
    sum of which some terms are fetched at a time. fetched: the arguments that are copied into shared memory by all
    threads of a block together; none where each thread reads what it needs.
    """

    reduction: str
    tiled: tuple[str, ...]
    step: str
    fetched: tuple[int, ...]

    @property
    def covers(self) -> frozenset[str]:
        return frozenset({self.stage, self.reduction})

    def fits(self, is_inside: bool) -> bool:
        return not is_inside

    def limits(self, kernel: KernelOp, target: Target) -> Sequence[Limit]:
        compute, gpu = kernel.compute(self.reduction), GpuTarget.of(target)
        assert compute is not None
        own = _own_names(kernel, self)
        limits = [
            Limit(tuple(self._knob(axis, "threads") for axis in self.tiled), gpu.threads),
            Limit(tuple(self._knob(axis, kind) for axis in self.tiled for kind in KINDS[1:]), MOST_ELEMENTS),
        ]
        for argument in self.fetched:
            [read] = _reads_of(compute, argument)
            moving = [axis for axis in self.tiled if own[axis] in _axes_of(read)]
            knobs = *(self._knob(axis, kind) for axis in moving for kind in KINDS), f"{self.reduction}.step"
            elements = gpu.shared_bytes // len(self.fetched) * 8 // bits_of(read.tensor.type)
            limits.append(Limit(knobs, max(1, elements // _whole(compute, read, self))))
        return limits

    def __str__(self) -> str:
        told = ", ".join(map(str, self.fetched))
        shared = f", argument{'s' * (len(self.fetched) > 1)} {told} in shared memory" if told else ""
        return f"{self.reduction} in tiles along {' '.join(self.tiled)}{shared}"

    def rewrite(self, w: SketchWriter) -> None:
        if self.reduction == self.stage:
            w.stages[f"{self.stage}.tile"] = w.s.cache_write(w.stage(self.stage), "local")
        inside = self._inside(w)
        for argument in self.fetched:
            [read] = _reads_of(w.compute(self.reduction), argument)
            axes = [f"f{i}" for i in range(len(read.exprs))]
            w.stages[_copy(argument)] = w.s.cache_read(w.s.argument(argument), "shared", [inside], axes)

    def write(self, w: SketchWriter) -> None:
        final, inside = w.stage(self.stage), self._inside(w)
        rest: list[SSAValue] = []
        kinds: dict[str, list[SSAValue]] = {kind: [] for kind in KINDS}
        for name, _ in w.compute(self.stage).spatial:
            block = final.axes[name]
            for kind in KINDS[::-1] if name in self.tiled else ():
                block, inner = w.s.split(block, self._number(w, name, kind))
                kinds[kind].append(inner)
            rest.append(block)
        w.s.reorder([*rest, *kinds["virtual"], *kinds["threads"], *kinds["elements"]])
        w.s.bind(w.s.fuse(rest), "blockIdx.x")
        for axis in kinds["virtual"]:
            w.s.bind(axis, "vthread")
        for axis, letter in zip(kinds["threads"][::-1], LETTERS, strict=False):
            w.s.bind(axis, f"threadIdx.{letter}")
        for axis in kinds["elements"]:
            w.s.unroll(axis)
        w.s.compute_at(inside, kinds["threads"][-1], "local")
        step = self._order_sums(w, inside)
        for argument in self.fetched:
            self._fetch(w, w.stages[_copy(argument)], step)

    def _inside(self, w: SketchWriter) -> StageHandle:
        return w.stages.get(f"{self.stage}.tile") or w.stage(self.reduction)

    def _knob(self, axis: str, kind: str) -> str:
        return f"{self.stage}.{axis}.{kind}"

    def _number(self, w: SketchWriter, axis: str, kind: str) -> Number:
        size = extent(w.compute(self.stage), axis)
        choices = {
            "threads": thread_choices(size, w.target),
            "virtual": [count for count in (1, 2, 4) if count <= size],
            "elements": powers(1, 8, size),
        }
        return w.knob(self._knob(axis, kind), choices[kind])

    def _order_sums(self, w: SketchWriter, inside: StageHandle) -> SSAValue:
        """Put the loops of a thread in order: the loop from one fetch to the next, which is the outermost."""
        compute = w.compute(self.reduction)
        choices = powers(1, LONGEST_STEP, extent(compute, self.step))
        step, term = w.s.split(inside.axes[self.step], w.knob(f"{self.reduction}.step", choices))
        others = [inside.axes[name] for name, _ in compute.reduction if name != self.step]
        spatial = [inside.axes[name] for name, _ in compute.spatial]
        w.s.reorder([step, term, *others, *spatial])
        for axis in spatial:
            w.s.unroll(axis)
        return step

    def _fetch(self, w: SketchWriter, copy: StageHandle, step: SSAValue) -> None:
        """Let all threads of a block fill a copy, neighbours beside each other."""
        w.s.compute_at(copy, step)
        rest = w.s.fuse([*copy.axes.values()])
        for axis, letter in zip(self.tiled[::-1], LETTERS, strict=False):
            rest, thread = w.s.split(rest, self._number(w, axis, "threads"))
            w.s.bind(thread, f"threadIdx.{letter}")


KINDS = ("threads", "virtual", "elements")
"""Into what an axis is split inside of a block."""


class MultiLevelTiling(SketchRule):
    """Tile a reduction, inside the stage that alone reads it element by element, or inside its copy."""

    def decisions(self, compute: ComputeOp, kernel: KernelOp, target: Target) -> Sequence[Decision]:
        reduction = _reduction_for(compute, kernel)
        if reduction is None or len(reduction.results) > 1 or not size_of(reduction.reduction):
            return ()
        return tuple(_tilings(compute, reduction))


def _reduction_for(compute: ComputeOp, kernel: KernelOp) -> ComputeOp | None:
    """The reduction that a stage takes the results of: itself, or the one that it follows."""
    if compute.reduction:
        return compute
    found = [c for c in kernel.computes if c.reduction and follows(compute, c)]
    alone = [c for c in found if consumers(c) == [compute] and not is_output(c)]
    return alone[0] if len(alone) == 1 else None


def _tilings(compute: ComputeOp, reduction: ComputeOp) -> Iterator[TiledReduction]:
    """Those along the last axes for which some read is the same: what is read once serves several elements."""
    own = dict(zip((name for name, _ in compute.spatial), (name for name, _ in reduction.spatial), strict=True))
    reads = list(reduction.reads)
    long = set(long_axes(reduction))
    reused = [name for name, axis in own.items() if axis in long and len(reads_by(reduction, axis)) < len(reads)]
    tiled = tuple(reused[-len(LETTERS) :])
    if not tiled:
        return
    longest = max(reduction.reduction, key=lambda axis: size_of([axis]))[0]
    shared = tuple(dict.fromkeys(a for read in reads if (a := argument_of(read)) is not None))
    fetched = tuple(argument for argument in shared if len(_reads_of(reduction, argument)) == 1)
    for arguments in dict.fromkeys((fetched, ())):
        yield TiledReduction(compute.stage.data, reduction.stage.data, tiled, longest, arguments)


def _own_names(kernel: KernelOp, decision: TiledReduction) -> dict[str, str]:
    """What the reduction calls the axes of the stage."""
    compute, reduction = kernel.compute(decision.stage), kernel.compute(decision.reduction)
    assert compute is not None and reduction is not None
    return {name: axis for (name, _), (axis, _) in zip(compute.spatial, reduction.spatial, strict=True)}


def _reads_of(compute: ComputeOp, argument: int) -> list[ReadOp]:
    return [read for read in compute.reads if argument_of(read) == argument]


def _axes_of(read: ReadOp) -> set[object]:
    """The axes that say which element is read."""
    return {name for expr in read.exprs for name in expr.variables()}


def _whole(compute: ComputeOp, read: ReadOp, decision: TiledReduction) -> int:
    """How many elements are fetched for each element of a tile and each term of a step: a window's, for example."""
    whole = [(name, e) for name, e in compute.reduction if name != decision.step and name in _axes_of(read)]
    return size_of(whole)


def _copy(argument: int) -> str:
    return f"argument {argument} shared"
