"""The numbers of a row of which sums of products say all that sums over rows can say.

    1, and for each column of numbers its value and whether it is there, for each value of a dictionary whether it is it

Values are about a shift, so that sums do not cancel; one that is missing is 0, and so is its place among those that are
there. Of a column in which none is missing, the number that says so is the 1 of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute

from tilework.dialects.bag import BagType
from tilework.dialects.matrix import MatrixType
from tilework.dialects.support.diagnostics import TileworkError

ONE = 0
"""The place of the 1."""


@dataclass(frozen=True)
class Part:
    """The places of the columns of one argument.

    values: of each column of numbers, by its name, one behind the other. there: of whether they are there, those of
    columns in which numbers may be missing behind one another. codes: the first place of each dictionary.
    """

    values: dict[str, int]
    there: dict[str, int]
    codes: dict[str, int]

    @property
    def optional(self) -> list[str]:
        """The columns of numbers that may be missing."""
        return [name for name, place in self.there.items() if place != ONE]


@dataclass(frozen=True)
class Basis:
    """The places of the columns of each argument, and how many there are in all."""

    parts: tuple[Part, ...]
    size: int

    @property
    def values(self) -> list[int]:
        """The places of all values of columns of numbers, in order."""
        return [place for part in self.parts for place in part.values.values()]

    @staticmethod
    def of(types: Sequence[Attribute]) -> Basis:
        """The basis for rows that lie in arguments of these types, tables and matrices."""
        parts: list[Part] = []
        size = 1
        for type_ in types:
            bag = _as_bag(type_)
            names = [*bag.numbers]
            optional = [name for name in names if name in bag.may_be_missing]
            values = {name: size + i for i, name in enumerate(names)}
            there = {name: size + len(names) + optional.index(name) if name in optional else ONE for name in names}
            size += len(names) + len(optional)
            codes: dict[str, int] = {}
            for name, count in bag.dictionaries.items():
                codes[name] = size
                size += count
            parts.append(Part(values, there, codes))
        return Basis(tuple(parts), size)


def _as_bag(type_: Attribute) -> BagType:
    """A table; a matrix as one whose columns are called by their numbers."""
    if isinstance(type_, MatrixType):
        return BagType.of(type_.rows, {str(i): type_.element_type for i in range(type_.columns)})
    if not isinstance(type_, BagType):
        raise TileworkError(f"{type_} has no rows")
    return type_
