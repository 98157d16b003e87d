"""At which share of the iterations conditions hold.

Indices are taken to be anywhere in their ranges, and conditions on different sums of them to have nothing to do with
each other. What is asked of one sum is counted: exactly, where all of its indices but one have few values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from tilework.algebra.index_expr import Expr, Key, const
from tilework.tuning.features.box import Box
from tilework.tuning.features.numbers import Number
from tilework.tuning.features.program import Clause, Form, Loop

MOST_POINTS = 64
"""So many values of indices besides the longest are looked at one by one; more are sampled."""

SAMPLES = 32
"""How many points are looked at where conditions are on quotients, or many indices are added up."""


class Shares:
    """The shares of iterations that pass conditions. lengths: how often each loop runs at most in any configuration."""

    def __init__(self, box: Box, lengths: Mapping[Key, int]):
        self.box = box
        self._lengths = lengths

    def of(self, clauses: Iterable[Clause]) -> Number:
        """The share at which all of the clauses hold, and all loops of varying length run."""
        listed = list(clauses)
        limits = [_Asked(_before(loop, limit)) for loop in self.box.loops for limit in loop.limits]
        together = [_Asked(f, x) for c in listed if not c.fails for f, x in zip(c.forms, c.exact, strict=True)]
        share = self._all([*limits, *together])
        for clause in (c for c in listed if c.fails):
            inside = [_Asked(f, x) for f, x in zip(clause.forms, clause.exact, strict=True)]
            share = share * (1 - self._all(inside))
        return share

    def is_open(self, form: Form, exact: bool = False) -> Number:
        """In which configurations a condition holds in some iterations and not in others; 1 or 0."""
        low, high = self.box.ends(form)
        if exact:
            return np.logical_and(low <= 0, high >= 0) * np.not_equal(low, high) * 1.0
        return np.logical_and(low < 0, high >= 0) * 1.0

    def _all(self, asked: Sequence[_Asked]) -> Number:
        share: Number = 1.0
        for sides in _by_sum(asked).values():
            share = share * self._both(sides)
        return share

    def _both(self, sides: Sequence[_Side]) -> Number:
        """Of conditions on one sum: the strictest from below, and the strictest from above."""
        below = self._strictest(side for side in sides if side.sign > 0)
        above = self._strictest(side for side in sides if side.sign < 0)
        return np.maximum(below + above - 1, 0.0)

    def _strictest(self, sides: Iterable[_Side]) -> Number:
        share: Number = 1.0
        for side in dict.fromkeys(sides):
            share = np.minimum(share, self._one(side.asked))
        return share

    # -- one condition

    def _one(self, asked: _Asked) -> Number:
        form = asked.form
        if form.unknown:
            return 0.5
        low, high = self.box.ends(form)
        if asked.exact:
            return self._equal(form, low, high)
        if np.all(np.greater_equal(low, 0)):
            return 1.0
        if np.all(np.less(high, 0)):
            return 0.0
        share = self._sampled(form) if form.curved else self._counted(form)
        return np.where(np.greater_equal(low, 0), 1.0, np.where(np.less(high, 0), 0.0, share))

    def _equal(self, form: Form, low: Number, high: Number) -> Number:
        """One of as many values as there are between the ends, none where 0 is not among them."""
        return np.where(np.logical_and(low <= 0, high >= 0), 1 / (high - low + 1), 0.0)

    def _counted(self, form: Form) -> Number:
        """The longest of the indices is counted for each combination of the others."""
        runs = self._runs(form)
        longest = max(runs, key=lambda run: run.length)
        others = [run for run in runs if run is not longest]
        if prod(run.length for run in others) > MOST_POINTS:
            return self._sampled(form)
        numbers = self.box.numbers
        start, step = numbers.of(form.offset), numbers.of(longest.step)
        share: Number = 0.0
        for point in product(*(range(run.length) for run in others)):
            value, there = start, 1.0
            for at, run in zip(point, others, strict=True):
                extent = run.extent(self.box)
                value = value + numbers.of(run.step) * at
                there = there * np.less(at, extent) / extent
            share = share + there * _part_above(value, step, longest.extent(self.box))
        return share

    def _runs(self, form: Form) -> list[_Run]:
        """The indices of a sum, those joined that are the digits of one number."""
        loops = {loop.index: loop for loop in self.box.loops}
        runs = [_Run((loops[key],), step, self._lengths[key]) for key, step in form.coefficients.items()]
        while (pair := _digits(runs)) is not None:
            outer, inner = pair
            runs = [run for run in runs if run not in pair]
            runs.append(_Run((*outer.loops, *inner.loops), inner.step, outer.length * inner.length))
        return runs

    def _sampled(self, form: Form) -> Number:
        """At points spread over the box evenly."""
        keys = [key for key in self._keys(form) if key in self.box.extents]
        share: Number = 0.0
        for at in range(SAMPLES):
            point = {
                key: np.floor(((at + 0.5) * _spread(i) % 1.0) * self.box.extents[key]) for i, key in enumerate(keys)
            }
            share = share + np.greater_equal(self._value(form, point), 0) / SAMPLES
        return share

    def _value(self, form: Form, point: Mapping[Key, Number]) -> Number:
        numbers = self.box.numbers
        total = numbers.of(form.offset)
        for key, coefficient in form.coefficients.items():
            total = total + numbers.of(coefficient) * point[key]
        for coefficient, atom in form.curved:
            total = total + numbers.of(coefficient) * numbers.at(Expr(((atom, 1),), 0), point)
        return total

    def _keys(self, form: Form) -> list[Key]:
        curved = (key for _, atom in form.curved for key in Expr(((atom, 1),), 0).variables())
        return list(dict.fromkeys([*form.coefficients, *curved]))


@dataclass(frozen=True)
class _Asked:
    """A condition `form >= 0`, or `form == 0`."""

    form: Form
    exact: bool = False


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

    def extent(self, box: Box) -> Number:
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


def _digits(runs: Sequence[_Run]) -> tuple[_Run, _Run] | None:
    """Two of which the first steps over all of the second."""
    for outer, inner in ((a, b) for a in runs for b in runs if a is not b):
        size = inner.size()
        if size is not None and outer.step == inner.step * size:
            return outer, inner
    return None


def _part_above(value: Number, step: Number, extent: Number) -> Number:
    """The share of the indices from 0 on at which `value + step * index` is 0 or more."""
    size = np.maximum(np.abs(step), 1)
    # of a rising sum those from ceil(-value / step) on, of a falling one those up to floor(value / -step)
    count = np.where(np.greater(step, 0), extent + np.floor(value / size), np.floor(value / size) + 1)
    return np.clip(np.where(np.equal(step, 0), np.greater_equal(value, 0) * extent, count), 0, extent) / extent


def _spread(i: int) -> float:
    """How far apart neighbouring samples of an index are: parts that are hardly rational, so that points spread."""
    return (0.6180339887498949, 0.7548776662466927, 0.8191725133961645, 0.8566748838545029)[i % 4] * (1 + i // 4)


def _before(loop: Loop, limit: Form) -> Form:
    """The condition that the index of a loop is below a limit of it."""
    coefficients = {**limit.coefficients}
    coefficients[loop.index] = coefficients.get(loop.index, const(0)) - 1
    return Form(coefficients, limit.offset - 1, limit.curved, limit.unknown)


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
