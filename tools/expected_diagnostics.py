"""`// expected-error@+1 {{text}}`: what a test file says will be reported, held against what was.

    annotation ::= `expected-` (`error` | `warning` | `note` | `remark`) `-re`? place? `{{` text `}}`
    place      ::= `@` (`+` n | `-` n | `above` | `below` | `unknown`)

As in MLIR, an annotation is met by a diagnostic of its severity on its line whose message contains the text; with
`-re`, `{{...}}` inside the text is a regular expression. Annotations stand anywhere in a line, usually in a comment.
Notes without a place (the pass that was running) need no annotation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tilework.dialects.support.locations import SourcePosition
from tilework.tools.diagnostics_printer import Diagnostic

ANNOTATION = re.compile(
    r"expected-(?P<severity>error|warning|note|remark)(?P<regex>-re)?"
    r" *(?:@(?P<place>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}"
)
RELATIVE = {"above": -1, "below": 1}


@dataclass(frozen=True)
class Expected:
    """One annotation: the severity, the line it speaks of (None for `@unknown`), the text, and where it stands."""

    severity: str
    line: int | None
    pattern: re.Pattern[str]
    text: str
    written_at: SourcePosition

    def meets(self, diagnostic: Diagnostic) -> bool:
        """Is `diagnostic` what this annotation expects?"""
        line = None if diagnostic.position is None else diagnostic.position.line
        found = self.pattern.search(diagnostic.message) is not None
        return found and diagnostic.severity == self.severity and line == self.line


def expected_diagnostics(text: str, file: str) -> list[Expected]:
    """The annotations in the text of `file`."""
    return [
        _expected(match, SourcePosition(file, number, match.start() + 1))
        for number, line in enumerate(text.split("\n"), start=1)
        for match in ANNOTATION.finditer(line)
    ]


def unmet(expected: Sequence[Expected], produced: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Errors for every annotation that nothing meets and every diagnostic that nothing expects; empty if all agree."""
    waiting = list(expected)
    errors: list[Diagnostic] = []
    for diagnostic in produced:
        if diagnostic.severity == "note" and diagnostic.position is None:
            continue
        match = next((one for one in waiting if one.meets(diagnostic)), None)
        if match is None:
            message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
            errors.append(Diagnostic("error", message, diagnostic.position))
        else:
            waiting.remove(match)
    for one in waiting:
        message = f'expected {one.severity} "{one.text}" was not produced'
        errors.append(Diagnostic("error", message, one.written_at))
    return errors


def _expected(match: re.Match[str], written_at: SourcePosition) -> Expected:
    place, text = match["place"] or "+0", match["text"]
    line = None if place == "unknown" else written_at.line + (RELATIVE[place] if place in RELATIVE else int(place))
    pattern = _with_regular_expressions(text) if match["regex"] else re.compile(re.escape(text))
    return Expected(match["severity"], line, pattern, text, written_at)


def _with_regular_expressions(text: str) -> re.Pattern[str]:
    """Text in which `{{...}}` is a regular expression."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile("".join(f"(?:{part})" if index % 2 else re.escape(part) for index, part in enumerate(parts)))
