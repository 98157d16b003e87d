"""What is wrong with a schedule, with the loop nest that it is about."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from tilework.dialects.support.diagnostics import CompileError, TileworkError, UsageError
from tilework.dialects.support.locations import source_position


class ScheduleError(TileworkError):
    """A schedule that cannot be: the message names stage, axis and reason, the notes show place and loop nest."""


@contextmanager
def errors_for_python() -> Generator[None]:
    """Refusals of passes as ScheduleErrors, or UsageErrors about te, with notes that Python prints.

    The notes: the line of the user's program, the loop nest, the pass.
    """
    try:
        yield
    except CompileError as error:
        about_te = error.op is not None and error.op.name.startswith("te.")
        explained = (UsageError if about_te else ScheduleError)(error.message)
        place = None if error.op is None else source_position(error.op.location)
        if place is not None:
            explained.add_note(f'File "{place.file}", line {place.line}')
        for note, _ in error.notes:
            explained.add_note(note)
        raise explained from None
