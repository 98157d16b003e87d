"""Files that the user names: known to be writable before the work that fills them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from tempfile import TemporaryFile

from tilework.algebra.errors import TileworkError


def check_writable(file: Path) -> None:
    """Raise a TileworkError where `file` cannot be written, or replaced."""
    problem = os.strerror(errno.EISDIR) if file.is_dir() else obstacle_to_writing(file.parent)
    if problem is not None:
        raise TileworkError(f"cannot write {file}: {problem}")


def obstacle_to_writing(folder: Path) -> str | None:
    """Why no file can be made in a folder; None where one can. It is tried: permissions do not tell all."""
    try:
        with TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror
