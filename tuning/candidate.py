"""A candidate: one schedule that the search may measure."""

from __future__ import annotations

from typing import NamedTuple


class Candidate(NamedTuple):
    """A sketch of a space, by its number, and the values of its knobs in the order of their names there."""

    sketch: int
    values: tuple[int, ...]
