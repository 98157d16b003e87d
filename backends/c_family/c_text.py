"""Builds the text of a file of C: definitions, functions, names, indentation. Knows C's syntax and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from tilework.algebra.c_names import WORDS

_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")

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
        return name in self._helpers or name in self._functions

    def __str__(self) -> str:
        types = "".join(self._types.values())
        parts = [self.head, types, *self._helpers.values(), *self._functions.values()]
        return "\n".join(part for part in parts if part)


class FunctionText:
    """The body of one function, written front to back. A name is free again where the block that it is of ends."""

    def __init__(self, taken: Iterable[str] = ()):
        self._lines: list[str] = []
        self._names: list[set[str]] = [set(taken)]
        self._depth = 1

    # -- names

    def fresh(self, hint: str | None = None) -> str:
        """A name that nothing else has in this block and those around it, after the hint where there is one."""
        stem = _IN_NAMES.sub("_", (hint or "v")[:LONGEST_HINT]).strip("_") or "v"
        if stem[0].isdigit():
            stem = f"v{stem}"
        if stem in WORDS or _TYPE.fullmatch(stem):
            stem = f"{stem}_"
        name, count = stem, 1
        while any(name in names for names in self._names):
            name = f"{stem}_{count}"
            count += 1
        self._names[-1].add(name)
        return name

    def parameter(self, hint: str) -> str:
        """A name that nothing else has in the whole of what follows: that of a parameter found on the way."""
        name = self.fresh(hint)
        self._names[0].add(name)
        return name

    # -- lines

    def line(self, text: str) -> None:
        """Append a line."""
        self._lines.append(f"{INDENT * self._depth}{text}")

    def open(self, head: str) -> None:
        """Begin a block: `head {`."""
        self.line(f"{head} {{".lstrip())
        self._depth += 1
        self._names.append(set())

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

    def drop_unread(self, names: Iterable[str]) -> None:
        """Take away the declarations of those variables, of the whole function, that no other line reads."""
        for name in names:
            holding = [line for line in self._lines if re.search(rf"\b{name}\b", line)]
            if len(holding) == 1:
                self._lines.remove(holding[0])

    def mention(self, parameters: Iterable[str]) -> None:
        """Say of each parameter that is not used that this is on purpose."""
        words = set(re.findall(r"\w+", "\n".join(self._lines)))
        self._lines[:0] = [f"{INDENT}(void){name};" for name in parameters if name not in words]

    # -- the whole

    def definition(self, head: str, parameters: Sequence[str]) -> str:
        """The text of the function; `head` is such as `static void f`."""
        return "\n".join((f"{head}({listed(parameters)}) {{", *self._lines, "}", ""))


def is_name(text: str) -> bool:
    """Whether an operand is a variable, and no constant."""
    return text.isidentifier() and text not in ("true", "false")


def listed(parameters: Sequence[str]) -> str:
    """Parameters between parentheses."""
    return ", ".join(parameters) if parameters else "void"
