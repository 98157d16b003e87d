"""The root of the errors a user can mend, in the lowest package so that every package can raise them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class TileworkError(Exception):
    """Something the user can mend. `code` is the exit status of the command line: 1, or 2 for wrong usage."""

    code = 1


class UsageError(TileworkError):
    """The command or call itself is wrong: an unknown flag, an unknown input name."""

    code = 2


class DataRefused(TileworkError):
    """A program cannot be run on what it was given, as the program itself says, or as it would not end."""


def did_you_mean(written: str, known: Iterable[str]) -> str:
    """'; did you mean "x"?' for the known word that what is written begins or resembles; nothing where none does."""
    words = list(known)
    near = [word for word in words if word.startswith(written)] or get_close_matches(written, words, n=1)
    return f"; did you mean '{near[0]}'?" if near else ""
