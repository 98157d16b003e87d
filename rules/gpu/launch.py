"""Launches: what a device runs at once, and the rules for how it does.

A kernel is put together from launches. A rule for launches of some form is one class in a file of
`rules/gpu/launches/`; it is found by folder, like a rule for kernels. Of those that match a launch the one with the
highest `BENEFIT` schedules it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp
from tilework.rules.common.axes import Axis
from tilework.rules.gpu.product_form import Product
from tilework.targets.gpu.target import GpuTarget


@dataclass(frozen=True, eq=False)
class Launch:
    """A stage, and what is computed inside of it; stages are as they look once others are inlined.

    root: the stage. inside: others, in program order, of which it needs one element each at every point of its axes
    `rows`; the rest of its axes are `columns`. product: the reduction that it is, or takes the results of, if that
    multiplies two tensors.
    """

    root: ComputeOp
    inside: Sequence[ComputeOp]
    rows: Sequence[str]
    product: Product | None

    @property
    def row_axes(self) -> list[Axis]:
        """The axes `rows`, with their extents."""
        return [axis for axis in self.root.spatial if axis[0] in self.rows]

    @property
    def column_axes(self) -> list[Axis]:
        """The axes of the root along which it goes from element to element of a row, with their extents."""
        return [axis for axis in self.root.spatial if axis[0] not in self.rows]

    @property
    def reductions(self) -> list[ComputeOp]:
        """The stages that sum something, the root last if it is one."""
        return [stage for stage in (*self.inside, self.root) if stage.reduction]


class LaunchSchedule(ABC):
    """How a launch runs. It is made of names and numbers, none of them a value of the IR."""

    @abstractmethod
    def write(self, s: ScheduleBuilder) -> None:
        """Write the part of the kernel's schedule that is about the launch."""


class LaunchRule(ABC):
    """Base of the rules for launches. No rule names a model or a layer size."""

    BENEFIT: ClassVar[int] = 1

    @abstractmethod
    def match(self, launch: Launch, target: GpuTarget) -> LaunchSchedule | None:
        """How a launch of the form runs that this rule is for; None for another. The launch is not changed."""


class Inside(NamedTuple):
    """A stage that is computed inside of a root, and the axes that it sums along."""

    name: str
    summed: tuple[str, ...]


def names_inside(launch: Launch) -> tuple[Inside, ...]:
    """The stages that are computed inside of a root; one that sums by itself does so in a cache of its name."""
    found = (*launch.inside, launch.root) if launch.root.reduction else launch.inside
    return tuple(Inside(stage.stage.data, tuple(name for name, _ in stage.reduction)) for stage in found)


def handle_inside(s: ScheduleBuilder, stage: Inside, root: str, handle: StageHandle) -> StageHandle:
    """The handle of a stage that is computed inside of a root with that handle."""
    return s.cache_write(handle, "local") if stage.name == root else s.stage(stage.name)
