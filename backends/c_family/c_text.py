"""Builds the text of a file of C: definitions, functions, names, indentation. Knows C's syntax and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tilework.algebra.c_names import WORDS

_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
_WORD = re.compile(r"\w+")

LONGEST_HINT = 64
"""Characters of a hint that become part of a name."""

INDENT = "  "

_TYPE = re.compile(r"([fiu](8|16|32|64)x\d+\w*|\w+_t)$")


class FileText:
    """The parts of a file, each written once; `str` puts them together behind its head."""

    def __init__(self, head: str):
        self.head = head
        self._types: dict[str, str] = {}
        self._helpers: dict[str, str] = {}
        self._functions: dict[str, str] = {}

    def define_type(self, name: str, text: str) -> None:
        """Add the definition of a type, unless it is there."""
        self._types.setdefault(name, text)

    def define_once(self, name: str, write: Callable[[], str]) -> None:
        """Add the definition of the helper `name` that `write` gives, behind what it calls, unless it is there."""
        if name not in self._helpers:
            text = write()
            self._helpers.setdefault(name, text)

    def define(self, name: str, text: str) -> None:
        """Add a function, or a declaration of one."""
        assert name not in self._functions, name
        self._functions[name] = text

    def __contains__(self, name: str) -> bool:
        return name in self._functions

    def __str__(self) -> str:
        words = set[str]()
        for text in self._functions.values():
            words |= words_of(text)
        helpers: list[str] = []
        for name, text in reversed(self._helpers.items()):  # each behind those that it calls
            if name in words:
                helpers.insert(0, text)
                words |= words_of(text)
        types = "".join(self._types.values())
        return "\n".join(part for part in (self.head, types, *helpers, *self._functions.values()) if part)


class FunctionText:
    """The body of one function, written front to back. A name is free again where the block that it is of ends."""

    def __init__(self, taken: Iterable[str] = ()):
        self._lines: list[_Line] = []
        self._names: list[set[str]] = [set(taken)]
        self._depth = 1

    # -- names

    def fresh(self, hint: str | None = None) -> str:
        """Take a name that nothing else has in this block and those around it, after the hint where there is one."""
        name = self.free(hint)
        self._names[-1].add(name)
        return name

    def free(self, hint: str | None = None) -> str:
        """The same, without taking it: for the block that begins next."""
        stem = _IN_NAMES.sub("_", (hint or "v")[:LONGEST_HINT]).strip("_") or "v"
        if stem[0].isdigit():
            stem = f"v{stem}"
        if stem in WORDS or _TYPE.fullmatch(stem):
            stem = f"{stem}_"
        name, count = stem, 1
        while any(name in names for names in self._names):
            name = f"{stem}_{count}"
            count += 1
        return name

    def parameter(self, hint: str) -> str:
        """A name that nothing else has in the whole of what follows: that of a parameter found on the way."""
        name = self.fresh(hint)
        self._names[0].add(name)
        return name

    # -- lines

    def line(self, text: str, variable: str | None = None) -> None:
        """Append a line; one that does nothing but declare a variable is left out where none reads that."""
        self._lines.append(_Line(self._depth, text, variable))

    def open(self, head: str, *names: str) -> None:
        """Begin a block: `head {`, which takes names that were free."""
        self.line(f"{head} {{".lstrip())
        self._depth += 1
        self._names.append({*names})

    def close(self, end: str = "}") -> None:
        """End a block."""
        self._depth -= 1
        self._names.pop()
        self.line(end)

    def otherwise(self) -> None:
        """End the first block of a condition and begin the second."""
        self._depth -= 1
        self._names[-1] = set()
        self.line("} else {")
        self._depth += 1

    # -- the whole

    def definition(self, head: str, parameters: Sequence[str]) -> str:
        """The text of the function; `head` is such as `static void f`. It says which parameters are not read.

        Attributes in double brackets may stand behind a parameter's name.
        """
        lines = self._read_lines()
        words = set[str]().union(*(words_of(line.text) for line in lines))
        names = [parameter.partition(" [[")[0].rpartition(" ")[2].lstrip("*&") for parameter in parameters]
        unread = [f"{INDENT}(void){name};" for name in names if name not in words]
        body = [f"{INDENT * line.depth}{line.text}" for line in lines]
        return "\n".join((f"{head}({listed(parameters)}) {{", *unread, *body, "}", ""))

    def _read_lines(self) -> list[_Line]:
        """The lines without declarations of variables that no other line of their block reads."""
        kept: list[_Line] = []  # from the last to the first
        words: list[set[str]] = []
        for line in reversed(self._lines):
            if line.variable is not None and not _is_read(line, kept, words):
                continue
            kept.append(line)
            words.append(words_of(line.text))
        return kept[::-1]


class _Line(NamedTuple):
    """A line, how deep in blocks it stands, and the variable that it declares."""

    depth: int
    text: str
    variable: str | None = None


def _is_read(line: _Line, behind: Sequence[_Line], words: Sequence[set[str]]) -> bool:
    """Whether a variable is read before its block ends, by the lines behind, the nearest of which is the last."""
    for other, found in zip(reversed(behind), reversed(words), strict=True):
        if other.depth < line.depth:
            return False
        if line.variable in found:
            return True
    return False


def words_of(text: str) -> set[str]:
    """The names, and other words, in a text."""
    return set(_WORD.findall(text))


def is_name(text: str) -> bool:
    """Whether an operand is a variable, and no constant."""
    return text.isidentifier() and text not in ("true", "false")


def listed(parameters: Sequence[str]) -> str:
    """Parameters between parentheses."""
    return ", ".join(parameters) if parameters else "void"
