"""Finds docstrings that hang on the name above them, such as "Of its weight; not yet inserted."."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

HANGING = frozenset("Of By As Whose Are".split())
"""Docstrings begin with none of these, but for `As many` and `As much`."""
PREPOSITIONS = frozenset("From In To For With At Over Without Between Along Beside On Through Up Under Around".split())
VERB = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|does|do|did|can|may|must|will|would|cannot|gives?|takes?|makes?|holds?|goes|"
    r"stands?|needs?|says?|reads?|writes?|stays?|runs?|counts?|computes?|calls?|becomes?|lies|lie|gets?|asks?|waits?|"
    r"keeps?|costs?|fails?|begins?|ends?|stops?|stores?|tells?|knows?|loads?|pays|raises?|returns?|chooses|choose|"
    r"compares?|multipl(?:y|ies)|adds?|fills?|follows?|wraps?|reaches|uses?|wants?|moves?|means?|puts?|shows?|compiles?|"
    r"finds?|sees?|share|shares|come|comes|differ|differs|decides?|leaves?|lets?|allow|allows|turns?|depends?|enter|"
    r"enters|serves?|maps?|cuts?|round|rounds|agrees?|happens?|appl(?:y|ies)|brings?|beats?|grows?|shrinks?)\b"
)
"""Verbs that docstrings here have; a sentence with none of them is taken for a fragment."""


class Docstring(NamedTuple):
    """The text of a docstring, the line where it begins, and what it describes."""

    line: int
    name: str
    text: str


def docstrings(source: str) -> Iterator[Docstring]:
    """All docstrings of a file: of the module, classes and functions, and those below the names of values."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for before, statement in zip([node, *body], body, strict=False):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    name = _described(node, before)
                    if name is not None:
                        yield Docstring(statement.lineno, name, text)
                case _:
                    pass


def is_fragment(text: str) -> bool:
    """Whether the first sentence hangs on a name, or begins with a preposition and has no verb that is known here."""
    sentence = re.split(r"[.;:](?:\s|$)", " ".join(text.split()))[0]
    first, _, rest = sentence.partition(" ")
    if first.rstrip(",") in HANGING:
        return not rest.startswith(("many", "much"))
    return first.rstrip(",") in PREPOSITIONS and VERB.search(sentence) is None


def _described(around: ast.AST, before: ast.AST) -> str | None:
    match before:
        case ast.Module():
            return "the module"
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if before is around:
            return before.name
        case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target):
            return ast.unparse(target)
        case _:
            return None
