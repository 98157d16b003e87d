"""What else the machine does: how many cores are busy while this process waits."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

STAT = Path("/proc/stat")
SECONDS = 0.5
"""How long the machine is watched."""

BUSY = 0.25
"""With so many cores busy, times are no longer those of a quiet machine."""


def busy_cores(stat: Path = STAT, seconds: float = SECONDS) -> float | None:
    """How many cores other processes keep busy while this one sleeps; None where the system does not say."""
    try:
        before = _ticks(stat)
        time.sleep(seconds)
        busy, whole = (after - first for after, first in zip(_ticks(stat), before, strict=True))
    except (OSError, ValueError, IndexError):
        return None
    return round(busy / whole * (os.cpu_count() or 1), 2) if whole else None


def warn_if_busy(busy: float | None) -> None:
    """Say on stderr that times will not be those of a quiet machine."""
    if busy is not None and busy >= BUSY:
        print(
            f"tilework: warning: {busy:.1f} of {os.cpu_count()} cores are busy with something else: times will be "
            "longer, and differ from run to run",
            file=sys.stderr,
        )


def load_of_machine(before: float | None) -> dict[str, object]:
    """What is kept beside measurements: busy cores before and after them, and the system's load averages."""
    averages = [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else None
    return {"busy_cores_before": before, "busy_cores_after": busy_cores(), "load_averages": averages}


def _ticks(stat: Path) -> tuple[int, int]:
    """The ticks of all cores since the system started: those with work, and all of them."""
    _, *words = stat.read_text(encoding="ascii").splitlines()[0].split()
    ticks = [int(word) for word in words[:8]]  # user, nice, system, idle, iowait, irq, softirq, steal
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
