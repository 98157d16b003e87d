"""Where an operation came from: locations survive rewriting, so an error in a loop can name its line of `.mlir`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

Found = TypeVar("Found")


class SourcePosition(NamedTuple):
    """A place in a text file; `line` and `column` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


def file_location(position: SourcePosition) -> FileLineColLoc:
    """The location attribute of a place in a file."""
    return FileLineColLoc(StringAttr(position.file), IntAttr(position.line), IntAttr(position.column))


def source_position(location: Attribute) -> SourcePosition | None:
    """The first place in a file that `location` names, or None where it names none."""
    if isinstance(location, FileLineColLoc):
        return SourcePosition(location.filename.data, location.line.data, location.column.data)
    return _first_inside(location, source_position)


def source_name(location: Attribute) -> str | None:
    """The name that `location` carries (an ONNX node's, say), or None where it carries none."""
    if isinstance(location, NameLoc):
        return location.desc.data
    return _first_inside(location, source_name)


def _first_inside(location: Attribute, find: Callable[[Attribute], Found | None]) -> Found | None:
    """What `find` finds first in the locations that `location` is made of."""
    parts: tuple[Attribute, ...] = ()
    if isinstance(location, NameLoc):
        parts = (location.location,)
    elif isinstance(location, CallSiteLoc):
        parts = (location.callee, location.caller)
    elif isinstance(location, FusedLoc) and isa(location.locations, ArrayAttr):
        parts = location.locations.data
    return next((found for found in map(find, parts) if found is not None), None)


def copy_location(new: Operation | Iterable[Operation], old: Operation) -> None:
    """Give `new`, and all it holds, the location of the operation `old` that it replaces, where it has none yet."""
    for root in (new,) if isinstance(new, Operation) else new:
        for op in root.walk():
            if isinstance(op.location, UnknownLoc):
                op.location = old.location
