"""What sizes must be where a program can be run: conditions on its symbols, with what to tell the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Key, const
from tilework.algebra.parse import parse_condition
from tilework.algebra.predicate import Predicate

MOST_CASES = 8
"""How many combinations of sizes that are 0 and sizes that are not are looked at one by one."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """At least one of the conditions holds. `text` says who needs that, and what is wrong where none does."""

    any_of: tuple[Predicate, ...]
    text: str

    @staticmethod
    def of(condition: Predicate, text: str) -> Requirement:
        """A requirement that a single condition holds."""
        return Requirement((condition,), text)

    @staticmethod
    def parse(any_of: Sequence[str], text: str) -> Requirement:
        """Make a requirement of conditions that are given as text. Raises ValueError."""
        return Requirement(tuple(map(parse_condition, any_of)), text)

    def variables(self) -> tuple[Key, ...]:
        """The keys of all variables, each once, in order of appearance."""
        return tuple(dict.fromkeys(key for condition in self.any_of for key in condition.expr.variables()))

    def evaluate(self, values: Mapping[Any, int]) -> bool:
        """Whether it is met by these values of the variables."""
        return any(condition.evaluate(values) for condition in self.any_of)

    def is_always_met(self) -> bool:
        """Whether it is known to be met by all sizes from 0 on."""
        keys = self.variables()
        if self._proven(Domain({key: (0, None) for key in keys})) is True:
            return True
        if not 0 < 2 ** len(keys) <= MOST_CASES:
            return False
        cases = (dict(zip(keys, zeros, strict=True)) for zeros in product((True, False), repeat=len(keys)))
        return all(self._is_met_where(case) for case in cases)

    def _is_met_where(self, is_zero: Mapping[Key, bool]) -> bool:
        zeros = {key: const(0) for key, zero in is_zero.items() if zero}
        case = Requirement(tuple(condition.substitute(zeros) for condition in self.any_of), self.text)
        return case._proven(Domain({key: (1, None) for key in is_zero})) is True

    def is_never_met(self) -> bool:
        """Whether it is known to be met by no sizes from 1 on."""
        return self._proven(Domain({key: (1, None) for key in self.variables()})) is False

    def _proven(self, domain: Domain) -> bool | None:
        truths = [domain.proves(condition) for condition in self.any_of]
        if True in truths:
            return True
        return None if None in truths else False
