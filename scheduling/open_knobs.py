"""Knobs that stay open while a schedule is lowered: what is lowered then holds for each of their choices.

A compilation leaves none open, and every knob is the number that it is set to. An open one is a symbol of the kernel,
as the size of an argument may be, of which the choices are known besides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, Key, const, maximum, minimum, var
from tilework.algebra.predicate import Predicate, at_least, multiple_of
from tilework.dialects.schedule.knob import KnobAttr, NumberAttr, number_of

MOST_POINTS = 1 << 16
"""How many combinations of choices are looked at one by one."""


class KnobMustBeSet(Exception):
    """Something asks for a number that depends on open knobs, whose names the exception carries."""

    def __init__(self, knobs: Sequence[str]):
        super().__init__(f"the schedule is not the same for all choices of {', '.join(knobs)}")
        self.knobs = tuple(knobs)


def symbol_of(knob: str) -> str:
    """The symbol that stands for an open knob. No axis and no size is called so: their names begin with a letter."""
    return "$" + re.sub(r"\W", lambda odd: f".{ord(odd[0]):x}.", knob, flags=re.ASCII)


@dataclass(frozen=True)
class OpenKnobs:
    """The choices of the knobs that are open, by name. A knob that is not among them is what it is set to."""

    choices: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])

    # -- numbers of a schedule

    def number(self, attribute: NumberAttr) -> Expr:
        """A number of the schedule: the symbol of an open knob, else a constant."""
        name = self._open_name(attribute)
        return const(number_of(attribute)) if name is None else var(symbol_of(name))

    def known_number(self, attribute: NumberAttr) -> int:
        """A number of the schedule that has to be known. Raises KnobMustBeSet for an open knob."""
        name = self._open_name(attribute)
        if name is not None:
            raise KnobMustBeSet([name])
        return number_of(attribute)

    def _open_name(self, attribute: NumberAttr) -> str | None:
        if isinstance(attribute, KnobAttr) and attribute.knob.data in self.choices:
            return attribute.knob.data
        return None

    # -- the symbols that stand for them

    @cached_property
    def _values(self) -> Mapping[Key, Sequence[int]]:
        return {symbol_of(name): values for name, values in self.choices.items()}

    @property
    def symbols(self) -> tuple[str, ...]:
        """One for each open knob."""
        return tuple(map(symbol_of, self.choices))

    @property
    def ranges(self) -> dict[Key, tuple[int, int]]:
        """The least and the greatest choice, by symbol."""
        return {symbol: (min(values), max(values)) for symbol, values in self._values.items()}

    def settle(self, *exprs: Expr) -> bool:
        """Whether these are numbers once the open knobs are set. Where none is open, these are constants only."""
        return all(key in self._values for e in exprs for key in e.variables())

    def constant(self, e: Expr) -> int | None:
        """The value of a constant expression, or None. Raises KnobMustBeSet where it depends on open knobs."""
        self.require(e)
        return e.constant

    def require(self, *exprs: Expr) -> None:
        """Raise KnobMustBeSet where one of these depends on open knobs."""
        asked = {key for e in exprs for key in e.variables()}
        if names := [name for name in self.choices if symbol_of(name) in asked]:
            raise KnobMustBeSet(names)

    # -- what holds for all choices

    def proves(self, p: Predicate) -> bool:
        """Whether a predicate on open knobs holds whatever they are set to, as far as all choices are looked at."""
        points = self._points(p.expr)
        return points is not None and bool(np.all(p.evaluate(points)))

    def divide(self, divisor: Expr, e: Expr) -> bool:
        """Whether a divisor leaves no rest of `e`, whatever the open knobs are set to."""
        return self.proves(at_least(divisor, 1)) and self.proves(multiple_of(e, divisor))

    def least(self, a: Expr, b: Expr) -> Expr:
        """The smaller of two expressions, one of them where it always is."""
        return a if self.proves(at_least(b, a)) else b if self.proves(at_least(a, b)) else minimum(a, b)

    def greatest(self, a: Expr, b: Expr) -> Expr:
        """The larger of two expressions, one of them where it always is."""
        return a if self.proves(at_least(a, b)) else b if self.proves(at_least(b, a)) else maximum(a, b)

    def most(self, e: Expr) -> int:
        """A number that an expression on open knobs never exceeds, the largest of its values where there are few."""
        points = self._points(e)
        bound = Domain(self.ranges).upper(e) if points is None else int(np.max(e.evaluate(points)))
        if bound is None:
            self.require(e)
        assert bound is not None, f"{e} depends on more than open knobs"
        return bound

    def _points(self, e: Expr) -> Mapping[Any, Any] | None:
        """All combinations of choices, as arrays; None where they are many, or something else is asked for."""
        if not self.settle(e):
            return None
        chosen = {key: self._values[key] for key in e.variables()}
        if prod(map(len, chosen.values())) > MOST_POINTS:
            return None
        return dict(zip(chosen, np.ix_(*chosen.values()), strict=True))


NO_OPEN_KNOBS = OpenKnobs()
"""What every compilation has: each knob is the number that it is set to."""
