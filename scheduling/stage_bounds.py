"""How far each loop of one stage runs, and which elements it reaches, from the region that the stage covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, ceildiv, const, minimum, var
from tilework.algebra.intervals import interval
from tilework.algebra.predicate import Predicate, at_least, less_than
from tilework.dialects.loop import Kind
from tilework.dialects.schedule import BindOp, Tail
from tilework.dialects.te import ReadOp
from tilework.scheduling.open_knobs import OpenKnobs
from tilework.scheduling.state import Axis, Fuse, Relation, Singleton, Split, Stage, leaves_of, refuse

Region: TypeAlias = list[tuple[Expr, Expr]]
"""For each axis of a tensor, where a part of it starts and how long it is."""


@dataclass
class StageBounds:
    """The bounds of one stage.

    `region` is the part of the tensor that is computed, of which along each axis every element or, with `steps`, one in
    so many; extents count those. `extents` the trip counts of all axes, leaves among them;
    `last` the largest index of a leaf, which for tail mask depends on other axes. `indices` are the positions of all
    axes, from 0, in terms of the leaves, `values` the coordinates of the root axes. `even` are axes whose split leaves
    no rest for any choice of the open knobs. `guards` must hold for an element to be computed, `reduce_guards` too for
    a point of its reduction to count. Where a stage is padded, `unsafe_reads`
    may reach beyond what there is; they are read under the conditions `inside` only.
    """

    region: Region
    steps: list[int] = field(default_factory=list[int])
    extents: dict[Axis, Expr] = field(default_factory=dict[Axis, Expr])
    last: dict[Axis, Expr] = field(default_factory=dict[Axis, Expr])
    indices: dict[Axis, Expr] = field(default_factory=dict[Axis, Expr])
    values: dict[str, Expr] = field(default_factory=dict[str, Expr])
    even: set[Axis] = field(default_factory=set[Axis])
    guards: list[Predicate] = field(default_factory=list[Predicate])
    reduce_guards: list[Predicate] = field(default_factory=list[Predicate])
    inside: list[Predicate] = field(default_factory=list[Predicate])
    unsafe_reads: set[ReadOp] = field(default_factory=set[ReadOp])


def extents_of(stage: Stage, region: Region, knobs: OpenKnobs, steps: Sequence[int] | None = None) -> StageBounds:
    """The trip counts of all axes. Raises CompileError where a primitive asks for what they do not allow."""
    padding = stage.padded()
    padded = [(low, _padded(padding.get(a), e, knobs)) for a, (low, e) in zip(stage.spatial, region, strict=True)]
    b = StageBounds(padded)
    b.steps = [1] * len(region) if steps is None else list(steps)
    for axis, (_, extent) in zip(stage.spatial, b.region, strict=True):
        b.extents[axis] = extent
    of_reduction = [r for r in stage.relations if _made_of(r).reduce]
    of_space = [r for r in stage.relations if r not in of_reduction]
    for relation in of_space:
        _pass_down(stage, relation, b, knobs)
    b.indices = _pass_up(stage, b, of_space)
    coordinates = {
        a.name: b.indices[a] * step + low for a, (low, _), step in zip(stage.spatial, b.region, b.steps, strict=True)
    }
    for axis, (_, extent) in zip(stage.reduction, stage.compute.reduction, strict=True):
        b.extents[axis] = extent.substitute(coordinates)
    for relation in of_reduction:
        _pass_down(stage, relation, b, knobs)
    b.indices |= _pass_up(stage, b, of_reduction)
    for i, axis in enumerate(stage.leaves):
        b.last.setdefault(axis, b.extents[axis] - 1)
        _check_kind(axis, b.extents[axis], knobs)
        _check_threads(axis, b.extents[axis], knobs)
        _check_tensorized(axis, b.extents[axis], knobs)
        _check_outside(stage, i, b)
    return b


def add_conditions(stage: Stage, b: StageBounds, domain: Domain, knobs: OpenKnobs) -> None:
    """The coordinates, and the conditions under which there is something to compute, as far as `domain` cannot tell."""
    starts = [*(low for low, _ in b.region), *(const(0) for _ in stage.reduction)]
    steps = [*b.steps, *(1 for _ in stage.reduction)]
    declared = [*(e for _, e in stage.compute.spatial), *(b.extents[a] for a in stage.reduction)]
    padding = stage.padded()
    # every split that does not divide, not only one of a root axis: its surplus would be another iteration's share
    split = [r.parent for r in stage.relations if isinstance(r, Split) and r.parent not in b.even]
    guards = [less_than(b.indices[a], b.extents[a]) for a in split if not a.reduce]
    reduce_guards = [less_than(b.indices[a], b.extents[a]) for a in split if a.reduce]
    inside: list[Predicate] = []
    for axis, start, step, whole in zip(stage.roots, starts, steps, declared, strict=True):
        value = b.indices[axis] * step + start
        b.values[axis.name] = value
        if (start, step, b.extents[axis]) != (const(0), 1, whole):
            conditions = [at_least(value, 0), less_than(value, whole)]
            (inside if axis in padding else reduce_guards if axis.reduce else guards).extend(conditions)
    b.guards = _open(guards, domain, knobs)
    b.reduce_guards = _open(reduce_guards, domain, knobs)
    b.inside = _open(inside, domain, knobs)


def _open(conditions: Sequence[Predicate], domain: Domain, knobs: OpenKnobs) -> list[Predicate]:
    left = [
        p for p in dict.fromkeys(conditions) if domain.proves(p) is not True and not _always_holds(p, domain, knobs)
    ]
    return [Predicate(domain.simplify(p.expr), p.kind) for p in left]


def _always_holds(p: Predicate, domain: Domain, knobs: OpenKnobs) -> bool:
    """Whether a condition `>=` holds in all iterations for all choices of the open knobs, as those that divide show."""
    if not knobs.choices:
        return False
    least = p.expr
    while (key := domain.innermost(least)) is not None and not knobs.settle(var(key)):
        first, last = domain.range_of(key)
        if first is None or last is None:
            return False
        least, _ = interval(least, {key: (first, last)})
    return knobs.proves(Predicate(least))


def _padded(split: Split | None, extent: Expr, knobs: OpenKnobs) -> Expr:
    """The extent of an axis, rounded up where a split of it has tail pad."""
    if split is None:
        return extent
    if not knobs.settle(extent):
        refuse(
            split.op,
            split.parent.stage,
            f"tail pad of axis '{split.parent}' of stage '{split.parent.stage.name}' needs a constant extent, not "
            f"{extent}; use guard, partition or mask",
            split.parent,
        )
    factor = knobs.greatest(ceildiv(extent, split.nparts), const(1)) if split.nparts is not None else split.factor
    assert factor is not None
    return extent if knobs.divide(factor, extent) else ceildiv(extent, factor) * factor


# -- from the axes of the tensor to the leaves


def _pass_down(stage: Stage, relation: Relation, b: StageBounds, knobs: OpenKnobs) -> None:
    """Extents of the axes that a relation makes."""
    if isinstance(relation, Singleton):
        b.extents[relation.axis] = relation.extent
        return
    if isinstance(relation, Fuse):
        b.extents[relation.fused] = reduce(lambda x, y: x * y, (b.extents[p] for p in relation.parents))
        return
    extent = b.extents[relation.parent]
    factor = _factor(relation, extent, knobs)
    b.extents[relation.inner] = factor
    b.extents[relation.outer] = _outer_extent(relation, extent, factor, knobs)
    divides = knobs.divide(factor, extent)
    if divides and not (extent.is_constant and factor.is_constant):
        b.even.add(relation.parent)
    if relation.tail is Tail.SHIFT and not divides:
        _check_shift(stage, relation, extent, factor, knobs)
    if relation.tail is Tail.MASK and not divides:
        _check_mask(stage, relation)
        b.last[relation.inner] = minimum(factor - 1, extent - 1 - var(relation.outer) * factor)


def _factor(relation: Split, extent: Expr, knobs: OpenKnobs) -> Expr:
    """The extent of the inner axis; never more than that of the axis split, where that is known."""
    if relation.factor is None:
        assert relation.nparts is not None
        even = knobs.divide(relation.nparts, extent)
        return extent // relation.nparts if even else ceildiv(extent, relation.nparts)
    if not knobs.settle(extent):
        return relation.factor
    return knobs.greatest(knobs.least(relation.factor, extent), const(1))


def _outer_extent(relation: Split, extent: Expr, factor: Expr, knobs: OpenKnobs) -> Expr:
    if factor.constant is not None:
        return ceildiv(extent, max(factor.constant, 1))
    if relation.nparts is not None and (knobs.divide(relation.nparts, extent) or not knobs.settle(extent)):
        return relation.nparts
    return extent // factor if knobs.divide(factor, extent) else ceildiv(extent, factor)


def _check_shift(stage: Stage, relation: Split, extent: Expr, factor: Expr, knobs: OpenKnobs) -> None:
    if not knobs.settle(extent, factor):
        refuse(
            relation.op,
            stage,
            f"tail shift of axis '{relation.parent}' of stage '{stage.name}' needs a constant extent, not {extent}; "
            "use guard, partition or mask",
        )
    _check_overlap(stage, relation)


def _check_overlap(stage: Stage, relation: Split) -> None:
    """Shifted tiles overlap: each must be set and reduced as a whole, or elements in two tiles are counted twice."""
    if not stage.reduction:
        return
    around = stage.leaves[: stage.init_place]
    late = [a for a in leaves_of(stage, relation.outer) if a not in around]
    if late:
        first = stage.leaves[stage.init_place]
        before = f"reduce axis '{first}' outside '{late[0]}'" if first.reduce else f"setting them before '{first}'"
        refuse(
            relation.op,
            stage,
            f"tail shift of axis '{relation.parent}' of stage '{stage.name}' makes tiles overlap: {before} would count "
            "elements twice; reorder it inside, or use guard, partition or mask",
            first,
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


def _check_kind(axis: Axis, extent: Expr, knobs: OpenKnobs) -> None:
    if axis.kind in (Kind.VECTORIZED, Kind.UNROLLED, Kind.VIRTUAL) and not knobs.settle(extent):
        refuse(
            axis.annotation,
            axis.stage,
            f"axis '{axis}' of stage '{axis.stage.name}' cannot be {axis.kind}: its extent {extent} is not constant; "
            "split it first",
            axis,
        )


def _check_threads(axis: Axis, extent: Expr, knobs: OpenKnobs) -> None:
    """An axis has as many iterations as the thread axis it is bound to has threads, where that says how many."""
    bind = axis.annotation
    if not isinstance(bind, BindOp) or bind.extent is None:
        return
    threads = knobs.number(bind.extent)
    if knobs.constant(extent) != knobs.constant(threads):
        what = f"axis '{axis}' of stage '{axis.stage.name}' has {extent} iterations"
        message = f"{what} and {axis.kind} has {threads} threads: split it by {threads}, or let the axis say how many"
        refuse(bind, axis.stage, message, axis)


def _check_tensorized(axis: Axis, extent: Expr, knobs: OpenKnobs) -> None:
    """A loop of one iteration would vanish, and the request with it."""
    if axis.intrinsic is not None and ((length := knobs.constant(extent)) is None or length < 2):
        what = f"axis '{axis}' of stage '{axis.stage.name}' cannot be tensorized"
        message = f"{what}: its extent is {extent}, and no constant of 2 or more"
        refuse(axis.annotation, axis.stage, message, axis)


def _check_outside(stage: Stage, i: int, b: StageBounds) -> None:
    """The extent of a leaf may depend on leaves outside it only."""
    axis = stage.leaves[i]
    inside = [a for a in stage.leaves[i:] if a in b.extents[axis].variables()]
    if inside:
        refuse(
            stage.order_op,
            stage,
            f"axis '{axis}' of stage '{stage.name}' runs to {b.extents[axis]}, which changes with axis '{inside[0]}' "
            f"inside it; reorder '{inside[0]}' outside",
            axis,
        )


# -- from the leaves back to the axes of the tensor


def _made_of(relation: Relation) -> Axis:
    """An axis that a relation makes."""
    match relation:
        case Split():
            return relation.inner
        case Fuse():
            return relation.fused
        case Singleton():
            return relation.axis


def _pass_up(stage: Stage, b: StageBounds, relations: Sequence[Relation]) -> dict[Axis, Expr]:
    """The index of every axis, from 0, in terms of the leaves, as far as these relations tell."""
    value = {a: var(a) for a in stage.leaves}
    for relation in reversed(relations):
        if isinstance(relation, Singleton):
            continue
        if isinstance(relation, Fuse):
            rest = value[relation.fused]
            first = next((p for p in relation.parents if b.extents[p] != 1), relation.parents[0])
            for parent in reversed(relation.parents):
                if parent is first:
                    value[parent], rest = rest, const(0)
                else:
                    extent = b.extents[parent] if b.extents[parent] != 0 else const(1)  # of a loop that does not run
                    value[parent], rest = rest % extent, rest // extent
            continue
        factor, extent = b.extents[relation.inner], b.extents[relation.parent]
        start = value[relation.outer] * factor
        if relation.tail is Tail.SHIFT and relation.parent not in b.even:
            start = minimum(start, extent - factor)
        value[relation.parent] = start + value[relation.inner]
    return value
