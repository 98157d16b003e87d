"""At which share of the iterations conditions hold.

Indices are taken to be anywhere in their ranges, and conditions on different sums of them to have nothing to do with
each other, but that an index which runs to the end of a tensor only is nowhere behind it. What is asked of one sum is
counted: exactly, where all of its indices but one have few values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod

import numpy as np

from tilework.algebra.index_expr import Expr, Key, const
from tilework.tuning.features.box import Box
from tilework.tuning.features.numbers import Number
from tilework.tuning.features.program import Clause, Form, Loop, Operation

MOST_POINTS = 64
"""So many values of indices besides the longest are looked at one by one; more are sampled."""

SAMPLES = 32
"""How many points are looked at where conditions are on quotients, or many indices are added up."""

SMALL = 8192
"""So many numbers are worked out at a time: arrays of them stay near the core."""

_IRRATIONAL = (0.6180339887498949, 0.7548776662466927, 0.8191725133961645, 0.8566748838545029)
"""Points that are multiples of these, their whole parts left out, spread evenly."""

Extents = Mapping[frozenset[Loop], Number]
"""How many of the numbers that the indices of some loops count through are there at all."""


class Shares:
    """The shares of iterations that pass conditions. lengths: how often each loop runs at most in any configuration."""

    def __init__(self, box: Box, lengths: Mapping[Key, int]):
        self.box = box
        self._lengths = lengths
        self._known: dict[tuple[Clause, ...], Number] = {}
        self._alone: dict[int, Number] = {}

    def of(self, clauses: Iterable[Clause]) -> Number:
        """The share at which all of the clauses hold, and loops of varying length run."""
        listed = tuple(clauses)
        known = self._known.get(listed)
        if known is None:
            known = self._known[listed] = self._of(listed)
        return known

    def of_operation(self, operation: Operation) -> Number:
        """The share at which an operation is done, those that are done besides aside."""
        share = self.of(operation.where) if operation.where else 1.0
        choosing = operation.choosing
        if choosing is None:
            return share
        return share * reduce(np.maximum, map(self.is_open, choosing.forms, choosing.exact))

    def of_form(self, form: Form) -> Number:
        """The share at which one condition holds."""
        known = self._alone.get(id(form))
        if known is None:
            known = self._alone[id(form)] = self._one(_Asked(form), {})
        return known

    def is_open(self, form: Form, exact: bool = False) -> Number:
        """In which configurations a condition holds in some iterations and not in others; 1 or 0."""
        low, high = self.box.ends(form)
        if exact:
            return np.logical_and(low <= 0, high >= 0) * np.not_equal(low, high) * 1.0
        return np.logical_and(low < 0, high >= 0) * 1.0

    # -- several conditions

    def _of(self, clauses: Sequence[Clause]) -> Number:
        asked = [_Asked(form) for loop in self.box.loops for form in loop.conditions]
        asked += [one for clause in clauses if not clause.fails for one in _asked_in(clause)]
        there = self._there(asked)
        share = self._all(asked, there)
        for clause in (c for c in clauses if c.fails):
            share = share * (1 - self._all(list(_asked_in(clause)), there))
        return share

    def _there(self, asked: Sequence[_Asked]) -> Extents:
        """What is there of the numbers that indices count through, where a condition ends them."""
        found: dict[frozenset[Loop], Number] = {}
        for one in asked:
            runs = [] if one.exact or one.form.curved or one.form.unknown else self._runs(one.form, {})
            if len(runs) == 1 and np.all(np.less(self.box.numbers.of(runs[0].step), 0)):
                extent = self.of_form(one.form) * runs[0].extent(self.box)
                found[runs[0].key] = np.minimum(found.get(runs[0].key, extent), extent)
        return found

    def _all(self, asked: Sequence[_Asked], there: Extents) -> Number:
        share: Number = 1.0
        for sides in _by_sum(asked).values():
            share = share * self._both(sides, there)
        return share

    def _both(self, sides: Sequence[_Side], there: Extents) -> Number:
        """Combine the conditions on one sum: the strictest from below, and the strictest from above."""
        below = self._strictest((side for side in sides if side.sign > 0), there)
        above = self._strictest((side for side in sides if side.sign < 0), there)
        return np.maximum(below + above - 1, 0.0)

    def _strictest(self, sides: Iterable[_Side], there: Extents) -> Number:
        share: Number = 1.0
        for side in sides:
            share = np.minimum(share, self._one(side.asked, there))
        return share

    # -- one condition

    def _one(self, asked: _Asked, there: Extents) -> Number:
        form = asked.form
        if form.unknown:
            return 0.5
        low, high = self.box.ends(form)
        if asked.exact:
            # one of as many values as there are between the ends
            return np.where(np.logical_and(low <= 0, high >= 0), 1 / (high - low + 1), 0.0)
        if np.all(np.greater_equal(low, 0)):
            return 1.0
        if np.all(np.less(high, 0)):
            return 0.0
        share = self._sampled(form) if form.curved else self._counted(form, there)
        return np.where(np.greater_equal(low, 0), 1.0, np.where(np.less(high, 0), 0.0, share))

    def _counted(self, form: Form, there: Extents) -> Number:
        """The longest of the indices is counted for each combination of the others."""
        runs = self._runs(form, there)
        longest = max(runs, key=lambda run: run.length)
        others = [run for run in runs if run is not longest]
        if prod(run.length for run in others) > MOST_POINTS:
            return self._sampled(form)
        extents = {run: run.extent(self.box) for run in runs}
        if others:
            extents = {run: there.get(run.key, extent) for run, extent in extents.items()}
        numbers = self.box.numbers
        start, step = numbers.of(form.offset), numbers.of(longest.step)
        share: Number = 0.0
        for point in product(*(range(run.length) for run in others)):
            value, part = start, 1.0
            for at, run in zip(point, others, strict=True):
                value = value + numbers.of(run.step) * at
                part = part * np.less(at, extents[run]) / extents[run]
            share = share + part * _part_above(value, step, extents[longest])
        return share

    def _runs(self, form: Form, known: Extents) -> list[_Run]:
        """The indices of a sum, those joined that are the digits of one number, first of those that are known."""
        loops = {loop.index: loop for loop in self.box.loops}
        runs = [_Run((loops[key],), step, self._lengths[key]) for key, step in form.coefficients.items()]
        while (pair := _digits(runs, known)) is not None:
            outer, inner = pair
            runs = [run for run in runs if run not in pair]
            runs.append(_Run((*outer.loops, *inner.loops), inner.step, outer.length * inner.length))
        return runs

    def _sampled(self, form: Form) -> Number:
        """At points spread over the box, several at a time where there are few configurations."""
        keys = [key for key in form.keys if key in self.box.extents]
        together = max(1, SMALL // self.box.numbers.count)
        share: Number = 0.0
        for first in range(0, SAMPLES, together):
            at = np.arange(first, min(first + together, SAMPLES))[:, None]
            parts = ((at + 0.5) * _IRRATIONAL[i % 4] * (1 + i // 4) % 1.0 for i in range(len(keys)))
            point = {key: np.floor(part * self.box.extents[key]) for key, part in zip(keys, parts, strict=True)}
            above = np.greater_equal(self._value(form, point) + np.zeros(at.shape), 0)
            share = share + above.sum(axis=0) / SAMPLES
        return share

    def _value(self, form: Form, point: Mapping[Key, Number]) -> Number:
        numbers = self.box.numbers
        total = numbers.of(form.offset)
        for key, coefficient in form.coefficients.items():
            total = total + numbers.of(coefficient) * point[key]
        for coefficient, atom in form.curved:
            total = total + numbers.of(coefficient) * numbers.at(Expr(((atom, 1),), 0), point)
        return total


@dataclass(frozen=True)
class _Asked:
    """A condition `form >= 0`, or `form == 0`."""

    form: Form
    exact: bool = False


def _asked_in(clause: Clause) -> Iterator[_Asked]:
    return map(_Asked, clause.forms, clause.exact)


@dataclass(frozen=True, eq=False)
class _Side:
    """A condition on a sum from below (sign 1) or from above."""

    sign: int
    asked: _Asked


@dataclass(frozen=True, eq=False)
class _Run:
    """Indices that count through as many numbers as the product of their extents, `step` apart.

    length: how many these are at most in any configuration.
    """

    loops: tuple[Loop, ...]
    step: Expr
    length: int

    @property
    def key(self) -> frozenset[Loop]:
        return frozenset(self.loops)

    def extent(self, box: Box) -> Number:
        """How many numbers there are."""
        total: Number = 1.0
        for loop in self.loops:
            total = total * box.extents[loop.index]
        return total

    def size(self) -> Expr | None:
        """The same as an expression over symbols."""
        total = const(1)
        for loop in self.loops:
            if len(loop.ends) != 1:
                return None
            total = total * loop.ends[0]
        return total


def _digits(runs: Sequence[_Run], known: Extents) -> tuple[_Run, _Run] | None:
    """Two of which the first steps over all of the second."""
    pairs = [(a, b) for a in runs for b in runs if a is not b and _steps_over(a, b)]
    joined = (pair for pair in pairs if any(pair[0].key | pair[1].key <= key for key in known))
    return next(joined, pairs[0] if pairs else None)


def _steps_over(outer: _Run, inner: _Run) -> bool:
    size = inner.size()
    return size is not None and outer.step == inner.step * size


def _part_above(value: Number, step: Number, extent: Number) -> Number:
    """The share of the indices from 0 on at which `value + step * index` is 0 or more."""
    # of a rising sum those from ceil(-value / step) on, of a falling one those up to floor(value / -step)
    steps = np.floor(value / np.maximum(np.abs(step), 1))
    count = steps + np.where(np.greater(step, 0), extent, 1.0)
    if np.any(np.equal(step, 0)):
        count = np.where(np.equal(step, 0), np.greater_equal(value, 0) * extent, count)
    return np.minimum(np.maximum(count, 0), extent) / np.maximum(extent, 1)


def _by_sum(asked: Sequence[_Asked]) -> Mapping[object, list[_Side]]:
    """Conditions by the sum that they ask about, whichever sign it has."""
    groups: dict[object, list[_Side]] = {}
    for one in asked:
        rising, falling = ((frozenset(_terms(one.form, sign)), one.exact) for sign in (1, -1))
        sign, key = (-1, falling) if falling in groups else (1, rising)
        groups.setdefault(key, []).append(_Side(sign, one))
    return groups


def _terms(form: Form, sign: int) -> Iterator[tuple[object, Expr]]:
    yield from ((key, coefficient * sign) for key, coefficient in form.coefficients.items())
    yield from ((atom, coefficient * sign) for coefficient, atom in form.curved)
