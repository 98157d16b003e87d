"""One rewrite pattern alone, wherever it matches or at one place of the file: for whoever debugs or writes one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.algebra.errors import did_you_mean
from tilework.dialects.support.diagnostics import CompileError, UsageError, name_of
from tilework.dialects.support.locations import source_position
from tilework.driver.patterns import Listed, all_patterns
from tilework.transforms.patterns import rewrite

PLACE = re.compile(r"(?P<pattern>[^@]+)(?:@(?P<line>\d+)(?::(?P<column>\d+))?)?")
"""How `--apply-pattern` names a pattern and a place."""


@dataclass(frozen=True)
class ApplyPattern(ModulePass):
    """Apply the rewrite pattern of this name once to each operation that it matches, in the order of its pass.

    With a `line`, and perhaps a `column`, only to operations that begin there in the file; it is an error then if it
    matches none of them. Operations that a pass has made are where those began that they were made of.
    """

    name = "apply-pattern"

    pattern: str
    line: int | None = None
    column: int | None = None

    @classmethod
    def at(cls, text: str) -> ApplyPattern:
        """What `PATTERN`, `PATTERN@LINE` or `PATTERN@LINE:COLUMN` asks for; UsageError for another text."""
        match = PLACE.fullmatch(text)
        if match is None:
            raise UsageError(f"--apply-pattern: expected PATTERN[@LINE[:COLUMN]], given '{text}'")
        line, column = (None if number is None else int(number) for number in match.group("line", "column"))
        return cls(match["pattern"], line, column)

    @property
    def numerics(self) -> str:
        """What the pass that has the pattern does to rounding."""
        found = all_patterns().get(self.pattern)
        return "exact" if found is None or found.owner is None else found.owner.numerics

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = _named(self.pattern)
        if self.column is not None and self.line is None:
            raise UsageError("a column stands behind a line: apply-pattern{pattern=... line=... column=...}")
        changed, begin_here = False, list[Operation]()
        for anchor in found.anchors(op):
            here = [inner for inner in found.operations(anchor) if self._is_here(inner)]
            begin_here += here
            changed |= rewrite(here, [found.instance(anchor)]) if here else False
        if self.line is not None and not changed:
            place = ":".join(str(part) for part in (self.line, self.column) if part is not None)
            there = ", ".join(dict.fromkeys(name_of(inner) for inner in begin_here if inner.parent is not None))
            found_there = f"{there} begins there" if there else "nothing begins there that it is tried on"
            raise CompileError(f"{self.pattern} does not match at line {place}: {found_there}", op)

    def _is_here(self, op: Operation) -> bool:
        position = source_position(op.location)
        if self.line is None:
            return True
        return position is not None and (position.line, self.column or position.column) == (self.line, position.column)


def _named(pattern: str) -> Listed:
    patterns = all_patterns()
    if pattern not in patterns:
        hint = did_you_mean(pattern, patterns)
        raise UsageError(f"'{pattern}' does not refer to a rewrite pattern{hint}; see --list-patterns")
    return patterns[pattern]
