"""What names stand for while a quoted function is read."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from tilework.algebra.errors import UsageError


@dataclass(frozen=True)
class Bag:
    """A table. dictionaries: the values of its columns of words."""

    value: SSAValue
    dictionaries: dict[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Column:
    """A column of a table, of which sums and the like can be asked."""

    bag: Bag
    name: str


@dataclass(frozen=True)
class Groups:
    """A table by the values of a column."""

    bag: Bag
    name: str


@dataclass(frozen=True)
class Number:
    """A number that is computed of tables; with `labels`, one for each of these values of a column.

    rows: how many rows have each of these values. is_count: whether it says how many rows there are.
    """

    value: SSAValue
    labels: tuple[Any, ...] | None = None
    rows: SSAValue | None = None
    is_count: bool = False


@dataclass(frozen=True)
class Matrix:
    """A matrix of rows, or with one axis a vector; `value` is a tensor, whose first `batch` axes nobody has written."""

    value: SSAValue
    batch: int = 0


@dataclass(frozen=True)
class Part:
    """X or y of a training set, by `name`, of which only sums over rows are known."""

    name: str
    transposed: bool = False


@dataclass(frozen=True)
class Constant:
    """A number, a text, or a list of these, which is known when the function is read."""

    value: Any


Value = Bag | Column | Groups | Number | Matrix | Part | Constant | tuple[Any, ...]


class NotKnown(UsageError):
    """What a quoted function says that is not known, with its line."""


class OneDictionary(Exception):
    """Two columns are compared whose words are to have the same codes: those of these two dictionaries."""

    def __init__(self, one: tuple[Any, ...], other: tuple[Any, ...]):
        super().__init__(one, other)
        self.dictionaries = (one, other)


def not_known(node: ast.AST, what: str) -> NotKnown:
    """The error about a piece of a function."""
    return NotKnown(f"line {getattr(node, 'lineno', 0)}: {what}")


def text_of(node: ast.AST) -> str:
    """A piece of a function as it is written."""
    return ast.unparse(node)
