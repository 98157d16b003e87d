"""Schedules as text."""

from __future__ import annotations

from io import StringIO

from xdsl.printer import Printer

from tilework.dialects.schedule import SequenceOp


def schedule_text(sequence: SequenceOp) -> str:
    """The schedule as `.mlir`, as it is kept in records and shown to people."""
    stream = StringIO()
    Printer(stream).print_op(sequence)
    return stream.getvalue()
