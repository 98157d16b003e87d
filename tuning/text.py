"""Schedules as text."""

from __future__ import annotations

from io import StringIO

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.unique_printer import UniquePrinter


def schedule_text(sequence: SequenceOp) -> str:
    """The schedule as `.mlir`, as it is kept in records and shown to people."""
    stream = StringIO()
    UniquePrinter(stream).print_op(sequence)
    return stream.getvalue()
