"""The text form of a target that is Python: one word."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.algebra.errors import UsageError
from tilework.targets.base import Target

KINDS = ("python",)


@dataclass(frozen=True)
class PythonTarget(Target):
    """Python as a machine: it computes one number after the other, and no cache is known."""

    family = "python"
    vectors_per_cycle = 1
    fuses = False
    dot_bits = tile_multiplications = 0
    core_cache_bytes = near_bytes = 1 << 20
    memory_speed = 1.0
    streamed_rows = 1

    def __str__(self) -> str:
        return self.kind

    def lanes(self, element_bits: int) -> int:
        return 1

    def keeps_weights(self, count: int) -> bool:
        return False


def parse(kind: str, words: list[str], text: str) -> PythonTarget:
    if words:
        raise UsageError(f"target '{text}': '{kind}' takes no options")
    return PythonTarget(kind, cores=1)


def check_names(target: PythonTarget) -> None:
    """There is nothing that may be unknown."""
