"""Running a program with given inputs, on whatever machine it is: what is asked, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tilework.runtime.arrays import Array


@dataclass(frozen=True)
class Request:
    """inputs: by name. number, repeat: how often a call is timed, and how many times are asked for; 0 for none.

    seconds: so long all of it may take.
    """

    inputs: Mapping[str, Array]
    seconds: float
    number: int = 0
    repeat: int = 0


@dataclass(frozen=True)
class Answer:
    """outputs: by name. times: the seconds of a call, each the mean of several."""

    outputs: Mapping[str, Array]
    times: tuple[float, ...] = ()


class LoadedProgram(Protocol):
    """A program on the machine that runs it."""

    def run(self, request: Request) -> Answer:
        """Run it. Raises TileworkError for what the program refuses, and where it dies or takes too long."""
        ...

    def close(self) -> None:
        """Free what it takes."""
        ...
