"""One rewrite pattern alone, wherever it matches or at one place of the file: for whoever debugs or writes one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.algebra.errors import did_you_mean
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.dialects.support.locations import source_position
from tilework.driver.patterns import all_patterns
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

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns = all_patterns()
        found = patterns.get(self.pattern)
        if found is None:
            hint = did_you_mean(self.pattern, patterns)
            raise UsageError(f"'{self.pattern}' does not refer to a rewrite pattern{hint}; see --list-patterns")
        matched = False
        for anchor in found.anchors(op):
            here = [inner for inner in found.operations(anchor) if self._is_here(inner)]
            matched |= rewrite(here, [found.instance(anchor)]) if here else False
        if self.line is not None and not matched:
            place = ":".join(str(part) for part in (self.line, self.column) if part is not None)
            raise CompileError(f"{self.pattern} does not match at line {place}", op)

    def _is_here(self, op: Operation) -> bool:
        position = source_position(op.location)
        if self.line is None:
            return True
        return position is not None and (position.line, self.column or position.column) == (self.line, position.column)
