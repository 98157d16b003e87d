"""The root of the errors a user can mend. They live in the lowest package so that every package can raise them."""

from __future__ import annotations


class TileworkError(Exception):
    """Something the user can mend. `code` is the exit status of the command line: 1, or 2 for wrong usage."""

    code = 1


class UsageError(TileworkError):
    """The command or call itself is wrong: an unknown flag, an unknown input name."""

    code = 2
