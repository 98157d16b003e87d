"""Errors as MLIR prints them: `file:2:3: error: ...`, the line of the source, a caret, and the notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Literal

from xdsl.ir import Operation
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError

from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import SourcePosition, source_name, source_position

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Diagnostic:
    """One message about one place. `position` is None where nothing says which place it is."""

    severity: Severity
    message: str
    position: SourcePosition | None = None
    op: Operation | None = None


def diagnostics_of(error: Exception) -> list[Diagnostic]:
    """What to tell the user about `error`: the error itself, then its notes."""
    if isinstance(error, ParseError):
        place = error.span.get_location()
        return [Diagnostic("error", error.msg, SourcePosition(place.file, place.line, place.col))]
    if not isinstance(error, CompileError):
        return [Diagnostic("error", str(error))]
    first = diagnostic_about("error", error.message, error.op)
    return [first, *(diagnostic_about("note", message, op) for message, op in error.notes)]


def format_diagnostics(diagnostics: list[Diagnostic], sources: Mapping[str, str], show_operations: bool = True) -> str:
    """The diagnostics as text; `sources` gives the text of the files whose lines may be shown, by name.

    Behind an error stands the operation that it is about, where that is asked for.
    """
    lines = [line for diagnostic in diagnostics for line in _lines(diagnostic, sources, show_operations)]
    return "\n".join(lines) + "\n"


def diagnostic_about(severity: Severity, message: str, op: Operation | None) -> Diagnostic:
    """A message about an operation, at the place that it came from."""
    if op is None:
        return Diagnostic(severity, message)
    name = source_name(op.location)
    return Diagnostic(severity, message if name is None else f'{message} (from "{name}")', place_of(op), op)


def place_of(op: Operation) -> SourcePosition | None:
    """Where `op` came from; where it does not say, where the nearest operation around it came from."""
    position = source_position(op.location)
    parent = op.parent_op()
    return place_of(parent) if position is None and parent is not None else position


def _lines(diagnostic: Diagnostic, sources: Mapping[str, str], show_operations: bool) -> Iterator[str]:
    position = diagnostic.position
    place = "" if position is None else f"{position}: "
    yield f"{place}{diagnostic.severity}: {diagnostic.message}"
    if position is not None and position.file in sources:
        yield from _source_line(sources[position.file], position)
    if show_operations and diagnostic.severity == "error" and diagnostic.op is not None:
        shown = operation_text(diagnostic.op)
        yield from () if shown is None else (f"{place}note: see current operation: {shown}",)


def _source_line(text: str, position: SourcePosition) -> Iterator[str]:
    lines = text.split("\n")
    if not 1 <= position.line <= len(lines):
        return
    line = lines[position.line - 1].rstrip("\r")
    indent = "".join("\t" if character == "\t" else " " for character in line[: position.column - 1])
    yield line
    yield f"{indent}^"


def operation_text(op: Operation) -> str | None:
    """`op` in generic form on one line, what it holds left out; None where it is too broken to be printed."""
    stream = StringIO()
    shown = op.clone_without_regions()
    try:
        Printer(stream, print_generic_format=True).print_op(shown)
    except Exception:  # the operation is what the error is about: the error matters more than this note
        return None
    finally:
        shown.drop_all_references()
    return " ".join(stream.getvalue().split()).replace("({ })", "({...})")
