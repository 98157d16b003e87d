"""What a schedule says of a kernel: stages, their axes, how the axes arose, where each stage is computed.

`read_schedule` replays a `schedule.sequence` over the axis-relation graph. Refusals are `CompileError`s at the schedule
operation; they name stage, axis and reason and show the loop nest as it stands.
"""

from tilework.scheduling.state.replay import read_schedule
from tilework.scheduling.state.state import (
    Axis,
    Fuse,
    Prefetch,
    Relation,
    ScheduleState,
    Singleton,
    Split,
    Stage,
    leaves_of,
    refuse,
)

__all__ = [
    "Axis",
    "Fuse",
    "Prefetch",
    "Relation",
    "ScheduleState",
    "Singleton",
    "Split",
    "Stage",
    "leaves_of",
    "read_schedule",
    "refuse",
]
