"""What the simulator finds wrong with a stream, and the error that tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from tilework.algebra.errors import TileworkError

MOST_TOLD = 8
"""The message of an error tells so many findings: a token that is missing once is missed by all that follows."""


class Fault(Enum):
    """What can be wrong with a stream."""

    DEADLOCK = "deadlock"
    LEFT_OVER = "token left over"
    UNFINISHED = "not waited for"
    NOT_LOADED = "read of what was not loaded"
    EARLY_READ = "read that does not wait for a write"
    EARLY_WRITE = "write over data in use"
    OUT_OF_RANGE = "address out of range"


@dataclass(frozen=True)
class Finding:
    """One fault, in a sentence. instructions: the numbers of those that take part."""

    fault: Fault
    message: str
    instructions: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.fault.value}: {self.message}"


class StreamError(TileworkError):
    """A stream that is not clean: what it computes, and how long it takes, is left to chance or is nothing."""

    def __init__(self, findings: Sequence[Finding]):
        self.findings = tuple(findings)
        told = [str(finding) for finding in self.findings[:MOST_TOLD]]
        if len(self.findings) > MOST_TOLD:
            told.append(f"... and {len(self.findings) - MOST_TOLD} more")
        super().__init__("the stream is not clean:\n" + "\n".join(f"  {line}" for line in told))
