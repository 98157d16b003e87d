"""The box of iterations that the loops around a body span, and how index expressions run in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from tilework.algebra.index_expr import Compound, Expr, Key
from tilework.tuning.features.numbers import Ends, Number, Numbers
from tilework.tuning.features.program import Form, Loop


class Box:
    """The extents of loops, of a loop whose length varies the largest one; 1 where a loop does not run at all.

    `runs` is 0 in configurations in which one of the loops does not.
    """

    def __init__(self, numbers: Numbers, loops: Sequence[Loop]):
        self.numbers = numbers
        self.loops = tuple(loops)
        self.extents: dict[Key, Number] = {}
        self.runs: Number = 1.0
        for loop in loops:
            extent = self._extent(loop)
            if np.any(np.less(extent, 1)):
                self.runs = self.runs * np.greater_equal(extent, 1)
                extent = np.maximum(extent, 1.0)
            self.extents[loop.index] = extent

    def _extent(self, loop: Loop) -> Number:
        """How often a loop runs, at most."""
        limits = [self.ends(form)[1] for form in loop.limits]
        return reduce(np.minimum, [*map(self.numbers.of, loop.ends), *limits])

    def ends(self, form: Form) -> Ends:
        """Between which values an expression is in the box."""
        low = high = self.numbers.of(form.offset)
        for key, coefficient in form.coefficients.items():
            reach = self.numbers.of(coefficient) * (self.extents[key] - 1)
            low, high = low + np.minimum(reach, 0), high + np.maximum(reach, 0)
        for coefficient, atom in form.curved:
            first, last = self.numbers.ends(_alone(atom), self._ranges(atom))
            a, b = first * self.numbers.of(coefficient), last * self.numbers.of(coefficient)
            low, high = low + np.minimum(a, b), high + np.maximum(a, b)
        return low, high

    def steps(self, form: Form) -> Mapping[Key, Number]:
        """How much an expression changes from the first iteration of each loop to the second, the others at 0."""
        steps = {key: self.numbers.of(coefficient) for key, coefficient in form.coefficients.items()}
        for coefficient, atom in form.curved:
            zero: dict[Key, Number] = {key: 0.0 for key in self._keys(atom)}
            start = self.numbers.at(_alone(atom), zero)
            for key in zero:
                step = (self.numbers.at(_alone(atom), {**zero, key: 1.0}) - start) * self.numbers.of(coefficient)
                steps[key] = steps.get(key, 0.0) + step
        return steps

    def reaches(self, form: Form) -> Mapping[Key, Number]:
        """How far an expression moves while each loop runs, the others at 0."""
        reaches = {key: np.abs(self.numbers.of(c)) * (self.extents[key] - 1) for key, c in form.coefficients.items()}
        for coefficient, atom in form.curved:
            ranges = self._ranges(atom)
            zero: dict[Key, Ends] = {key: (0.0, 0.0) for key in ranges}
            for key, ends in ranges.items():
                first, last = self.numbers.ends(_alone(atom), {**zero, key: ends})
                moved = (last - first) * np.abs(self.numbers.of(coefficient))
                reaches[key] = reaches.get(key, 0.0) + moved
        return reaches

    def _ranges(self, atom: Compound) -> dict[Key, Ends]:
        return {key: (0.0, self.extents[key] - 1) for key in self._keys(atom)}

    def _keys(self, atom: Compound) -> list[Key]:
        return [key for key in _alone(atom).variables() if key in self.extents]


def _alone(atom: Compound) -> Expr:
    return Expr(((atom, 1),), 0)
