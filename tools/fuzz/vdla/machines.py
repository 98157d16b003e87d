"""Random machines: small memories, short queues, DRAM that is slow and fast."""

from __future__ import annotations

from tilework.targets import parse_target
from tilework.targets.vdla.target import VdlaTarget
from tilework.tools.fuzz.draw import Draw

OPTIONS = {
    "queue": (1024, 1, 1, 2, 3, 8),
    "commands": (512, 1, 2, 7),
    "dram-latency": (64, 0, 1, 700),
    "dram-bytes": (8, 1, 64, 4096),
    "alu-cycles": (2, 1, 9),
    "inp-kib": (32, 1, 1, 4),
    "wgt-kib": (32, 1, 4, 8),
    "acc-kib": (128, 1, 2, 8),
    "uop-kib": (32, 1, 4),
}
"""The numbers that each option has, the usual one first."""

BLOCKS = 3
"""So many of a hundred machines have tiles of another size, which no intrinsic is declared for."""


def random_machine(draw: Draw) -> VdlaTarget:
    """A machine with other numbers for some of the options."""
    given = [f"-{option}={draw.choice(numbers)}" for option, numbers in OPTIONS.items() if draw.chance(40)]
    if draw.chance(BLOCKS):
        given += [f"-{option}={draw.choice((4, 8, 16, 32))}" for option in ("block-in", "block-out")]
    return machine(" ".join(given))


def machine(options: str = "") -> VdlaTarget:
    """The machine of the paper, with other numbers where options say so."""
    return VdlaTarget.of(parse_target(f"vdla {options}"))
