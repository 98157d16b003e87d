"""Ending a pipeline early: after a pass, or at a level."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tilework.dialects.support.diagnostics import UsageError
from tilework.driver.pass_manager import Pipeline

LEVELS = ("graph", "te", "schedule", "loop")


def stop_after(pipeline: Pipeline, name: str) -> Pipeline:
    """The beginning of `pipeline`: up to the last pass called `name`, or the last that leaves the IR at level `name`.

    A pass `a-to-b` brings the IR to level b, a pass `a-...` works at level a, any other pass keeps the level.
    """
    passes = list(pipeline.passes())
    last = _last_at_level(passes, name) if name in LEVELS else _last_named(passes, name)
    if last is None:
        listed = ", ".join(pass_.name for pass_ in passes) or "none"
        raise UsageError(
            f"cannot stop after '{name}': the pipeline has no such pass and reaches no such level; its passes: {listed}"
        )
    return _first_passes(pipeline, last + 1)[0]


def level_after(pass_name: str) -> str | None:
    """The level the IR is at after this pass, or None where its name does not say."""
    reached = pass_name.rpartition("-to-")[2] if "-to-" in pass_name else pass_name.partition("-")[0]
    return reached if reached in LEVELS else None


def _last_named(passes: list[ModulePass], name: str) -> int | None:
    return max((index for index, pass_ in enumerate(passes) if pass_.name == name), default=None)


def _last_at_level(passes: list[ModulePass], level: str) -> int | None:
    last: int | None = None
    current: str | None = None
    for index, pass_ in enumerate(passes):
        current = level_after(pass_.name) or current
        if current == level:
            last = index
    return last


def _first_passes(pipeline: Pipeline, count: int) -> tuple[Pipeline, int]:
    """The first `count` passes of `pipeline`, and how many of the `count` it does not have."""
    steps: list[ModulePass | Pipeline] = []
    for step in pipeline.steps:
        if count == 0:
            break
        if isinstance(step, Pipeline):
            step, count = _first_passes(step, count)
        else:
            count -= 1
        steps.append(step)
    return Pipeline(pipeline.anchor, tuple(steps)), count
