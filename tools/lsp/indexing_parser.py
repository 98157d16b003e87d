"""A parser that remembers where SSA values are defined, and in which part of the text each name means them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Region, SSAValue
from xdsl.utils.lexer import Span

from tilework.dialects.support.source_parser import SourceParser


@dataclass
class Definition:
    """A name and the values that it means between two offsets of the text; `start` is where the name is defined."""

    name: str
    values: Sequence[SSAValue]
    start: int
    scope: tuple[int, int]

    def is_meant(self, name: str, offset: int) -> bool:
        """Whether the name at an offset means this definition, unless one inside of its scope hides it."""
        return name == self.name and (offset == self.start or self.scope[0] <= offset < self.scope[1])


class IndexingParser(SourceParser):
    """`definitions` lists what was defined, also where the text ends in an error."""

    def __init__(self, ctx: Context, text: str, name: str):
        self.definitions: list[Definition] = []
        self._whole = (len(text) - len(text.lstrip()), len(text))
        super().__init__(ctx, text, name)

    def parse_optional_region(self, arguments: Iterable[SourceParser.Argument] | None = None) -> Region | None:
        first, start = len(self.definitions), self.pos
        region = super().parse_optional_region(arguments)
        if region is not None:
            for definition in self.definitions[first:]:
                if definition.scope == self._whole:  # not in a region inside of this one
                    definition.scope = (start, self.pos)
        return region

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        super()._register_ssa_definition(name, values, span)
        self.definitions.append(Definition(name, values, span.start, self._whole))
