"""Deriving the sketches of a kernel: from its last stage to its first, every rule says how the stage may run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, product

from tilework.dialects.te import ComputeOp, KernelOp
from tilework.dialects.te.intrinsics import copy_with_declarations
from tilework.plugins.packages import Folder, folders_of
from tilework.rules.registry import classes_in
from tilework.scheduling.dataflow.inline import inline_computes
from tilework.targets import Target
from tilework.tuning.sketches.base import Decision, Sketch, SketchRule
from tilework.tuning.sketches.facts import consumers, is_cheap, is_choice, is_output
from tilework.tuning.sketches.writer import SketchWriter

MOST_SKETCHES = 96
"""So many sketches of a kernel are derived, those of the first choices first."""

Places = Mapping[str, tuple[str, str]]
"""For a stage the stage in whose loop it is computed, and the name of that loop's level."""


def sketches_of(kernel: KernelOp, target: Target) -> Sequence[Sketch]:
    """The sketches that the rules for the target's family derive; none where a stage fits no rule."""
    return tuple(islice(_sketches(kernel, target), MOST_SKETCHES))


def rules_for(family: str) -> tuple[SketchRule, ...]:
    """The rules in `tuning/sketches/<family>/` of the tree and of plugins, by name."""
    return _rules_in(folders_of(f"tuning/sketches/{family}"))


@cache
def _rules_in(folders: tuple[Folder, ...]) -> tuple[SketchRule, ...]:
    return tuple(rule() for rule in classes_in(folders, SketchRule))


def _sketches(kernel: KernelOp, target: Target) -> Iterator[Sketch]:
    rules = rules_for(target.family)
    for inlined in _ways_to_inline(kernel):
        rest = _inlined(kernel, inlined)
        for decisions, places in _choices(rest, target, rules, rest.computes[::-1], (), {}):
            yield _written(kernel, rest, target, inlined, decisions, places)


def _ways_to_inline(kernel: KernelOp) -> Iterator[tuple[str, ...]]:
    """Which stages to inline: always what is cheap; what chooses, or costs more, sometimes."""
    inlinable = [c for c in kernel.computes if not c.reduction and not is_output(c) and len(c.results) == 1]
    always = [c for c in inlinable if is_cheap(c) and not is_choice(c)]
    open_ = [c for c in inlinable if c not in always]
    for chosen in product((True, False), repeat=len(open_)):
        taken = [*always, *(c for c, is_taken in zip(open_, chosen, strict=True) if is_taken)]
        yield tuple(c.stage.data for c in kernel.computes if c in taken)


def _inlined(kernel: KernelOp, names: Sequence[str]) -> KernelOp:
    copy = copy_with_declarations(kernel)
    inline_computes([c for c in copy.computes if c.stage.data in names])
    return copy


def _choices(
    kernel: KernelOp,
    target: Target,
    rules: Sequence[SketchRule],
    left: Sequence[ComputeOp],
    made: tuple[Decision, ...],
    places: Places,
) -> Iterator[tuple[tuple[Decision, ...], Places]]:
    """All decisions about the stages that are left, with their places."""
    covered = {name for decision in made for name in decision.covers}
    waiting = [c for c in left if c.stage.data not in covered]
    if not waiting:
        yield made, places
        return
    compute, *rest = waiting
    for decision in (d for rule in rules for d in rule.decisions(compute, kernel, target)):
        for place in _places(compute, made, places):
            if not decision.fits(is_inside=place is not None):
                continue
            chosen = places if place is None else {**places, compute.stage.data: place}
            yield from _choices(kernel, target, rules, rest, (*made, decision), chosen)


def _places(compute: ComputeOp, made: Sequence[Decision], places: Places) -> Iterator[tuple[str, str] | None]:
    """Where a stage may be computed: at the root, or in a loop around all that read it."""
    if is_output(compute):
        yield None
        return
    readers = {c.stage.data for c in consumers(compute)}
    for decision in made:
        for depth, level in enumerate(decision.levels):
            around = {*decision.covers, *_inside(decision, decision.levels[depth:], places)}
            if readers <= around:
                yield decision.stage, level
    yield None


def _inside(decision: Decision, levels: Sequence[str], places: Places) -> set[str]:
    """The stages that are computed in one of these loops of a decision's stage."""
    return {stage for stage, (around, level) in places.items() if around == decision.stage and level in levels}


def _written(
    original: KernelOp,
    kernel: KernelOp,
    target: Target,
    inlined: Sequence[str],
    decisions: Sequence[Decision],
    places: Places,
) -> Sketch:
    w = SketchWriter(original, kernel, target)
    w.attached.update(places)
    for name in inlined:
        w.s.compute_inline(w.stage(name))
    for decision in decisions:
        decision.rewrite(w)
    for decision in decisions:
        decision.write(w)
    told = [f"{', '.join(inlined)} inlined"] if inlined else []
    told += [f"{decision}{_told_place(decision, places)}" for decision in decisions]
    limits = tuple(limit for decision in decisions for limit in decision.limits(kernel, target))
    return Sketch("; ".join(told), w.s.finish(), limits)


def _told_place(decision: Decision, places: Places) -> str:
    if decision.stage not in places:
        return ""
    around, level = places[decision.stage]
    return f" at {around}.{level}"
