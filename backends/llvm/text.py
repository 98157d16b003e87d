"""Builds the text of an LLVM IR module: functions, names, blocks, metadata. Knows LLVM's syntax and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tilework.targets import Target
from tilework.targets.cpu.target import CpuTarget

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_$.-]")

_PRINTED = frozenset(map(chr, range(0x20, 0x7F))) - {'"', "\\"}
"""What stands for itself between quotes."""

LONGEST_HINT = 128
"""Characters of a hint that become part of a name: LLVM cuts names off after a thousand, and takes two for one then."""


def global_name(name: str) -> str:
    """`@name` as LLVM's syntax writes it: in quotes where there is more in it than letters, digits, and `$._-`."""
    if _NOT_IN_NAMES.search(name) is None and not name[:1].isdigit() and name:
        return f"@{name}"
    quoted = "".join(chr(b) if chr(b) in _PRINTED else f"\\{b:02X}" for b in name.encode())
    return f'@"{quoted}"'


class ModuleText:
    """The parts of a module, each written once; `str` puts them together."""

    def __init__(self, target: Target):
        self.target = CpuTarget.of(target, "llvm")
        self._declarations: dict[str, str] = {}
        self._definitions: dict[str, str] = {}
        self._metadata: list[str] = []
        self._shared: dict[str, str] = {}

    def declare(self, name: str, declaration: str) -> None:
        """Declare the external function `@name`, unless it was; intrinsics need no declaration."""
        self._declarations.setdefault(name, declaration)

    def takes_declaration(self, name: str) -> bool:
        """Whether `@name` was declared; it is no more, so that it may be defined."""
        return self._declarations.pop(name, None) is not None

    def define(self, name: str, text: str) -> None:
        """Add the definition of `@name`."""
        assert name not in self._definitions, name
        self._definitions[name] = text

    def define_once(self, name: str, write: Callable[[], str]) -> None:
        """Add the definition of `@name` that `write` gives, unless it is there."""
        if name not in self._definitions:
            self._definitions[name] = write()

    def metadata(self, *operands: str, distinct: bool = False) -> str:
        """A node such as `!{!"llvm.loop.unroll.full"}` and its name; a distinct one has itself as first operand."""
        name = f"!{len(self._metadata)}"
        parts = ", ".join((name, *operands) if distinct else operands)
        self._metadata.append(f"{name} = {'distinct ' if distinct else ''}!{{{parts}}}")
        return name

    def shared_metadata(self, operand: str) -> str:
        """The one node of the module that has this operand."""
        if operand not in self._shared:
            self._shared[operand] = self.metadata(operand)
        return self._shared[operand]

    def __str__(self) -> str:
        head = f'target triple = "{self.target.triple}"\n'
        declarations = [text for name, text in self._declarations.items() if name not in self._definitions]
        parts = [head, *self._definitions.values(), "\n".join(declarations), "\n".join(self._metadata)]
        return "\n".join(part for part in parts if part) + "\n"


class FunctionText:
    """The body of one function, written front to back; values are named by methods that append instructions."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._entry: list[str] = []
        self._used: dict[str, int] = {"entry": 1}
        self._count = 0
        self.block = "entry"
        """The label of the block being written: what a phi names as the edge from here."""
        self._around: tuple[str, str] | None = None
        self._behind_calls: list[int] = []

    # -- names

    def fresh(self, hint: str | None = None) -> str:
        """A local name that nothing else has, after the hint where there is one."""
        if not hint:
            self._count += 1
            return f"%v{self._count}"
        stem = _NOT_IN_NAMES.sub("_", hint[:LONGEST_HINT])
        if stem[0].isdigit() or (stem[0] == "v" and stem[1:].isdigit()):
            stem = f"_{stem}"
        name = stem
        while name in self._used:  # a hint may itself end in a number
            name = f"{stem}.{self._used[stem]}"
            self._used[stem] += 1
        self._used[name] = 1
        return f"%{name}"

    # -- instructions

    def value(self, instruction: str, hint: str | None = None) -> str:
        """Append `%name = instruction`; returns the name."""
        name = self.fresh(hint)
        self._lines.append(f"  {name} = {instruction}")
        return name

    def line(self, instruction: str) -> None:
        """Append an instruction without a value."""
        self._lines.append(f"  {instruction}")

    def call(self, name: str, arguments: Iterable[tuple[str, str]]) -> None:
        """Append a call of a function without a result; arguments are values and their types."""
        self.line(f"call void {global_name(name)}({', '.join(f'{type_} {value}' for value, type_ in arguments)})")

    def entry(self, instruction: str, hint: str) -> str:
        """Put `%name = instruction` into the entry block, before everything else there; returns the name."""
        name = self.fresh(hint)
        self._entry.append(f"  {name} = {instruction}")
        return name

    def line_later(self) -> int:
        """Keep a line free, such as for a phi with an edge that is not written yet; `set_line` fills it."""
        self._lines.append("")
        return len(self._lines) - 1

    def set_line(self, position: int, instruction: str) -> None:
        """Fill a line kept by `line_later`."""
        self._lines[position] = f"  {instruction}"

    def around(self, first: str, last: str) -> None:
        """Let the function begin with an instruction, and do another before it returns."""
        self._around = (first, last)

    def behind_call(self) -> None:
        """Keep a line free for what the function begins with: a function that was called may have undone it."""
        self._behind_calls.append(self.line_later())

    def finish(self) -> None:
        """End the function with a return."""
        if self._around is not None:
            self.line(self._around[1])
        self.line("ret void")

    # -- blocks

    def branch(self, label: str, metadata: str = "") -> None:
        """End the block with a jump. A label is a name with its percent sign."""
        self.line(f"br label {label}{metadata}")

    def branch_if(self, condition: str, then: str, otherwise: str, metadata: str = "") -> None:
        """End the block with a jump to one of two."""
        self.line(f"br i1 {condition}, label {then}, label {otherwise}{metadata}")

    def start(self, label: str) -> None:
        """Begin the block of this label."""
        self._lines.append(f"{label[1:]}:")
        self.block = label[1:]

    # -- the whole

    def definition(self, head: str, parameters: Iterable[str], attributes: str = "nounwind") -> str:
        """The text of the function; `head` is such as `internal void @f`. The last block must have been ended."""
        first = "" if self._around is None else f"  {self._around[0]}"
        for line in self._behind_calls:
            self._lines[line] = first
        body = filter(None, [*self._entry, first, *self._lines])
        head = f"define {head}({', '.join(parameters)}) {attributes} {{"
        return "\n".join((head, "entry:", *body, "}", ""))
