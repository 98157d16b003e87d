"""How a program was compiled, for people to read."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter


@dataclass(frozen=True)
class CompileReport:
    """How a model was compiled: seconds by phase, distinct kernels, and how many of them the cache held.

    tuned, untuned: where it was compiled with records of a search, the kernels for which that found a faster schedule,
    and the others.
    """

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    kernels: list[str] = field(default_factory=list[str])
    cached: list[str] = field(default_factory=list[str])
    tuned: list[str] = field(default_factory=list[str])
    untuned: list[str] = field(default_factory=list[str])

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Add the time of a block to a phase."""
        start = perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start
