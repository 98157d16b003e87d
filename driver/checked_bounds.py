"""Letting loops check their subscripts while they run: `opt-tool --check-bounds` and `tw.build(checked=True)`."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tilework.driver.pass_manager import Pipeline
from tilework.lowering.schedule_to_loop import ScheduleToLoop
from tilework.transforms.loop.check_bounds import CheckBounds
from tilework.transforms.loop.rewrite_unsafe_select import RewriteUnsafeSelect

CHECKED: tuple[ModulePass, ...] = (
    RewriteUnsafeSelect(),  # a load that a choice throws away is none to check
    CheckBounds(),  # while subscripts are as the program has them
)
"""What lets loops check their subscripts while they run."""


def with_checked_bounds(pipeline: Pipeline) -> Pipeline:
    """The pipeline with checks of subscripts: right behind where loops are made, at the beginning where none are."""
    found = _checked_behind_loops(pipeline)
    return found if found != pipeline else Pipeline(pipeline.anchor, (*CHECKED, *pipeline.steps))


def _checked_behind_loops(pipeline: Pipeline) -> Pipeline:
    steps: list[ModulePass | Pipeline] = []
    for step in pipeline.steps:
        steps.append(_checked_behind_loops(step) if isinstance(step, Pipeline) else step)
        steps += CHECKED if isinstance(step, ScheduleToLoop) else ()
    return Pipeline(pipeline.anchor, tuple(steps))
