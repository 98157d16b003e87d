"""What comes of a trial: how long the candidate takes, or of which kind its failure is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Failure(StrEnum):
    """Why a candidate has no time."""

    INSTANTIATION = "instantiation"
    """A template refuses the configuration."""
    ILLEGAL = "illegal"
    """A pass refuses the schedule."""
    BUILD = "build"
    """The compiler fails, or its process dies."""
    BUILD_TIMEOUT = "build timeout"
    RUN = "run"
    """The process that runs the code dies, or the code cannot be loaded."""
    RUN_TIMEOUT = "run timeout"
    WRONG_ANSWER = "wrong answer"
    NO_TIME = "no time"
    """The clock saw no time pass."""
    CONNECTION = "connection"
    """A device or a worker does not answer."""


@dataclass(frozen=True)
class Outcome:
    """seconds: the least time of a run; None for a failure, of which `message` tells more."""

    seconds: float | None
    failure: Failure | None = None
    message: str = ""
    build_seconds: float = 0.0


@dataclass(frozen=True)
class Code:
    """A compiled kernel, and all that is needed to call it, for fixed sizes.

    scratch: the bytes of each buffer that the caller lends.
    """

    target: str
    entry: str
    object_code: bytes
    scratch: tuple[int, ...]
