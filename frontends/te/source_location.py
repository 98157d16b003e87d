"""Where in the user's program a tensor or a schedule primitive was written."""

from __future__ import annotations

import inspect

from xdsl.dialects.builtin import FileLineColLoc, UnknownLoc

from tilework.algebra.errors import UsageError
from tilework.dialects.support.locations import SourcePosition, file_location, source_position

_PACKAGE = "tilework."


def user_location() -> FileLineColLoc | UnknownLoc:
    """The line that called into Tilework."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return UnknownLoc()
    return file_location(SourcePosition(frame.f_code.co_filename, frame.f_lineno, 1))


def at_user_line(error: UsageError) -> UsageError:
    """The error, with the line that called into Tilework as a note."""
    place = source_position(user_location())
    if place is not None:
        error.add_note(f'File "{place.file}", line {place.line}')
    return error
