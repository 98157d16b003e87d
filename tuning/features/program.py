"""A loop nest as plain data: which loops are around what is computed, and how its accesses move with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tilework.algebra.index_expr import Compound, Expr, Key
from tilework.dialects.loop import Kind


@dataclass(frozen=True)
class Form:
    """An index expression: `offset + sum(coefficient * index) + sum(coefficient * atom)`.

    Offset and coefficients are over symbols. `curved` are quotients, remainders, minima and maxima over indices, and
    products of indices; `unknown` tells that a number from memory is in the expression too.
    """

    coefficients: Mapping[Key, Expr]
    offset: Expr
    curved: tuple[tuple[Expr, Compound], ...] = ()
    unknown: bool = False

    @cached_property
    def identity(self) -> object:
        """Equal for equal expressions."""
        return frozenset(self.coefficients.items()), self.offset, frozenset(self.curved), self.unknown

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """The indices that it depends on, each once."""
        curved = (key for _, atom in self.curved for a in atom.args for key in a.variables())
        return tuple(dict.fromkeys([*self.coefficients, *curved]))


@dataclass(frozen=True, eq=False)
class Clause:
    """Conditions `form >= 0`, or `form == 0` where so marked, all of which hold; or, if `fails`, one of which does not.

    exact: whether the condition of the same place is an equality.
    """

    forms: tuple[Form, ...]
    exact: tuple[bool, ...]
    fails: bool = False


@dataclass(eq=False)
class Loop:
    """A loop whose index runs from 0 to below the least of its `ends`, where it meets conditions.

    ends: over symbols. limits: other ends, over indices of loops around. conditions: that the index is below the
    limits, and not before other beginnings of the loop than the first. unroll_limit: of how many statements loops in it
    may become straight-line code.
    """

    index: Key
    name: str
    kind: Kind
    ends: tuple[Expr, ...]
    limits: tuple[Form, ...]
    conditions: tuple[Form, ...] = ()
    unroll_limit: Expr | None = None

    def __repr__(self) -> str:
        return f"Loop({self.name})"


@dataclass(eq=False)
class Buffer:
    """Memory that is accessed. `dims` and `strides`, in elements, are over symbols.

    place: how many loops are around its allocation, for one that a loop allocates; None for an argument or scratch.
    """

    name: str
    element_bytes: int
    dims: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    scope: str | None = None
    place: tuple[Loop, ...] | None = None

    def __repr__(self) -> str:
        return f"Buffer({self.name})"


@dataclass(eq=False)
class Access:
    """A load or store of one element; `where` are conditions that are not those of the whole body."""

    buffer: Buffer
    subscripts: tuple[Form, ...]
    stores: bool
    where: tuple[Clause, ...] = ()


@dataclass(frozen=True, eq=False)
class Operation:
    """An operation on numbers, of a kind of `operations.KINDS`.

    where: conditions that are not those of the whole body. choosing: the condition by which it chooses between two
    values; where that is the same in all iterations, there is nothing to do.
    """

    kind: str
    where: tuple[Clause, ...] = ()
    choosing: Clause | None = None


@dataclass(eq=False)
class Body:
    """What runs in one iteration of the loops around it: straight-line code.

    updates: pairs of a load and a store of the same element.
    """

    loops: tuple[Loop, ...]
    clauses: tuple[Clause, ...]
    accesses: list[Access] = field(default_factory=list[Access])
    operations: list[Operation] = field(default_factory=list[Operation])
    updates: dict[Access, Access] = field(default_factory=dict[Access, Access])

    @cached_property
    def asked(self) -> tuple[Form, ...]:
        """The conditions that are asked in it and around it, each once; those of the loops among them."""
        clauses = [*self.clauses, *(c for a in self.accesses for c in a.where)]
        clauses += [o.choosing for o in self.operations if o.choosing is not None]
        forms = [*(f for loop in self.loops for f in loop.conditions), *(f for c in clauses for f in c.forms)]
        return tuple({form.identity: form for form in forms}.values())


@dataclass(frozen=True)
class Program:
    """The bodies of a nest in program order, and all its buffers."""

    bodies: tuple[Body, ...]
    buffers: tuple[Buffer, ...]
