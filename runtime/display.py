"""Text of compilers as notebooks show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

_TOKENS = re.compile(
    r"(?P<comment>//.*|;.*$)|(?P<string>\"[^\"\n]*\")|(?P<value>%[\w.$#-]+)|(?P<symbol>[@^!#][A-Za-z_][\w.$-]*)"
    r"|(?P<op>\b[a-z_]\w*\.[a-z_][\w.]*)|(?P<number>(?<![\w.])-?\d[\d.e+-]*\b)",
    re.MULTILINE,
)
_COLOURS = {
    "comment": "#6e7781",
    "string": "#0a7f42",
    "value": "#7a4fbf",
    "symbol": "#b3530c",
    "op": "#0b62c4",
    "number": "#a3234f",
}


class CodeText(str):
    """Text of a level: a string that shows itself as it is, in notebooks with colours."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return code_html(self)


def code_html(text: str) -> str:
    """IR or assembly with its values, symbols, operations and numbers in colours."""
    parts: list[str] = []
    end = 0
    for token in _TOKENS.finditer(text):
        colour = _COLOURS[token.lastgroup or ""]
        parts += [escape(text[end : token.start()]), f'<span style="color:{colour}">{escape(token.group())}</span>']
        end = token.end()
    return f'<pre style="line-height:1.25">{"".join(parts)}{escape(text[end:])}</pre>'


def table_html(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""
    cells = ["".join(f"<th>{escape(name)}</th>" for name in head)]
    cells += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
