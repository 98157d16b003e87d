"""Which part of each stage is computed where.

Stages are visited from outputs to inputs. An output covers its whole tensor. A stage computed at a consumer's axis
covers what its consumers read while the axes inside that point run, those outside held fixed (the paper's bound
inference); threads that share its buffer run too. All results are expressions whose variables are `Axis` objects, the
loops, and symbol names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from xdsl.ir import SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, Key, const, maximum, minimum, product, var
from tilework.algebra.intervals import Interval, Lattice, common_step, interval, lattice
from tilework.algebra.predicate import at_least, less_than
from tilework.analysis.domains import positive
from tilework.dialects.loop import THREADS, Kind
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ReadOp, ScanOp
from tilework.scheduling.stage_bounds import Region, StageBounds, add_conditions, extents_of
from tilework.scheduling.state import Axis, ScheduleState, Split, Stage, leaves_of, refuse

__all__ = ["StageBounds", "bounds_alone", "infer_bounds"]


def infer_bounds(state: ScheduleState) -> dict[Stage, StageBounds]:
    """The bounds of every stage. Raises CompileError where a schedule asks for what its extents do not allow."""
    bounds: dict[Stage, StageBounds] = {}
    for stage in _order(state):
        _add_bounds(state, stage, bounds)
    for stage in state.stages.values():
        if bounds[stage].inside:
            bounds[stage].unsafe_reads = _unsafe_reads(state, stage, bounds)
    return bounds


def domain_of(state: ScheduleState, stage: Stage, bounds: Mapping[Stage, StageBounds]) -> Domain:
    """The ranges of symbols and of the loops around the stage's body."""
    domain = Domain(state.symbol_ranges)
    around = [(axis, bounds[axis.stage].last[axis]) for axis in state.attach_path(stage)]
    own = [(axis, bounds[stage].last[axis]) for axis in stage.leaves] if stage in bounds else []
    for axis, last in (*around, *own):
        domain = positive(domain, last + 1).extended(axis, 0, last)
    return domain


def bounds_alone(state: ScheduleState, stage: Stage) -> StageBounds:
    """The bounds of a stage that computes its whole tensor in a nest of its own, wherever the schedule places it."""
    b = extents_of(stage, _whole(stage), state.knobs)
    alone = replace(stage, attach=None, after=None)
    add_conditions(stage, b, domain_of(state, alone, {alone: b}), state.knobs)
    return b


def _order(state: ScheduleState) -> list[Stage]:
    """Consumers first; before all others those that consumers follow, which cover their whole tensors."""
    followed = [s.after.stage for s in state.stages.values() if s.after is not None]
    return list(dict.fromkeys([*followed, *reversed(state.stages.values())]))


def _add_bounds(state: ScheduleState, stage: Stage, known: dict[Stage, StageBounds]) -> None:
    """Find the bounds of a stage from those of its consumers, which are known."""
    steps: list[int] | None = None
    if stage.scan is not None and (stage.kept or not state.consumers(stage)):
        region = _step(stage, stage.scan, known)
    elif stage.attach is not None:
        if stage.is_output:
            _check_output(state, stage, stage.attach)
        region, steps = _needed(state, stage, known)
    elif stage.after is not None:
        region = _made(state, stage, stage.after, known)
    else:
        region = _whole(stage)
    known[stage] = b = extents_of(stage, region, state.knobs, steps)
    add_conditions(stage, b, domain_of(state, stage, known), state.knobs)


def _whole(stage: Stage) -> Region:
    return [(const(0), e) for _, e in stage.compute.spatial]


def _step(stage: Stage, scan: Stage, known: Mapping[Stage, StageBounds]) -> Region:
    """All of a tensor at the time of a step, and at one point of the axes independent of time."""
    assert isinstance(scan.compute, ScanOp)
    time, *around = (known[scan].values[axis.name] for axis in scan.spatial)
    points = [(start, const(1)) for start in (time + scan.compute.first, *around)]
    return [*points, *_whole(stage)[len(points) :]]


# -- what consumers need


def _needed(state: ScheduleState, stage: Stage, bounds: Mapping[Stage, StageBounds]) -> tuple[Region, list[int]]:
    """The union over all reads of the stage, per axis, and its steps; the whole axis where that is no larger."""
    consumers = state.consumers(stage)
    if not consumers:
        return _whole(stage), [1] * len(stage.spatial)
    fixed = {a for a in state.attach_path(stage) if not state.is_shared_along(stage, a)}
    intervals: list[list[Interval]] = [[] for _ in stage.spatial]
    lattices: list[list[Lattice]] = [[] for _ in stage.spatial]
    for consumer, read in consumers:
        running = _running(state, consumer, bounds, fixed)
        values, ranges = bounds[consumer].values, domain_of(state, consumer, bounds)
        for at, (index, (_, whole)) in enumerate(zip(read.exprs, stage.compute.spatial, strict=True)):
            if _is_data(index):
                intervals[at].append((const(0), whole - 1))
                lattices[at].append((const(0), 1))
            else:
                place = ranges.simplify(index.substitute(values))
                intervals[at].append(interval(place, running))
                lattices[at].append(lattice(place, running))
    domain = domain_of(state, stage, bounds)
    region: Region = []
    steps: list[int] = []
    for (_, whole), reads, points in zip(stage.compute.spatial, intervals, lattices, strict=True):
        low = domain.simplify(reduce(minimum, (r[0] for r in reads)))
        high = domain.simplify(reduce(maximum, (r[1] for r in reads)))
        step = common_step(points)
        extent = _at_most(state, stage, bounds, domain.simplify((high - low) // step + 1))
        is_closed = state.knobs.settle(extent) and not state.knobs.settle(whole)  # buffers are of such extents
        reaches_all = domain.proves(at_least(extent, whole)) and not is_closed
        needs_all = reaches_all or not _only_symbols(extent, state)
        if not needs_all and low == 0 and not extent.is_constant and state.knobs.settle(extent, whole):
            extent = state.knobs.least(extent, whole)  # it is the whole axis for some choices
        region.append((const(0), whole) if needs_all else (low, extent))
        steps.append(1 if needs_all else step)
    return region, steps


def _check_output(state: ScheduleState, stage: Stage, place: Axis) -> None:
    """Raise CompileError where an output is not computed whole, or by several threads, in the loops of consumers.

    It is whole where a consumer that is whole itself reads each of its elements at a place of its own; and threads
    compute different elements where all reads are at that place, which depends on the threads' axes.
    """
    reads = state.consumers(stage)
    what = f"stage '{stage.name}' is an output of the kernel, and"
    if not any(_is_whole(consumer) and _reads_all(consumer, read, stage) for consumer, read in reads):
        message = f"{what} its consumers do not read all of it element by element: compute it at the root"
        refuse(stage.attach_op, place.stage, message, place)
    places = {tuple(read.exprs) for _, read in reads}
    alone = len(places) == 1 and all(consumer is place.stage for consumer, _ in reads)
    names = {key for e in next(iter(places)) for key in e.variables()}
    roots = [axis for axis in place.stage.roots if axis.name in names] if alone else []
    own = {leaf for axis in roots for leaf in leaves_of(place.stage, axis)}
    shared = next((a for a in state.attach_path(stage) if a.kind in (Kind.PARALLEL, *THREADS) and a not in own), None)
    if shared is not None:
        message = f"{what} iterations of {shared.kind} axis '{shared}' may store the same element: take another axis"
        refuse(stage.attach_op, shared.stage, message, shared)


def _is_whole(stage: Stage) -> bool:
    return stage.scan is None and (stage.attach is None or stage.is_output)


def _reads_all(consumer: Stage, read: ReadOp, stage: Stage) -> bool:
    """Whether a read's indices are different axes of the consumer, each as long as that axis of the stage."""
    extents = {var(a.name): a.extent for a in consumer.roots}
    same = all(extents.get(e) == a.extent for e, a in zip(read.exprs, stage.spatial, strict=True))
    return same and len(set(read.exprs)) == len(read.exprs)


def _is_data(index: Expr) -> bool:
    """Whether an index depends on elements of a tensor: it may then be anything."""
    return any(isinstance(key, SSAValue) for key in index.variables())


def _at_most(state: ScheduleState, stage: Stage, bounds: Mapping[Stage, StageBounds], extent: Expr) -> Expr:
    """The extent, or the constant that it never exceeds where there is one; with open knobs, one for each choice."""
    if state.knobs.settle(extent):
        return extent
    if set(extent.variables()) & set(state.knobs.symbols):
        return _free_of_loops(extent, [(a, bounds[a.stage].last[a]) for a in state.attach_path(stage)])
    most = domain_of(state, stage, bounds).upper(extent)
    return extent if most is None else const(max(most, 0))


def _free_of_loops(e: Expr, loops: Sequence[tuple[Axis, Expr]]) -> Expr:
    """What an expression never exceeds whatever the iterations of these loops, which are listed outermost first."""
    for axis, last in reversed(loops):
        _, e = interval(e, {axis: (const(0), last)})
    return e


def _only_symbols(e: Expr, state: ScheduleState) -> bool:
    return set(e.variables()) <= set(state.symbols)


def _running(
    state: ScheduleState, consumer: Stage, bounds: Mapping[Stage, StageBounds], fixed: set[Axis]
) -> dict[Key, Interval]:
    """The loops around the consumer's body that are not fixed, and its reduce axes, with their ranges."""
    axes = [*state.attach_path(consumer), *consumer.leaves]
    return {a: (const(0), bounds[a.stage].last[a]) for a in axes if a not in fixed}


# -- what a producer has made


def _made(state: ScheduleState, stage: Stage, axis: Axis, bounds: Mapping[Stage, StageBounds]) -> Region:
    """What one iteration of the producer's axis makes, of a stage that reads the same elements. It must be a box."""
    producer = axis.stage
    b, domain = bounds[producer], domain_of(state, stage, bounds)
    inside = producer.leaves[producer.leaves.index(axis) + 1 :]
    running: dict[Key, Interval] = {a: (const(0), b.last[a]) for a in inside}
    region: Region = []
    for root, (_, whole) in zip(producer.spatial, stage.compute.spatial, strict=True):
        leaves = leaves_of(producer, root)
        if all(a in inside for a in leaves):
            region.append((const(0), whole))
            continue
        low, high = interval(b.values[root.name], running)
        extent = _at_most(state, stage, bounds, domain.simplify(high - low + 1))
        count = product(b.extents[a] for a in leaves if a in inside)
        if extent != count or _has_surplus(producer, root, b, domain):
            state.knobs.require(extent, count)
            refuse(
                stage.attach_op,
                producer,
                f"stage '{stage.name}' cannot follow axis '{axis}' of stage '{producer.name}': one iteration does not "
                f"make a contiguous part of axis '{root}'; take an axis outside its splits, or divide evenly",
                axis,
            )
        region.append((low, extent))
    return region


def _has_surplus(stage: Stage, root: Axis, b: StageBounds, domain: Domain) -> bool:
    """Whether a split of an axis made from `root` goes beyond it: the surplus belongs to another iteration."""
    made = set(leaves_of(stage, root))
    splits = [r for r in stage.relations if isinstance(r, Split) and r.parent not in b.even]
    inner = [r.parent for r in splits if r.parent not in stage.roots]
    return any(
        made & set(leaves_of(stage, parent))
        and domain.proves(less_than(b.indices[parent], b.extents[parent])) is not True
        for parent in inner
    )


# -- what a padded stage may read


def _unsafe_reads(state: ScheduleState, stage: Stage, bounds: Mapping[Stage, StageBounds]) -> set[ReadOp]:
    """The reads of a padded stage that may fall outside the buffer read."""
    domain = domain_of(state, stage, bounds)
    values = bounds[stage].values

    def is_safe(read: ReadOp) -> bool:
        producer = state.of_result.get(read.tensor)
        if producer is None or producer.attach is None:
            region: Region = [(const(0), e) for e in dims_of(read.tensor.type)]
            steps = [1] * len(region)
        else:
            region, steps = bounds[producer].region, bounds[producer].steps
        return all(
            not _is_data(e)
            and domain.proves(at_least(e.substitute(values), low))
            and domain.proves(less_than(e.substitute(values), low + extent * step))
            for e, (low, extent), step in zip(read.exprs, region, steps, strict=True)
        )

    return {read for read in stage.compute.reads if not is_safe(read)}
