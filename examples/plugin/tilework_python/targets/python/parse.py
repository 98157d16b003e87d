"""The text form of a target that is Python: one word."""

from dataclasses import dataclass

from tilework.algebra.errors import UsageError
from tilework.targets import Target
from tilework.targets.base import Measured

KINDS = ("python",)


@dataclass(frozen=True)
class PythonTarget(Target):
    """It computes one number after the other; nothing is known of caches."""

    family = "python"
    vectors_per_cycle = memory_speed = 1
    core_cache_bytes = 1 << 20
    measured = Measured(streamed_rows=1, near_row=1, moved_channels=1, winograd_products=0.0, prefetch_runs=1)

    def __str__(self) -> str:
        return self.kind

    def lanes(self, element_bits: int) -> int:
        return 1


def parse(kind: str, words: list[str], text: str) -> PythonTarget:
    if words:
        raise UsageError(f"target '{text}': '{kind}' takes no options")
    return PythonTarget(kind, cores=1)


def check_names(target: PythonTarget) -> None:
    """It names nothing that could be unknown."""
