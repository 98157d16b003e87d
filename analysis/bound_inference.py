"""Which part of each stage is computed where, and how far each loop runs.

Stages are visited from outputs to inputs. An output covers its whole tensor. A stage computed at a consumer's axis
covers what its consumers read while the axes inside that point run, those outside held fixed (the paper's bound
inference). All results are expressions whose variables are `Axis` objects, the loops, and symbol names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, Key, ceildiv, const, maximum, minimum, var
from tilework.algebra.intervals import Interval, interval
from tilework.algebra.predicate import Predicate, at_least, less_than
from tilework.analysis.schedule_state import Axis, Fuse, ScheduleState, Split, Stage, leaves_of, refuse
from tilework.dialects.loop import Kind
from tilework.dialects.schedule import Tail


@dataclass
class StageBounds:
    """The bounds of one stage.

    `region` is, for each axis of the tensor, where the computed part starts and how long it is. `extents` are the trip
    counts of all axes, leaves among them; `last` the largest index of a leaf, which for tail mask depends on other
    axes. `values` are the coordinates of the root axes in terms of the leaves. `guards` must hold for a body to run.
    """

    region: list[tuple[Expr, Expr]]
    extents: dict[Axis, Expr] = field(default_factory=dict[Axis, Expr])
    last: dict[Axis, Expr] = field(default_factory=dict[Axis, Expr])
    values: dict[str, Expr] = field(default_factory=dict[str, Expr])
    guards: list[Predicate] = field(default_factory=list[Predicate])


def infer_bounds(state: ScheduleState) -> dict[Stage, StageBounds]:
    """The bounds of every stage. Raises CompileError where a schedule asks for what its extents do not allow."""
    bounds: dict[Stage, StageBounds] = {}
    for stage in reversed(state.stages.values()):
        region = _whole(stage) if stage.attach is None else _needed(state, stage, bounds)
        bounds[stage] = _stage_bounds(state, stage, region, bounds)
    return bounds


def domain_of(state: ScheduleState, stage: Stage, bounds: Mapping[Stage, StageBounds]) -> Domain:
    """The ranges of symbols and of the loops around the stage's body."""
    domain = Domain({s: (0, None) for s in state.kernel.symbols})
    for axis in state.attach_path(stage):
        domain.add(axis, 0, bounds[axis.stage].last[axis])
    if stage in bounds:
        for axis in stage.leaves:
            domain.add(axis, 0, bounds[stage].last[axis])
    return domain


def _whole(stage: Stage) -> list[tuple[Expr, Expr]]:
    return [(const(0), e) for _, e in stage.compute.spatial]


def _needed(state: ScheduleState, stage: Stage, bounds: Mapping[Stage, StageBounds]) -> list[tuple[Expr, Expr]]:
    """The union over all reads of the stage, per axis; the whole axis where that is no larger."""
    if not state.consumers(stage):
        return _whole(stage)
    path = set(state.attach_path(stage))
    intervals: list[list[Interval]] = [[] for _ in stage.spatial]
    for consumer, read in state.consumers(stage):
        running = _running(state, consumer, bounds, path)
        values = bounds[consumer].values
        for at, index in enumerate(read.indices):
            intervals[at].append(interval(index.substitute(values), running))
    domain = domain_of(state, stage, bounds)
    region: list[tuple[Expr, Expr]] = []
    for (_, whole), reads in zip(stage.compute.spatial, intervals, strict=True):
        low = domain.simplify(reduce(minimum, (r[0] for r in reads)))
        high = domain.simplify(reduce(maximum, (r[1] for r in reads)))
        extent = domain.simplify(high - low + 1)
        if not extent.is_constant:
            most = domain.upper(extent)
            extent = extent if most is None else const(max(most, 0))
        needs_all = domain.proves(at_least(extent, whole)) or not _only_symbols(extent, state)
        region.append((const(0), whole) if needs_all else (low, extent))
    return region


def _only_symbols(e: Expr, state: ScheduleState) -> bool:
    return set(e.variables()) <= set(state.kernel.symbols)


def _running(
    state: ScheduleState, consumer: Stage, bounds: Mapping[Stage, StageBounds], fixed: set[Axis]
) -> dict[Key, Interval]:
    """The loops around the consumer's body that are not fixed, and its reduce axes, with their ranges."""
    axes = [*state.attach_path(consumer), *consumer.leaves]
    return {a: (const(0), bounds[a.stage].last[a]) for a in axes if a not in fixed}


def _stage_bounds(
    state: ScheduleState, stage: Stage, region: list[tuple[Expr, Expr]], known: Mapping[Stage, StageBounds]
) -> StageBounds:
    b = StageBounds(region)
    for axis, (_, extent) in zip(stage.spatial, region, strict=True):
        b.extents[axis] = extent
    for axis, (_, extent) in zip(stage.reduction, stage.compute.reduction, strict=True):
        b.extents[axis] = extent
    for relation in stage.relations:
        _pass_down(stage, relation, b)
    for axis in stage.leaves:
        b.last.setdefault(axis, b.extents[axis] - 1)
        _check_kind(axis, b.extents[axis])
    relative = _pass_up(stage, b)
    roots = [*stage.spatial, *stage.reduction]
    starts = [*(low for low, _ in region), *(const(0) for _ in stage.reduction)]
    declared = [*(e for _, e in stage.compute.spatial), *(e for _, e in stage.compute.reduction)]
    domain = domain_of(state, stage, {**known, stage: b})
    # every split that does not divide, not only one of a root axis: its surplus would be another iteration's share
    split = [r.parent for r in stage.relations if isinstance(r, Split)]
    conditions = [less_than(relative[a], b.extents[a]) for a in split]
    for axis, start, whole in zip(roots, starts, declared, strict=True):
        value = relative[axis] + start
        b.values[axis.name] = value
        if (start, b.extents[axis]) != (const(0), whole):
            conditions += [at_least(value, 0), less_than(value, whole)]
    for condition in dict.fromkeys(conditions):
        if domain.proves(condition) is not True:
            b.guards.append(Predicate(domain.simplify(condition.expr), condition.kind))
    return b


def _pass_down(stage: Stage, relation: Split | Fuse, b: StageBounds) -> None:
    """Extents of the axes that a split or fuse makes."""
    if isinstance(relation, Fuse):
        b.extents[relation.fused] = reduce(lambda x, y: x * y, (b.extents[p] for p in relation.parents))
        return
    extent = b.extents[relation.parent]
    factor = _factor(relation, extent)
    b.extents[relation.inner] = factor
    b.extents[relation.outer] = _outer_extent(relation, extent, factor)
    divides = extent.constant is not None and factor.constant and extent.constant % factor.constant == 0
    if relation.tail is Tail.SHIFT and not divides:
        _check_shift(stage, relation, extent, factor)
    if relation.tail is Tail.MASK and not divides:
        _check_mask(stage, relation)
        b.last[relation.inner] = minimum(factor - 1, extent - 1 - var(relation.outer) * factor)


def _factor(relation: Split, extent: Expr) -> Expr:
    """The extent of the inner axis; never more than that of the axis split, where that is known."""
    if relation.factor is None:
        assert relation.nparts is not None
        return ceildiv(extent, relation.nparts)
    if extent.constant is None:
        return const(relation.factor)
    return const(max(1, min(relation.factor, extent.constant)))


def _outer_extent(relation: Split, extent: Expr, factor: Expr) -> Expr:
    if factor.constant is not None:
        return ceildiv(extent, max(factor.constant, 1))
    assert relation.nparts is not None
    return const(relation.nparts)


def _check_shift(stage: Stage, relation: Split, extent: Expr, factor: Expr) -> None:
    if extent.constant is None or factor.constant is None:
        refuse(
            relation.op,
            stage,
            f"tail shift of axis '{relation.parent}' of stage '{stage.name}' needs a constant extent, not {extent}; "
            "use guard, partition or mask",
        )
    _check_overlap(stage, relation)


def _check_overlap(stage: Stage, relation: Split) -> None:
    """Shifted tiles overlap: each must be set and reduced as a whole, or elements in two tiles are counted twice."""
    first = next((a for a in stage.leaves if a.reduce), None)
    if first is None:
        return
    late = [a for a in leaves_of(stage, relation.outer) if stage.leaves.index(a) > stage.leaves.index(first)]
    if late:
        refuse(
            relation.op,
            stage,
            f"tail shift of axis '{relation.parent}' of stage '{stage.name}' makes tiles overlap: reduce axis "
            f"'{first}' outside '{late[0]}' would count elements twice; reorder it inside, or use guard, partition or "
            "mask",
        )


def _check_mask(stage: Stage, relation: Split) -> None:
    leaves = stage.leaves
    outer, inner = relation.outer, relation.inner
    if outer not in leaves or inner not in leaves or leaves.index(outer) > leaves.index(inner):
        refuse(
            relation.op,
            stage,
            f"tail mask of axis '{relation.parent}' of stage '{stage.name}' makes the inner axis depend on the outer: "
            "both must stay leaves, the outer one outside",
        )


def _check_kind(axis: Axis, extent: Expr) -> None:
    if axis.kind in (Kind.VECTORIZED, Kind.UNROLLED) and extent.constant is None:
        refuse(
            axis.annotation,
            axis.stage,
            f"axis '{axis}' of stage '{axis.stage.name}' cannot be {axis.kind}: its extent {extent} is not constant; "
            "split it first",
        )


def _pass_up(stage: Stage, b: StageBounds) -> dict[Axis, Expr]:
    """The index of every axis, from 0, in terms of the leaves."""
    value = {a: var(a) for a in stage.leaves}
    for relation in reversed(stage.relations):
        if isinstance(relation, Fuse):
            rest = value[relation.fused]
            for parent in reversed(relation.parents[1:]):
                extent = maximum(b.extents[parent], 1)  # where it is 0 the loop does not run, but must not divide by it
                value[parent], rest = rest % extent, rest // extent
            value[relation.parents[0]] = rest
            continue
        factor, extent = b.extents[relation.inner], b.extents[relation.parent]
        start = value[relation.outer] * factor
        if relation.tail is Tail.SHIFT and extent.constant is not None:
            start = minimum(start, extent - factor)
        value[relation.parent] = start + value[relation.inner]
    return value
