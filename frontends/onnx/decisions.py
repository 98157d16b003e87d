"""What is decided about a model before it is imported, and found out only while it is: then it is imported again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace

from tilework.algebra.index_expr import Expr, ExprLike, Key, to_expr, var
from tilework.frontends.onnx.same_sizes import SameSizes


class NeedsConstants(Exception):
    """A model can be imported only where these initializers are what they are: the caller must not replace them."""

    def __init__(self, names: Set[str]):
        super().__init__(names)
        self.names = names


@dataclass(frozen=True)
class Replaced:
    """What a symbol that inputs declare has to be: another one, or a number, as an operator needs."""

    size: ExprLike
    needed_by: str


@dataclass
class Decisions:
    """equal: symbols that have to be others, or numbers. constants: initializers that the caller must not replace.
    branches: which branch of an If is imported, by the title of the node; `likely` are those for which nothing has said
    which, with the other one.
    """

    equal: dict[Key, Replaced] = field(default_factory=dict[Key, Replaced])
    constants: set[str] = field(default_factory=set[str])
    branches: dict[str, str] = field(default_factory=dict[str, str])
    likely: dict[str, str] = field(default_factory=dict[str, str])

    def equate(self, found: SameSizes, symbols: Sequence[Key]) -> None:
        """Let a size be another one that it has to be equal to; of two symbols, the first one of the model stays."""
        one, other = found.one, found.other
        if isinstance(other, str) and symbols.index(one) < symbols.index(other):
            one, other = other, one
        self.equal[one] = Replaced(var(other) if isinstance(other, str) else other, found.needed_by)

    def size_of(self, declared: Expr) -> Expr:
        """What a dimension is that an input declares."""
        replaced = self.equal.get(str(declared))
        return declared if replaced is None else self.size_of(to_expr(replaced.size))

    def needs(self, declared: Iterable[Expr]) -> str:
        """Which operators need that dimensions are not what an input declares."""
        return ", ".join(dict.fromkeys(text for d in declared for text in self._needs_of(d)))

    def _needs_of(self, size: Expr) -> Iterator[str]:
        while (replaced := self.equal.get(str(size))) is not None:
            yield f"{replaced.needed_by} needs {size} to be {replaced.size}"
            size = to_expr(replaced.size)

    def branch(self, title: str, likely: str, other: str) -> str:
        """The branch of an If that is imported, where nothing says which."""
        if title in self.branches:
            return self.branches[title]
        self.likely[title] = other
        return likely

    def others(self, defaults: Set[str]) -> Iterator[Decisions]:
        """What else might be decided, where the model cannot be imported so: one thing at a time."""
        for title, other in self.likely.items():
            yield replace(self._copied(), branches={**self.branches, title: other}, likely={})
        if defaults - self.constants:
            yield replace(self._copied(), constants={*defaults})

    def _copied(self) -> Decisions:
        return Decisions({**self.equal}, {*self.constants}, {**self.branches}, {**self.likely})
