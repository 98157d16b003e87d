"""Schedules, by TVM's name of the module."""

from tilework.te import (
    AutoInlineBroadcast,
    AutoInlineElemWise,
    AutoInlineInjective,
    Buffer,
    Fuse,
    Group,
    InferBound,
    IterVar,
    IterVarAttr,
    Schedule,
    ScheduleOps,
    Singleton,
    Split,
    Stage,
    create_schedule,
)

__all__ = [
    "AutoInlineBroadcast",
    "AutoInlineElemWise",
    "AutoInlineInjective",
    "Buffer",
    "Fuse",
    "Group",
    "InferBound",
    "IterVar",
    "IterVarAttr",
    "Schedule",
    "ScheduleOps",
    "Singleton",
    "Split",
    "Stage",
    "create_schedule",
]
