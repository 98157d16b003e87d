"""The text form of the toy as a target: one word."""

from dataclasses import dataclass

from tilework.algebra.errors import UsageError
from tilework.targets import Target

KINDS = ("npu",)


@dataclass(frozen=True)
class NpuTarget(Target):
    """What passes ask of every target; most of it is about processors."""

    family = "npu"
    vectors_per_cycle = memory_speed = 1
    core_cache_bytes = 1 << 16

    def __str__(self) -> str:
        return self.kind

    def lanes(self, element_bits: int) -> int:
        return 8


def parse(kind: str, words: list[str], text: str) -> NpuTarget:
    if words:
        raise UsageError(f"target '{text}': '{kind}' takes no options")
    return NpuTarget(kind, cores=1)


def check_names(target: NpuTarget) -> None:
    """It names nothing that could be unknown."""
