"""Writes the schedule of a sketch: a `ScheduleBuilder` that knows places of stages, and knobs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.dialects.schedule import KnobAttr, Number
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.targets import Target


class SketchWriter:
    """What decisions write with.

    kernel: as it is once stages are inlined; the schedule is for `original`. stages: the handles of stages, also of
    those that rewrites make, by names that decisions choose. places: for a stage its loops, by the names of levels.
    """

    def __init__(self, original: KernelOp, kernel: KernelOp, target: Target):
        self.kernel = kernel
        self.target = target
        self.s = ScheduleBuilder(original)
        self.stages: dict[str, StageHandle] = {}
        self.places: dict[str, dict[str, SSAValue]] = {}
        self.attached: dict[str, tuple[str, str]] = {}

    def stage(self, name: str) -> StageHandle:
        """The handle of a stage of the kernel, which is made when it is first asked for."""
        if name not in self.stages:
            self.stages[name] = self.s.stage(name)
        return self.stages[name]

    def compute(self, name: str) -> ComputeOp:
        """A stage of the kernel."""
        found = self.kernel.compute(name)
        assert found is not None
        return found

    def place(self, name: str) -> SSAValue | None:
        """The loop in which a stage is computed; None at the root."""
        if name not in self.attached:
            return None
        consumer, level = self.attached[name]
        return self.places[consumer][level]

    def knob(self, name: str, choices: Sequence[int], chosen: int | None = None) -> Number:
        """A number that the search may choose; an integer where there is one choice only."""
        if len(choices) == 1:
            return choices[0]
        return KnobAttr.of(name, choices, choices[0] if chosen is None else chosen)
