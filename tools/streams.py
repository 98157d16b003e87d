"""Writing to stdout, which may be a full disk."""

from __future__ import annotations

import os
import sys

from tilework.algebra.errors import TileworkError


def write_stdout(output: str | bytes = "") -> None:
    """Write what is buffered, then `output`.

    Raises TileworkError where it cannot be written, BrokenPipeError where nobody reads it.
    """
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(output) if isinstance(output, bytes) else sys.stdout.write(output)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_stdout()
        raise TileworkError(f"cannot write to stdout: {error.strerror}") from None


def stdout_failure(error: Exception) -> TileworkError | None:
    """What to say of an error thrown while something was printed; None where that was not the reason."""
    if not isinstance(error, OSError):
        return None
    try:
        write_stdout()  # what could not be written is still there
    except TileworkError as failure:
        return failure
    return None


def discard_stdout() -> None:
    """Let what is still buffered go nowhere: it would be written, and fail, at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
