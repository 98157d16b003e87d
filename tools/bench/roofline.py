"""How near to what the machine can do: Williams, Waterman and Patterson's roofline model (CACM 2009)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CLOCK_STEP = 1e-3
"""The least time of a call, in microseconds: not every clock sees a short one."""


@dataclass(frozen=True)
class Roofline:
    """A machine: floating-point operations and bytes a second, measured. Caches may well give more bytes a second."""

    flops_per_second: float
    bytes_per_second: float

    @property
    def ridge(self) -> float:
        """The intensity, in operations a byte, from which on arithmetic is the limit."""
        return self.flops_per_second / self.bytes_per_second

    def attainable(self, intensity: float) -> float:
        """Operations a second at that intensity, at most."""
        return min(self.flops_per_second, intensity * self.bytes_per_second)


@dataclass(frozen=True)
class Measured:
    """Something that ran: a kernel's calls together, or a whole model. seconds are above zero."""

    name: str
    calls: int
    flops: int
    bytes: int
    seconds: float
    roofline: Roofline

    @property
    def rate(self) -> float:
        """Operations a second."""
        return self.flops / self.seconds

    @property
    def of_peak(self) -> float:
        """A share of the machine's operations a second."""
        return self.rate / self.roofline.flops_per_second

    @property
    def of_bandwidth(self) -> float:
        """A share of the machine's bytes a second; more than one where a cache gave them."""
        return self.bytes / self.seconds / self.roofline.bytes_per_second

    @property
    def intensity(self) -> float:
        """Operations a byte."""
        return self.flops / max(self.bytes, 1)

    @property
    def of_roofline(self) -> float:
        """A share of what the machine's arithmetic and memory allow, each byte being moved once."""
        return self.rate / self.roofline.attainable(self.intensity)

    @property
    def bound(self) -> str:
        """What the machine would run out of first: "compute" or "memory"."""
        return "compute" if self.intensity >= self.roofline.ridge else "memory"


def whole_model(result: Mapping[str, Any], run: Mapping[str, Any], engine: str) -> Measured:
    """A model in one engine: the operations that define it, whatever the engine does, and the bytes of our kernels."""
    calls, flops = result["program"]["calls"], result["program"]["flops"]
    seconds = run["engines"][engine]["milliseconds"]["median"] / 1e3
    moved = sum(call["bytes"] for call in calls)
    return Measured(engine, len(calls), flops, moved, seconds, Roofline(**run["limits"]))


def measured_kernels(result: Mapping[str, Any], run: Mapping[str, Any]) -> list[Measured]:
    """Every kernel with all its calls, the one that takes longest first."""
    roofline = Roofline(**run["limits"])
    sums: dict[str, Measured] = {}
    for call, times in zip(result["program"]["calls"], run["calls"], strict=True):
        name, seconds = call["kernel"], max(times["time"], CLOCK_STEP) / 1e6
        known = sums.get(name, Measured(name, 0, 0, 0, 0.0, roofline))
        sums[name] = Measured(
            name,
            known.calls + 1,
            known.flops + call["flops"],
            known.bytes + call["bytes"],
            known.seconds + seconds,
            roofline,
        )
    return sorted(sums.values(), key=lambda kernel: -kernel.seconds)
